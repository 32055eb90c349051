"""One agent run in the one shape that the rest of Combee works with.

Importers build traces, the store keeps them, learners read them. This module knows no file format, no database and
no clock.
"""

import hashlib
from functools import cached_property
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

Role = Literal["system", "user", "assistant", "tool"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Frozen):
    """A tool that the agent asked for; `arguments` is JSON text, or the raw text where the agent wrote no JSON."""

    name: str
    arguments: str = ""
    id: str = ""


class ToolResult(_Frozen):
    """What a tool answered; `call_id` is the `ToolCall.id` it belongs to, empty when the file does not say."""

    text: str
    name: str = ""
    call_id: str = ""
    error: bool = False


class Message(_Frozen):
    """One step of the conversation. `reasoning` is the model's own thinking where the file holds it."""

    role: Role
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()


class Outcome(_Frozen):
    """How the run ended: `success` yes, no or unknown (None); `score` as the file gives it, in the file's own unit.

    `scores` holds every named score where a file has several; `score` is then the main one.
    """

    success: bool | None = None
    score: float | None = None
    scores: dict[str, float] = Field(default_factory=dict)


class Source(_Frozen):
    """Where a trace was read: `line` counts from 1 in text files, `index` from 0 in a list, `member` in an archive."""

    file: str
    format: str
    line: int | None = None
    index: int | None = None
    member: str = ""

    def __str__(self) -> str:
        name = f"{self.file}!{self.member}" if self.member else self.file
        if self.line is not None:
            return f"{name}, line {self.line}"
        return f"{name}, record {self.index + 1}" if self.index is not None else name


class Trace(_Frozen):
    """One attempt of an agent at one task.

    `task` is what the agent was asked, `reference` the expected answer where one is known, `feedback` what a judge,
    a test or a person said about the run. `metadata` keeps what no other field holds.
    """

    task: str
    messages: tuple[Message, ...]
    source: Source
    outcome: Outcome = Outcome()
    feedback: str = ""
    reference: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) of what happened, without ids, times, source and metadata: one run exported twice is one."""
        what_happened = [
            self.task,
            [
                (
                    message.role,
                    message.text,
                    message.reasoning,
                    [(call.name, call.arguments) for call in message.tool_calls],
                    [(result.text, result.error) for result in message.tool_results],
                )
                for message in self.messages
            ],
            (self.outcome.success, self.outcome.score),
            self.feedback,
            self.reference,
        ]
        return hashlib.sha256(orjson.dumps(what_happened)).hexdigest()

    @property
    def id(self) -> str:
        """Stable id, the same on every machine: `t-` and the first 16 hex digits of the content hash."""
        return f"t-{self.content_hash[:16]}"

    @property
    def steps(self) -> int:
        """Number of messages that the agent wrote."""
        return sum(message.role == "assistant" for message in self.messages)
