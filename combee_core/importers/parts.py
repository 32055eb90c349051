"""What one message holds: text, reasoning, tool calls, tool results and pictures, in the shapes of all providers.

OpenAI (chat and Responses), Anthropic, Gemini, LangChain, the GenAI semantic conventions, LLaMA-Factory, Inspect,
OpenClaw. It knows single parts of a message's content; `messages` knows whole messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from combee_core.importers.json_text import TextError, parse
from combee_core.trace import ToolCall, ToolResult

_TEXT_KEYS = ("text", "content", "value", "output_text", "input_text", "refusal", "summary_text")
_REASONING_TYPES = {"reasoning", "thinking", "thought", "reasoning_text"}
_CALL_TYPES = {
    "tool_use",
    "toolcall",
    "tool_call",
    "tool-call",
    "function_call",
    "functioncall",
    "server_tool_use",
    "mcp_call",
    "custom_tool_call",
    "mcp_tool_use",
}
_RESULT_TYPES = {
    "tool_result",
    "tool_call_response",
    "tool-result",
    "function_call_output",
    "functionresponse",
    "custom_tool_call_output",
    "mcp_tool_result",
    "toolresult",
    "tool_response",
    "web_search_tool_result",
    "code_execution_tool_result",
    "local_shell_call_output",
}
_IMAGE_TYPES = {"image", "image_url", "input_image", "output_image"}
_FILE_TYPES = {
    "file",
    "input_file",
    "document",
    "audio",
    "input_audio",
    "output_audio",
    "video",
    "video_url",
    "uri",
    "audio_url",
    "blob",
    "media",
}
_DROPPED_TYPES = {"redacted_thinking", "encrypted_content", "signature", "cache_control"}


@dataclass(slots=True)
class Content:
    """What was found so far in one message."""

    texts: list[str] = field(default_factory=list)
    reasonings: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text parts, one after the other."""
        return self.texts[0] if len(self.texts) == 1 else "\n".join(self.texts)

    @property
    def reasoning(self) -> str:
        """The reasoning parts, one after the other."""
        return "\n".join(self.reasonings)

    def add(self, content: object) -> None:
        """Take in a message's content: a string, null, a part, or a list of parts."""
        if isinstance(content, str):
            if content:
                self.texts.append(content)
        elif isinstance(content, list):
            for part in content:
                self.add(part)
        elif isinstance(content, dict):
            self._add_part(content)
        elif content is not None:
            self.texts.append(json_of(content))

    def _add_part(self, part: Mapping[str, Any]) -> None:
        kind = str(part.get("type") or "").lower()
        if kind in _CALL_TYPES or isinstance(part.get("functionCall"), dict):
            self._add_call(part)
        elif kind in _RESULT_TYPES or isinstance(part.get("functionResponse"), dict):
            self.results.append(result_of(part))
        elif kind in _REASONING_TYPES or part.get("thought") is True:
            if text := _reasoning_text(part):
                self.reasonings.append(text)
        elif kind in _IMAGE_TYPES or kind in _FILE_TYPES or _is_media(part):
            self.texts.append(media_marker(part))
        elif kind not in _DROPPED_TYPES:
            self.add(_part_text(part))

    def _add_call(self, part: Mapping[str, Any]) -> None:
        value = part.get("value")
        if isinstance(value, str):
            self.calls += calls_in_text(value)
        elif (call := call_of(part)) is not None:
            self.calls.append(call)


def call_of(call: object) -> ToolCall | None:
    """A tool call in any provider's shape; None where nothing names a tool."""
    if not isinstance(call, Mapping):
        return None
    function, identity = call.get("function"), call.get("id")
    if isinstance(function, dict) and isinstance(identity, str):
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(name, str) and isinstance(arguments, str):
            return ToolCall(name=name, arguments=arguments, id=identity)
    return _call_in_any_shape(call)


def _call_in_any_shape(call: Mapping[str, Any]) -> ToolCall | None:
    inner = next(
        (call[key] for key in ("function", "functionCall", "kwargs") if isinstance(call.get(key), Mapping)), call
    )
    function = call.get("function")
    name = (
        inner.get("name")
        or call.get("name")
        or call.get("function_name")
        or call.get("tool_name")
        or call.get("toolName")
        or call.get("tool")
    )
    name = name or (function if isinstance(function, str) else None)
    arguments = _first_of((inner, call), ("arguments", "args", "input", "parameters", "tool_input"))
    if not name and arguments is None:
        return None
    identity = call.get("call_id") or call.get("id") or call.get("tool_call_id") or call.get("toolCallId") or ""
    return ToolCall(name=str(name or ""), arguments=json_of(arguments), id=str(identity))


