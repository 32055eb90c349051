"""Files that lie beside traces and are none: recognised, so that they are passed over with a word and not as errors."""

from collections.abc import Callable, Mapping
from typing import Any

Row = Mapping[str, Any]
_MESSAGES = ("messages", "conversations", "trajectory", "history", "steps")


def holds_no_traces(value: object) -> str | None:
    """What a record is, when it is known to belong to a run without being a trace; None otherwise."""
    if isinstance(value, list):
        return next((what for item in value[:1] if (what := holds_no_traces(item))), None)
    if not isinstance(value, dict) or any(value.get(key) for key in _MESSAGES):
        return None
    for what, fits in _KINDS:
        if fits(value):
            return f"It is {what}: recognised, holds no traces."
    return None


def _has(*keys: str) -> Callable[[Row], bool]:
    return lambda row: all(key in row for key in keys)


def _is_keyed(*keys: str) -> Callable[[Row], bool]:
    """An object whose values, keyed by id, all have these fields."""
    return lambda row: (
        bool(row) and all(isinstance(item, dict) and all(key in item for key in keys) for item in row.values())
    )


def _is_skillbook(row: Row) -> bool:
    return isinstance(row.get("skills"), dict) and ("next_id" in row or "sections" in row)


def _is_candidate(row: Row) -> bool:
    return bool(row) and set(row) <= {"system_prompt", "instruction"} and all(isinstance(v, str) for v in row.values())


def _is_dspy_program(row: Row) -> bool:
    inner = [item for item in row.values() if isinstance(item, dict)]
    return "metadata" in row and any({"demos", "signature"} <= item.keys() for item in inner)


def _is_manifest(row: Row) -> bool:
    return {"name", "version"} <= row.keys() and ("dependencies" in row or "scripts" in row)


_KINDS: tuple[tuple[str, Callable[[Row], bool]], ...] = (
    ("a Harbor trial result without its trajectory (import the whole job folder)",
     _has("task_name", "trial_name", "config")),
    ("a Harbor job result", _has("n_total_trials", "stats")),
    ("the head of a tau2 run whose simulations lie in other files", _has("info", "tasks", "timestamp")),
    ("an AppWorld API call log", _has("method", "url", "data")),
    ("an AppWorld evaluation (import the whole experiment folder)", _has("aggregate", "individual")),
    ("a set of preference pairs", _has("chosen", "rejected")),
    ("a predictions file", _has("instance_id", "model_patch")),
    ("a predictions file", _is_keyed("instance_id", "model_patch")),
    ("a SWE-bench report", lambda row: "ids_resolved" in row or "resolved_ids" in row),
    ("a SWE-bench report", _is_keyed("resolved", "tests_status")),
    ("an OpenHands conversation state", _has("agent", "workspace", "execution_status")),
    ("a skillbook", _is_skillbook),
    ("a GEPA result", _has("candidates", "val_aggregate_scores")),
    ("a GEPA run log", _has("selected_program_candidate", "subsample_scores")),
    ("a list of GEPA candidates", _is_candidate),
    ("a DSPy program", _is_dspy_program),
    ("metadata of a verifiers run", _has("env_id", "num_examples")),
    ("metadata of a terminal-bench run", _has("run_id", "dataset_name", "agent_name")),
    ("prepared inputs of NeMo Gym", lambda row: "responses_create_params" in row and "response" not in row),
    ("reward statistics of NeMo Gym", lambda row: any(str(key).startswith("mean/") for key in row)),
    ("a package manifest", _is_manifest),
)  # fmt: skip
