"""Lists of messages in any provider's shape, as the messages of a trace.

It knows roles, the ways in which tools are called and answered, and where models put their thinking; it does not know
what file a message came from.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from combee_core.importers.json_text import parse_embedded
from combee_core.importers.parts import Content, call_of, calls_in_text, calls_of, result_of
from combee_core.trace import Message, Role, ToolResult

ROLES: dict[str, Role | None] = {
    "system": "system", "developer": "system",
    "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "gpt": "assistant", "bot": "assistant",
    "agent": "assistant", "gemini": "assistant", "aimessage": "assistant", "chatbot": "assistant",
    "tool": "tool", "function": "tool", "ipython": "tool", "observation": "tool", "environment": "tool",
    "toolresult": "tool", "tool_result": "tool", "tool_response": "tool",
    "humanmessage": "user", "systemmessage": "system", "toolmessage": "tool",
    "exit": None,
}  # fmt: skip
_MARKS = frozenset(("type", "src", "lc", "from"))
_ITEM_KEYS = frozenset(
    (
        "content",
        "parts",
        "tool_calls",
        "text",
        "msg",
        "kwargs",
        "value",
        "function_call",
        "arguments",
        "output",
    )
)
_CALL_ITEMS = {
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
    "mcp_call",
    "file_search_call",
    "computer_call",
    "code_interpreter_call",
    "image_generation_call",
    "tool_search_call",
}
_RESULT_ITEMS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "computer_call_output"}
_OTHER_ITEMS = _CALL_ITEMS | _RESULT_ITEMS | {"reasoning"}
_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"


def is_message_list(value: object) -> bool:
    """Whether a value is a list of messages: most items have a role, a type or the like, and some have content."""
    if not isinstance(value, list):
        return False
    items = marked = 0
    filled = False
    for item in value[:20]:
        if item is not None:
            items += 1
            if isinstance(item, dict):
                marked += "role" in item or not _MARKS.isdisjoint(item)
                filled = filled or "content" in item or not _ITEM_KEYS.isdisjoint(item)
    return filled and marked >= 0.8 * items


def is_bare_message_list(value: object) -> bool:
    """A list that is one conversation by itself: every message names its role (or is a typed Responses item)."""
    return is_message_list(value) and all(
        isinstance(item, dict) and (_role_name(item) in ROLES or str(item.get("type")) in _OTHER_ITEMS)
        for item in (value if isinstance(value, list) else [])[:20]
        if item is not None
    )


def as_message_list(value: object) -> list[Any] | None:
    """The list of messages that a field holds, also as JSON text or a Python literal; None when it holds none."""
    if isinstance(value, str):
        value = parse_embedded(value)
    return value if isinstance(value, list) and is_message_list(value) else None


def read_messages(items: Iterable[object]) -> tuple[Message, ...]:
    """The messages of a list, in order; items that hold nothing are left out."""
    messages: list[Message] = []
    for item in items:
        if isinstance(item, dict):
            messages += read_message(item)
    return tuple(messages)


def read_message(item: Mapping[str, Any]) -> list[Message]:
    """One item of a message list: usually one message, none when empty, two when results and text share an item."""
    message = _read_plain(item)
    return [message] if message else _read_any(item)


def _read_plain(item: Mapping[str, Any]) -> Message | None:
    """Messages as OpenAI's chat API has them, which are most by far, without the search through all other shapes."""
    content, fields, role = item.get("content"), len(item), item.get("role")
    if content is None and role == "assistant":
        content = ""
    if not isinstance(content, str) or "think>" in content:
        return None
    if fields == 2 and content:
        return Message(role=role, text=content) if role == "user" or role == "assistant" or role == "system" else None
    if fields == 3 and role == "assistant" and isinstance(calls := item.get("tool_calls"), list) and calls:
        return Message(role="assistant", text=content, tool_calls=tuple(calls_of(calls)))
    if fields == 3 and role == "tool" and content and isinstance(call_id := item.get("tool_call_id"), str):
        return Message(role="tool", tool_results=(ToolResult(text=content, call_id=call_id),))
    return None


def merge_turns(messages: Iterable[Message]) -> tuple[Message, ...]:
    """One message for each turn of the model, where a file lists its thinking, its words and its calls one by one."""
    turns: list[Message] = []
    for message in messages:
        before = turns[-1] if turns else None
        if (
            before is None
            or message.role != "assistant"
            or before.role != "assistant"
            or (before.tool_calls and message.text)
        ):
            turns.append(message)
        else:
            turns[-1] = Message(
                role="assistant",
                text="\n".join(filter(None, (before.text, message.text))),
                reasoning="\n".join(filter(None, (before.reasoning, message.reasoning))),
                tool_calls=before.tool_calls + message.tool_calls,
            )
    return tuple(turns)


