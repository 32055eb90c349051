"""The offline rules engine: lessons by rules over feedback, errors and corrections; merges by likeness of wording.

No language model is in it and it makes no calls. It is what a newcomer gets before an endpoint is set, so it keeps to
what people and tools have said in the trace, word for word, and invents nothing.
"""

from collections import Counter
from collections.abc import Sequence

from combee_core.learners.likeness import cluster, medoid, nearest
from combee_core.learners.observations import observations
from combee_core.lesson import Item, Lesson, Reflection, Tag
from combee_core.llm.base import Meter
from combee_core.playbook import DEFAULT_SECTION, Bullet, Operation, Playbook
from combee_core.trace import Trace

LESSONS_A_TRACE = 3


class RulesLearner:
    """Reflects and merges without a model; deterministic, and the meter stays at zero."""

    name = "rules"

    async def reflect(self, trace: Trace, playbook: Playbook, meter: Meter) -> Reflection:
        """Lessons that the trace states: feedback, corrections by the user, errors that a changed call mended."""
        found = list(dict.fromkeys(observations(trace)))[:LESSONS_A_TRACE]
        lessons = [Lesson(text=seen.text, section=seen.section, evidence=seen.evidence) for seen in found]
        tags: dict[str, Tag] = {}
        if trace.outcome.success is False:
            # What went wrong although the prompt said it already: the bullet was there and did not help.
            bullets = list(playbook.bullets)
            matches = (nearest(lesson.text, [bullet.content for bullet in bullets]) for lesson in lessons)
            tags = {bullets[match].id: "neutral" for match in matches if match is not None}
        return Reflection(lessons=tuple(lessons), tags=tags)

    async def merge(
        self, items: Sequence[Item], playbook: Playbook, meter: Meter, final: bool
    ) -> tuple[Operation, ...]:
        """One operation for each group of items that say the same; every item is cited, most supported first."""
        edits = [item for item in items if item.kind != "ADD"]
        fresh = [item for item in items if item.kind == "ADD"]
        groups = [[fresh[index] for index in group] for group in cluster([item.text for item in fresh])]
        groups.sort(key=lambda group: -sum(item.support for item in group))
        return (*_passed_on(edits), *(_operation(group, playbook) for group in groups))


def _passed_on(edits: Sequence[Item]) -> list[Operation]:
    """Edits of existing bullets as the groups proposed them, equal ones once."""
    same: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for item in edits:
        same.setdefault((item.kind, item.bullets, item.text), []).append(item.id)
    return [
        Operation.model_validate({"kind": kind, "bullets": bullets, "content": text, "sources": ids})
        for (kind, bullets, text), ids in same.items()
    ]


def _operation(group: Sequence[Item], playbook: Playbook) -> Operation:
    texts = [item.text for item in group]
    text = texts[medoid(texts)]
    sources = tuple(item.id for item in group)
    said = _said_already(text, playbook)
    if said is not None:
        return Operation(kind="UPDATE", bullets=(said.id,), content=said.content, sources=sources)
    sections = Counter(item.section for item in group if item.section)
    section = sections.most_common(1)[0][0] if sections else DEFAULT_SECTION
    return Operation(kind="ADD", section=section, content=text, sources=sources)


def _said_already(text: str, playbook: Playbook) -> Bullet | None:
    match = nearest(text, [bullet.content for bullet in playbook.bullets])
    return None if match is None else playbook.bullets[match]
