"""Spans to a trace: model calls, tool calls and whole runs, put together by time, whatever order they came in.

Model calls repeat the conversation so far, agents repeat what their model calls hold: each message is taken once. It
knows no tracing product; those bring their spans in one shape.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from combee_core.importers.base import Record
from combee_core.importers.json_text import TextError, parse, parse_embedded
from combee_core.importers.messages import as_message_list, read_messages
from combee_core.importers.outcome import text_of
from combee_core.importers.parts import json_of
from combee_core.trace import Message, ToolCall, ToolResult

Kind = Literal["model", "tool", "agent", "other"]
ASKED = ("question", "query", "prompt", "task", "instruction", "input", "user_input", "message", "text", "content")
ANSWERED = ("answer", "output", "result", "response", "completion", "final_answer", "text", "content", "message")


@dataclass
class Span:
    """One piece of a run. `inputs` and `outputs` are lists of messages in any provider's shape, where there are some;
    `input` and `output` are what the span got and gave, as values; times are seconds."""

    id: str
    parent: str
    name: str
    kind: Kind
    start: float
    end: float
    record: Record
    input: Any = None
    output: Any = None
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    call_id: str = ""
    error: str = ""
    model: str = ""


@dataclass(frozen=True)
class Assembled:
    """What the spans of one trace tell: the root span, the task, the messages in order of time."""

    root: Span
    task: str
    messages: tuple[Message, ...]

    @property
    def error(self) -> str:
        """Why the whole run failed, empty when it did not."""
        return self.root.error


def assemble(spans: Sequence[Span]) -> Assembled:
    """Put the spans of one trace together. A span whose parent is missing counts as a root; the earliest root leads."""
    ids = {span.id for span in spans}
    roots = [span for span in spans if not span.parent or span.parent not in ids or span.parent == span.id]
    root = min(roots or spans, key=lambda span: (span.start, -span.end))
    messages = _system_first(_in_order(spans))
    task = asked_in(root.input) or asked_in(root.inputs) or _first_request(messages)
    if not messages and task:
        messages = [Message(role="user", text=task)]
    return Assembled(root, task, tuple(_with_final_answer(messages, root)))


def message_items(value: object) -> list[Any]:
    """The messages in what a model call got or gave: a list, an object with one, a chat completion, one message."""
    value = parse_embedded(value) if isinstance(value, str) else value
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):
            return message_items(value[0])
        return value if as_message_list(value) is not None else []
    if not isinstance(value, dict):
        return []
    for key in ("messages", "input", "output", "generations", "chat_history"):
        if items := message_items(value.get(key)) if value.get(key) is not value else []:
            return _with_system(value, items)
    choices = value.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        return [{"role": "assistant", **message}] if isinstance(message, dict) else []
    if isinstance(value.get("message"), dict):
        return message_items(value["message"])
    is_message = "role" in value or "lc" in value or value.get("type") in ("human", "ai", "system", "tool")
    return [value] if is_message and as_message_list([value]) is not None else []


def asked_in(value: object) -> str:
    """The request in what a run got: text, the last message of the user, or a field such as question."""
    value = parse_embedded(value) if isinstance(value, str) else value
    if isinstance(value, str):
        return value.strip()
    if items := message_items(value):
        return next((message.text for message in read_messages(items) if message.role == "user" and message.text), "")
    if isinstance(value, dict):
        return next((found for key in ASKED if isinstance(value.get(key), str) and (found := value[key].strip())), "")
    return ""


def answered_in(value: object) -> str:
    """The answer in what a run gave: text, the last message of the agent, a field such as answer, else JSON."""
    value = parse_embedded(value) if isinstance(value, str) else value
    if isinstance(value, str):
        return value.strip()
    if items := message_items(value):
        said = [message.text for message in read_messages(items) if message.role == "assistant" and message.text]
        return said[-1] if said else ""
    if isinstance(value, dict):
        for key in ANSWERED:
            if isinstance(value.get(key), str) and value[key].strip():
                return str(value[key]).strip()
    return text_of(value)


def error_text(value: object) -> str:
    """An error as text: a message, or an object with type and message."""
    if isinstance(value, dict):
        said = [str(value[key]) for key in ("exception_type", "type", "message", "value") if value.get(key)]
        return (said[-1] if said and said[-1].startswith(said[0]) else ": ".join(said)) or json_of(value)
    return value.strip() if isinstance(value, str) else ""


def _in_order(spans: Sequence[Span]) -> list[Message]:
    history = _History()
    for _, _, action, span in sorted(_moments(spans), key=lambda moment: moment[:2]):
        if action == "tool":
            history.add_tool(span)
        elif action == "inputs":
            history.add(read_messages(span.inputs))
        elif action == "outputs":
            history.add(read_messages(span.outputs))
        else:
            history.add(read_messages([*span.inputs, *span.outputs]))
    return history.messages


def _moments(spans: Sequence[Span]) -> Iterable[tuple[float, int, str, Span]]:
    """When each span has something to say, and what comes first when two times are equal."""
    for number, span in enumerate(spans):
        if span.kind == "tool":
            yield span.start, number, "tool", span
        elif span.kind == "model":
            yield span.start, number, "call", span
        elif span.inputs or span.outputs:
            yield span.start, -1, "inputs", span
            yield max(span.start, span.end), len(spans) + number, "outputs", span


class _History:
    """Messages that were said so far; a message that a later call repeats is not said again."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._said: Counter[tuple[Any, ...]] = Counter()
        self._open: list[ToolCall] = []

    def add(self, messages: Iterable[Message]) -> None:
        """Take in a conversation so far: what it repeats is known, what goes beyond is new."""
        repeated: Counter[tuple[Any, ...]] = Counter()
        for message in chain.from_iterable(map(_single_results, messages)):
            key = _key(message)
            repeated[key] += 1
            if repeated[key] > self._said[key]:
                self._append(message, key)

    def add_tool(self, span: Span) -> None:
        """Take in a tool's answer, paired with the call that asked for it."""
        call = self._call_of(span)
        text = span.error or _tool_text(span.output)
        result = ToolResult(
            text=text, name=span.name, call_id=call.id if call else span.call_id, error=bool(span.error)
        )
        message = Message(role="tool", tool_results=(result,))
        if call is None:
            arguments = json_of(span.input) if span.input is not None else ""
            asked = ToolCall(name=span.name, arguments=arguments, id=span.call_id)
            self._append(Message(role="assistant", tool_calls=(asked,)), ("tool span", span.id))
        self._append(message, _key(message))

    def _append(self, message: Message, key: tuple[Any, ...]) -> None:
        self.messages.append(message)
        self._said[key] += 1
        self._open += message.tool_calls
        answered = {result.call_id for result in message.tool_results if result.call_id}
        if answered:
            self._open = [call for call in self._open if call.id not in answered]

    def _call_of(self, span: Span) -> ToolCall | None:
        """The open call that a tool span answers: by id, else the first of that name, else the first at all."""
        by_id = [call for call in self._open if span.call_id and call.id == span.call_id]
        by_name = [call for call in self._open if call.name and (call.name == span.name or call.name in span.name)]
        found = next(iter(by_id or by_name), None)
        if found is not None:
            self._open.remove(found)
        return found


