"""One agent run in the one shape that the rest of Combee works with.

Importers build traces, the store keeps them, learners read them. This module knows no file format, no database and
no clock.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

Role = Literal["system", "user", "assistant", "tool"]
_ROLES = frozenset(("system", "user", "assistant", "tool"))

# The parts of a trace are plain dataclasses: an import makes millions of them, and a model takes four times as long to
# build. What each holds is checked all the same, for files put anything anywhere. They are not meant to be changed.


@dataclass(slots=True)
class ToolCall:
    """A tool that the agent asked for; `arguments` is JSON text, or the raw text where the agent wrote no JSON."""

    name: str
    arguments: str = ""
    id: str = ""

    def __post_init__(self) -> None:
        """Raises TypeError for what is no text."""
        if not (type(self.name) is type(self.arguments) is type(self.id) is str):
            raise TypeError("name, arguments and id of a tool call are text")

    def plain(self) -> dict[str, Any]:
        """The call without its empty fields, as it is stored."""
        plain = {"name": self.name}
        if self.arguments:
            plain["arguments"] = self.arguments
        if self.id:
            plain["id"] = self.id
        return plain


@dataclass(slots=True)
class ToolResult:
    """What a tool answered; `call_id` is the `ToolCall.id` it belongs to, empty when the file does not say."""

    text: str
    name: str = ""
    call_id: str = ""
    error: bool = False

    def __post_init__(self) -> None:
        """Raises TypeError for what is no text."""
        if not (type(self.text) is type(self.name) is type(self.call_id) is str and type(self.error) is bool):
            raise TypeError("text, name and call id of a tool result are text")

    def plain(self) -> dict[str, Any]:
        """The result without its empty fields, as it is stored."""
        plain: dict[str, Any] = {"text": self.text}
        if self.name:
            plain["name"] = self.name
        if self.call_id:
            plain["call_id"] = self.call_id
        if self.error:
            plain["error"] = True
        return plain


@dataclass(slots=True)
class Message:
    """One step of the conversation. `reasoning` is the model's own thinking where the file holds it."""

    role: Role
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()

    def __post_init__(self) -> None:
        """Raises TypeError for a role that does not exist and for what is no text."""
        if self.role not in _ROLES or not (type(self.text) is type(self.reasoning) is str):
            raise TypeError("a message has one of four roles, and its text and reasoning are text")

    def plain(self) -> dict[str, Any]:
        """The message without its empty fields, as it is stored."""
        plain: dict[str, Any] = {"role": self.role}
        if self.text:
            plain["text"] = self.text
        if self.reasoning:
            plain["reasoning"] = self.reasoning
        if self.tool_calls:
            plain["tool_calls"] = [call.plain() for call in self.tool_calls]
        if self.tool_results:
            plain["tool_results"] = [result.plain() for result in self.tool_results]
        return plain


@dataclass(slots=True)
class Outcome:
    """How the run ended: `success` yes, no or unknown (None); `score` as the file gives it, in the file's own unit.

    `scores` holds every named score where a file has several; `score` is then the main one.
    """

    success: bool | None = None
    score: float | None = None
    scores: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises TypeError for what is no verdict and no number."""
        if type(self.success) not in (bool, type(None)):
            raise TypeError("success is yes, no or unknown")
        if self.score is not None:
            self.score = float(self.score)


@dataclass(slots=True)
class Source:
    """Where a trace was read: `line` counts from 1 in text files, `index` from 0 in a list, `member` in an archive.

    `offset` and `length` are bytes of the file, or of its text where it is packed or not UTF-8: where the record lies.
    """

    file: str
    format: str
    line: int | None = None
    index: int | None = None
    member: str = ""
    offset: int | None = None
    length: int | None = None

    def __str__(self) -> str:
        name = f"{self.file}!{self.member}" if self.member else self.file
        if self.line is not None:
            return f"{name}, line {self.line}"
        return f"{name}, record {self.index + 1}" if self.index is not None else name


class Trace(BaseModel):
    """One attempt of an agent at one task.

    `task` is what the agent was asked, `reference` the expected answer where one is known, `feedback` what a judge,
    a test or a person said about the run. `metadata` keeps what no other field holds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
                    [(call.name, call.arguments) for call in message.tool_calls] if message.tool_calls else (),
                    [(result.text, result.error) for result in message.tool_results] if message.tool_results else (),
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