def calls_of(calls: object) -> list[ToolCall]:
    """The tool calls of a message's `tool_calls` field: a list, one call, or either as JSON text."""
    if isinstance(calls, str):
        return calls_in_text(calls)
    if isinstance(calls, Mapping):
        calls = [calls]
    return [found for call in calls if (found := call_of(call)) is not None] if isinstance(calls, list) else []


def calls_in_text(text: str) -> list[ToolCall]:
    """Tool calls written as JSON text; text that is no JSON becomes a call without a name, so that nothing is lost."""
    try:
        value = parse(text)
    except TextError:
        return [ToolCall(name="", arguments=text)] if text.strip() else []
    return calls_of(value) if isinstance(value, dict | list) else []


def result_of(part: Mapping[str, Any]) -> ToolResult:
    """A tool result in any provider's shape, inside a message or as an item of its own."""
    inner = part.get("functionResponse")
    inner = inner if isinstance(inner, Mapping) else part
    answer = _first_of((inner,), ("content", "output", "response", "result", "text", "value"))
    content = Content()
    content.add(answer if isinstance(answer, str | list) or _is_part(answer) else json_of(answer))
    error = part.get("error")
    identity = next(
        (part[key] for key in ("tool_use_id", "tool_call_id", "toolCallId", "call_id", "id") if part.get(key)), ""
    )
    return ToolResult(
        text=content.text or _error_text(error),
        name=_tool_name(inner, part),
        call_id=str(identity),
        error=part.get("is_error") is True
        or part.get("isError") is True
        or part.get("status") == "error"
        or bool(error),
    )


def _tool_name(inner: Mapping[str, Any], part: Mapping[str, Any]) -> str:
    known = inner.get("name") or part.get("toolName") or part.get("tool_name") or part.get("function")
    return known if isinstance(known, str) else ""


def json_of(value: object) -> str:
    """Text as it is, nothing for null, anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def media_marker(part: Mapping[str, Any]) -> str:
    """A picture or file as a short marker with its type and size, or where it lies: never the bytes themselves."""
    kind = str(part.get("type") or "file").removeprefix("input_").removeprefix("output_").removesuffix("_url")
    place = next(
        (
            part[key]
            for key in (
                "source",
                "image_url",
                "inlineData",
                "fileData",
                "file",
                "input_audio",
                "audio_url",
                "video_url",
                "image",
            )
            if part.get(key)
        ),
        part,
    )
    if isinstance(place, str):
        return f"[{kind}: {_address(place)}]"
    if not isinstance(place, Mapping):
        return f"[{kind}]"
    media_type = str(
        place.get("media_type") or place.get("mimeType") or place.get("mime_type") or place.get("format") or ""
    )
    data = place.get("data") or place.get("file_data") or place.get("content")
    if isinstance(data, str):
        return f"[{kind}: {', '.join(filter(None, (media_type, _size(data))))}]"
    address = place.get("url") or place.get("path") or place.get("uri") or place.get("fileUri") or place.get("filename")
    shown = _address(address) if isinstance(address, str) else str(place.get("file_id") or "")
    return f"[{kind}: {', '.join(filter(None, (media_type, shown)))}]" if media_type or shown else f"[{kind}]"


def _part_text(part: Mapping[str, Any]) -> object:
    for key in _TEXT_KEYS:
        if isinstance(part.get(key), str):
            return part[key]
    for key in ("content", "parts", "summary", "text"):
        if isinstance(part.get(key), list | dict) and part[key]:
            return part[key]
    return None if not any(part.get(key) for key in part if key != "type") else json_of(part)


def _reasoning_text(part: Mapping[str, Any]) -> str:
    for key in ("text", "thinking", "reasoning", "content", "value", "summary"):
        value = part.get(key)
        if value and key != "type":
            content = Content()
            content.add(value)
            return content.text or content.reasoning
    return ""


def _is_media(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("inlineData"), dict) or isinstance(part.get("fileData"), dict)


def _is_part(value: object) -> bool:
    return isinstance(value, Mapping) and str(value.get("type") or "").lower() in (
        _IMAGE_TYPES | _FILE_TYPES | {"text"}
    )


def _error_text(error: object) -> str:
    if isinstance(error, Mapping):
        return str(error.get("message") or json_of(error))
    return error if isinstance(error, str) else ""


def _first_of(places: tuple[Mapping[str, Any], ...], keys: tuple[str, ...]) -> Any:
    return next((place[key] for place in places for key in keys if place.get(key) is not None), None)


def _address(address: str) -> str:
    if not address.startswith("data:"):
        return address[:300]
    head, _, data = address[5:].partition(",")
    return ", ".join(filter(None, (head.split(";")[0], _size(data))))


def _size(data: str) -> str:
    """The size of base64 text once decoded."""
    return f"{len(data.rstrip('=')) * 3 // 4:,} bytes"
