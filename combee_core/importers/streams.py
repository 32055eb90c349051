"""Texts that are neither JSON nor tables: streamed model answers (server-sent events), and AppWorld's interaction log.

It turns them into records; which format a record has is decided elsewhere.
"""

import io
import re
from collections.abc import Iterator
from typing import Any

from combee_core.importers.base import Record
from combee_core.importers.blob import peek
from combee_core.importers.json_text import TextError, decode, parse
from combee_core.importers.salvage import BadText

LARGEST_TEXT = 256 << 20
_EVENT_LINE = re.compile(rb"\A(?:(?:event|id|retry)?:[^\n]*\n|\s)*data:[ \t]*[\[{]")
_INTERACTION = re.compile(rb"\A\s*#{2,4} (?:Environment Interaction|Execution) \d+\s*\n")


def streamed_messages(reader: io.BufferedReader) -> Iterator[Record | BadText] | None:
    """One record for each streamed answer, its pieces joined to a message; None when the text is no event stream."""
    return _answers(reader) if _EVENT_LINE.match(peek(reader)) else None


def interactions(reader: io.BufferedReader) -> Iterator[Record | BadText] | None:
    """AppWorld's `environment_io.md` as one record; None when the text is none."""
    if not _INTERACTION.match(peek(reader)):
        return None
    return iter([Record({"environment_io": decode(reader.read(LARGEST_TEXT))}, index=0)])


def _answers(reader: io.BufferedReader) -> Iterator[Record | BadText]:
    answers: dict[str, _Answer] = {}
    for number, line in enumerate(reader, 1):
        data = line.strip().removeprefix(b"data:").strip()
        if not line.lstrip().startswith(b"data:") or data == b"[DONE]" or not data:
            continue
        try:
            event = parse(data)
        except TextError as error:
            yield BadText(number, None, f"This event is {error}.", decode(data)[:500])
            continue
        if isinstance(event, dict):
            name = str(event.get("id") or event.get("response_id") or "")
            answers.setdefault(name if event.get("choices") else "", _Answer(number)).add(event)
    for answer in answers.values():
        yield Record({"messages": [answer.message()], **answer.fields}, line=answer.line)


class _Answer:
    """A message that arrives in pieces, in the ways of OpenAI chat, OpenAI Responses and Anthropic."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.fields: dict[str, Any] = {}
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}

    def add(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        for key in ("id", "model", "created"):
            if event.get(key) is not None:
                self.fields.setdefault(key, event[key])
        kind = str(event.get("type") or "")
        choices = event.get("choices")
        if isinstance(choices, list):
            for choice in choices:
                if isinstance(choice, dict) and isinstance(choice.get("delta"), dict):
                    self._add_chat(choice["delta"])
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            self._add_block(event, event["content_block"])
        elif kind == "content_block_delta" and isinstance(event.get("delta"), dict):
            self._add_anthropic(event, event["delta"])
        elif kind.endswith("output_text.delta"):
            self._text.append(str(event.get("delta") or ""))
        elif kind.endswith("function_call_arguments.delta"):
            self._call(event.get("output_index"))["arguments"] += str(event.get("delta") or "")
        elif kind.endswith("output_item.added") and isinstance(event.get("item"), dict):
            self._add_block({"index": event.get("output_index")}, event["item"])

    def message(self) -> dict[str, Any]:
        """The joined message."""
        calls = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for _, call in sorted(self._calls.items())
        ]
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text), "tool_calls": calls}
        return message | ({"reasoning_content": "".join(self._reasoning)} if self._reasoning else {})

    def _add_chat(self, delta: dict[str, Any]) -> None:
        self._text.append(delta["content"] if isinstance(delta.get("content"), str) else "")
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self._reasoning.append(thought)
        calls = delta.get("tool_calls")
        for piece in calls if isinstance(calls, list) else []:
            if isinstance(piece, dict):
                function = piece.get("function")
                self._extend(piece.get("index"), piece.get("id"), function if isinstance(function, dict) else {})

    def _add_block(self, event: dict[str, Any], block: dict[str, Any]) -> None:
        if block.get("type") in ("tool_use", "function_call"):
            self._extend(event.get("index"), block.get("call_id") or block.get("id"), {"name": block.get("name")})

    def _add_anthropic(self, event: dict[str, Any], delta: dict[str, Any]) -> None:
        self._text.append(str(delta.get("text") or ""))
        if delta.get("thinking"):
            self._reasoning.append(str(delta["thinking"]))
        if delta.get("partial_json"):
            self._call(event.get("index"))["arguments"] += str(delta["partial_json"])

    def _extend(self, index: object, identity: object, function: dict[str, Any]) -> None:
        call = self._call(index)
        call["id"] = call["id"] or str(identity or "")
        call["name"] += str(function.get("name") or "")
        call["arguments"] += str(function.get("arguments") or "")

    def _call(self, index: object) -> dict[str, str]:
        number = index if isinstance(index, int) else len(self._calls)
        return self._calls.setdefault(number, {"id": "", "name": "", "arguments": ""})
