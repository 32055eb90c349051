"""Where the reader stands between first traces and a shipped prompt, and the one thing to do next.

Pure: it decides by what the workspace tells, and draws nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from combee_core.workspace import Workspace

Step = Literal["samples", "learn", "watch", "resume", "review", "ship"]

LIVE = ("queued", "running")
STOPPED = ("failed", "cancelled", "interrupted")


def only_compared(runs: Iterable[Mapping[str, Any]]) -> set[str]:
    """Prompts that are there to compare strategies, and wait for no review."""
    return {run["prompt"] for run in runs if run["settings"].get("compared_for")}


@dataclass(frozen=True)
class Standing:
    """What there is: counts of traces, imports and runs newest first, and the prompts."""

    traces: Mapping[str, Any]
    imports: Sequence[Mapping[str, Any]]
    runs: Sequence[Mapping[str, Any]]
    prompts: Sequence[Mapping[str, Any]]

    @property
    def last_run(self) -> Mapping[str, Any] | None:
        """The newest run."""
        return self.runs[0] if self.runs else None

    @property
    def live(self) -> Mapping[str, Any] | None:
        """The newest run that is being worked on."""
        return next((run for run in self.runs if run["state"] in LIVE), None)

    @property
    def waiting(self) -> list[str]:
        """Versions that wait for a review: the latest of each prompt, unless it is approved or but there to compare."""
        compared = only_compared(self.runs)
        return [
            f"{row['prompt']}@{row['latest']}"
            for row in self.prompts
            if row["latest"] != row["approved"] and row["prompt"] not in compared
        ]

    @property
    def approved(self) -> list[str]:
        """The latest approved version of each prompt that has one."""
        return [f"{row['prompt']}@{row['approved']}" for row in self.prompts if row["approved"]]

    @property
    def unlearnt(self) -> bool:
        """Whether traces have come in since the newest run began."""
        last_new = next((row["imported_at"] for row in self.imports if row["new_traces"]), None)
        return last_new is not None and (self.last_run is None or last_new > self.last_run["created_at"])

    @property
    def next(self) -> Step:
        """The one thing to do next."""
        if not self.traces["total"]:
            return "samples"
        if self.live:
            return "watch"
        if self.last_run and self.last_run["state"] in STOPPED:
            return "resume"
        if self.waiting:
            return "review"
        return "learn" if self.unlearnt or not self.approved else "ship"


def standing(workspace: Workspace) -> Standing:
    """Where the reader stands now."""
    return Standing(workspace.trace_counts(), workspace.imports(), workspace.runs(), workspace.prompts())
