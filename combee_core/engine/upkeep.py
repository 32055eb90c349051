"""Embeddings of the bullets that a run ends with, by which the review finds those that say the same (ACE, refine).

Each call is a node of the run as any other is, of an iteration 0 that has no merge tree. Where the endpoint gives no
embeddings, the review goes by the wording, and the run says why.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from combee_core.engine.budget import BudgetReached
from combee_core.engine.calls import Calls, Workshop
from combee_core.learners.base import Embedder
from combee_core.llm.base import CallFailed, Meter
from combee_core.playbook import Bullet
from combee_core.store.database import Row
from combee_core.store.runs import NodeRow
from combee_core.store.versions import Version

# Texts in one request: what common endpoints take.
TEXTS_A_CALL = 128

Vectors = Mapping[str, npt.NDArray[np.float32]]
"""Embeddings by bullet, each of length 1."""


async def embed_bullets(workshop: Workshop, stored: Sequence[Row], version: Version) -> str | None:
    """Have the bullets of a version embedded, but for what is `stored` already.

    Returns why it could not be done, in a sentence, or None. A budget that is reached only ends this, not the run.
    """
    calls = Calls(workshop, {row["id"]: row for row in stored if row["output"]})
    bullets = version.playbook.bullets
    for number, start in enumerate(range(0, len(bullets), TEXTS_A_CALL)):
        try:
            output = await _embed(workshop, calls, number, version, bullets[start : start + TEXTS_A_CALL])
        except BudgetReached as reached:
            return str(reached)
        if "refused" in output:
            return str(output["refused"])
    return None


async def _embed(
    workshop: Workshop, calls: Calls, number: int, version: Version, bullets: Sequence[Bullet]
) -> Mapping[str, Any]:
    async def call(meter: Meter) -> dict[str, Any]:
        learner = workshop.learner
        if not isinstance(learner, Embedder):
            raise CallFailed("bad_request", f"{learner.name} has no embeddings.")
        vectors = np.asarray(await learner.embed([bullet.content for bullet in bullets], meter), dtype=np.float64)
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return {
            "version": version.version,
            "bullets": [bullet.id for bullet in bullets],
            "vectors": base64.b64encode(units.astype(np.float16).tobytes()).decode(),
        }

    def refused(failure: CallFailed) -> tuple[str, dict[str, Any]]:
        return "failed", {"refused": str(failure)}

    blank = NodeRow(f"i0.e{number + 1}", 0, "embedding", 0, number, (), "done", {}, 0.0)
    return await calls.make(blank, call, refused)


def vectors_of(stored: Sequence[Row], version: Version) -> Vectors | None:
    """The embeddings of a version's bullets among the upkeep of its run, or None unless all of them are there."""
    found: dict[str, npt.NDArray[np.float32]] = {}
    for row in stored:
        if row["output"].get("version") == version.version:
            names = row["output"]["bullets"]
            flat = np.frombuffer(base64.b64decode(row["output"]["vectors"]), dtype=np.float16)
            found |= dict(zip(names, flat.reshape(len(names), -1).astype(np.float32), strict=True))
    return found if all(bullet.id in found for bullet in version.playbook.bullets) else None