def _single_results(message: Message) -> list[Message]:
    """One message for each tool result, since some of them may be known and others new."""
    if len(message.tool_results) < 2:
        return [message]
    return [Message(role=message.role, tool_results=(result,)) for result in message.tool_results]


def _key(message: Message) -> tuple[Any, ...]:
    if message.tool_results:
        return ("tool", *(result.call_id or result.text.strip() for result in message.tool_results))
    calls = tuple((call.name, _plain(call.arguments)) for call in message.tool_calls)
    return (message.role, message.text.strip(), calls)


def _plain(arguments: str) -> str:
    """Arguments without differences of spelling."""
    try:
        return json_of(parse(arguments)) if arguments else ""
    except TextError:
        return arguments


def _tool_text(output: object) -> str:
    output = parse_embedded(output) if isinstance(output, str) else output
    if isinstance(output, dict):
        inner = output.get("output") if set(output) == {"output"} else output.get("content")
        if isinstance(inner, str):
            return inner
        if isinstance(inner, list) and (messages := read_messages([{"role": "user", "content": inner}])):
            return messages[0].text
        return json_of(inner if inner is not None else output)
    return json_of(output)


def _system_first(messages: list[Message]) -> list[Message]:
    """The system prompt in front, where an agent's request was seen before its model call."""
    first = next((number for number, message in enumerate(messages) if message.role != "user"), 0)
    if messages and messages[first].role == "system":
        return [messages[first], *messages[:first], *messages[first + 1 :]]
    return messages


def _with_final_answer(messages: list[Message], root: Span) -> list[Message]:
    answer = answered_in(root.output) or answered_in(root.outputs)
    last = messages[-1] if messages else None
    is_there = last is not None and last.role == "assistant" and bool(last.text)
    if not answer or is_there or root.error or any(message.text.strip() == answer for message in messages):
        return messages
    return [*messages, Message(role="assistant", text=answer)]


def _first_request(messages: Sequence[Message]) -> str:
    return next((message.text for message in messages if message.role == "user" and message.text), "")


def _with_system(value: dict[str, Any], items: list[Any]) -> list[Any]:
    prompt = value.get("system") or value.get("instructions")
    if isinstance(prompt, str) and prompt:
        return [{"role": "system", "content": prompt}, *items]
    return items