def task_of(messages: Sequence[Message]) -> str:
    """What the agent was asked: the first message of the user, else the first that the agent did not write."""
    for role in ("user", "system", "tool"):
        for message in messages:
            if message.role == role and message.text:
                return message.text
    return ""


def _read_any(item: Mapping[str, Any]) -> list[Message]:
    kwargs = item.get("kwargs")
    if "lc" in item and isinstance(kwargs, Mapping):
        name = item["id"][-1] if isinstance(item.get("id"), list) and item["id"] else ""
        item = {"role": name, **kwargs}
    kind = str(item.get("type") or "")
    if kind in _CALL_ITEMS or kind in _RESULT_ITEMS or kind == "reasoning":
        return _read_item(kind, item)
    name = _role_name(item)
    role = ROLES.get(name, "assistant" if "agent" in name or item.get("tool_calls") else "user")
    if role is None or not name or _is_tool_definition(item):
        return []
    content = Content()
    content.add(_body(item))
    _add_fields(item, role, content)
    return _build(role, item, content, is_call=name == "function_call")


def _is_tool_definition(item: Mapping[str, Any]) -> bool:
    """Some tracers list the tools that were offered as messages of the role tool."""
    content = item.get("content")
    return (
        isinstance(content, Mapping)
        and content.get("type") == "function"
        and "parameters" in str(content.get("function"))
    )


def _role_name(item: Mapping[str, Any]) -> str:
    for key in ("role", "from", "src", "type"):
        if isinstance(item.get(key), str) and item[key]:
            return str(item[key]).lower()
    return ""


def _body(item: Mapping[str, Any]) -> object:
    for key in ("content", "parts", "value", "msg", "text"):
        if item.get(key) is not None:
            return item[key]
    return None


def _add_fields(item: Mapping[str, Any], role: Role, content: Content) -> None:
    """What providers put beside the content: tool calls, reasoning."""
    if role != "assistant":
        return
    extra = item.get("additional_kwargs")
    for place in (item, extra if isinstance(extra, Mapping) else {}):
        if not content.calls:
            content.calls += calls_of(place.get("tool_calls"))
        if isinstance(place.get("function_call"), Mapping) and not content.calls:
            content.calls += calls_of(place["function_call"])
    if not content.reasonings:
        thought = item.get("reasoning_content") or item.get("reasoning") or item.get("thinking")
        if isinstance(thought, str):
            content.reasonings.append(thought)


def _build(role: Role, item: Mapping[str, Any], content: Content, is_call: bool) -> list[Message]:
    text = content.text
    if is_call:
        return [Message(role="assistant", tool_calls=tuple(calls_in_text(text)))] if text else []
    if role == "tool" and not content.results:
        answer = item if item.get("content") is not None else {**item, "content": text}
        return [Message(role="tool", tool_results=(result_of(answer),))] if text or item.get("error") else []
    if (role == "assistant" and _THINK_CLOSE in text) or (text.startswith(_THINK_OPEN) and role == "assistant"):
        thought, text = _split_thinking(text)
        content.reasonings.append(thought)
    messages = []
    if content.results:
        named = tuple(_with_defaults(result, item) for result in content.results)
        messages.append(Message(role="tool", tool_results=named))
        role = "user" if role == "tool" else role
    if text or content.calls or (content.reasonings and any(content.reasonings)):
        messages.append(Message(role=role, text=text, reasoning=content.reasoning, tool_calls=tuple(content.calls)))
    return messages


def _with_defaults(result: ToolResult, item: Mapping[str, Any]) -> ToolResult:
    call_id = result.call_id or str(item.get("tool_call_id") or "")
    return result if call_id == result.call_id else replace(result, call_id=call_id)


def _split_thinking(text: str) -> tuple[str, str]:
    """(thinking, answer) of a text that starts with thinking in tags; some templates leave out the opening tag."""
    before, closed, after = text.partition(_THINK_CLOSE)
    opening = before.find(_THINK_OPEN)
    if closed and opening > 0 and before[:opening].strip():
        return before[opening + len(_THINK_OPEN) :].strip(), (before[:opening] + after).strip()
    return before.replace(_THINK_OPEN, "", 1).strip(), after.strip()


def _read_item(kind: str, item: Mapping[str, Any]) -> list[Message]:
    """An item of the Responses API that is no message."""
    if kind in _RESULT_ITEMS:
        return [Message(role="tool", tool_results=(result_of(item),))]
    if kind in _CALL_ITEMS:
        named = {
            "name": item.get("name") or kind.removesuffix("_call"),
            **{k: v for k, v in item.items() if k != "name"},
        }
        if item.get("arguments") is None and item.get("input") is None:
            named["arguments"] = next((item[key] for key in ("action", "queries", "code") if item.get(key)), None)
        call = call_of(named)
        return [Message(role="assistant", tool_calls=(call,))] if call else []
    content = Content()
    content.add({**item, "type": "reasoning"})
    return [Message(role="assistant", reasoning=content.reasoning)] if content.reasoning else []
