"""OpenHands: event lists of version 0, `output.jsonl` of its evaluations, and events of version 1 (the SDK).

Written by OpenHands and its software-agent-sdk. Seen: version 0 of early 2025, SDK events of 2026, `output.jsonl` with
lists of events and with the older pairs of action and observation. An action's id links its observation (`cause`); the
model's whole answer is repeated in `tool_call_metadata` and is used for the text and the call only. On disk, version 1
keeps an event a file under `events/`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import read_message
from combee_core.importers.outcome import outcome_of, text_of
from combee_core.importers.parts import json_of
from combee_core.importers.runs import Files, Run, join
from combee_core.trace import Message, ToolCall, ToolResult, Trace

_SILENT = {"change_agent_state", "agent_state_changed", "recall", "null", "system_message_sent"}
_KEPT = ("instance_id", "error", "metrics", "metadata")


class OpenHandsOutput:
    """`output.jsonl` of an evaluation."""

    name = "openhands"
    title = "OpenHands runs"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if (
            isinstance(record, dict)
            and "instance_id" in record
            and ("test_result" in record or _is_event_list(record.get("history")))
        ):
            return 'has "instance_id" and ' + ('"test_result"' if "test_result" in record else '"history"')
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield _read_output(record, context)


class OpenHandsEvents:
    """Events, one trace a file."""

    name = "openhands-events"
    title = "OpenHands event lists"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        kind = record.get("kind")
        if isinstance(kind, str) and kind.endswith("Event") and "id" in record and "source" in record:
            return f"is an OpenHands event of the kind {kind}"
        return "is an OpenHands action or observation" if _is_event(record) else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        yield trace_of([record.value for record in records], context, records[0])


class OpenHandsFolder:
    """Conversation folders of version 1: one event a file."""

    name = "openhands-events"
    title = OpenHandsEvents.title

    def runs(self, files: Files) -> Iterator[Run]:
        for folder in files.folders:
            events = [
                path for path in files.in_folder(join(folder, "events")) if path.rpartition("/")[2].startswith("event-")
            ]
            if events:
                parts = dict.fromkeys(
                    [*events[1:], join(folder, "base_state.json")], "part of the OpenHands conversation"
                )
                yield Run(
                    files[events[0]],
                    self.name,
                    "is the first of the events of a conversation",
                    _reader(files, events),
                    parts,
                )


def trace_of(events: Sequence[Any], context: Context, record: Record, task: str = "") -> Trace:
    """The trace of a list of events. Raises RecordError when nobody says or does anything."""
    messages = tuple(_messages(_flat(events)))
    if not messages:
        raise RecordError("The events hold no message, action or observation.")
    asked = next((message.text for message in messages if message.role == "user" and message.text), "")
    return Trace(task=task or asked or messages[0].text, messages=messages, source=context.source(record))


def _read_output(record: Record, context: Context) -> Trace:
    row: Mapping[str, Any] = record.value
    history, result = row.get("history"), row.get("test_result")
    result = result if isinstance(result, dict) else {}
    trace = trace_of(history if isinstance(history, list) else [], context, record, text_of(row.get("instruction")))
    report = result.get("report")
    outcome = outcome_of(
        {**(report if isinstance(report, dict) else {}), **{k: v for k, v in result.items() if k != "report"}}
    )
    kept = {key: row[key] for key in _KEPT if row.get(key)}
    if result.get("git_patch"):
        kept["git_patch"] = result["git_patch"]
    return trace.model_copy(update={"outcome": outcome, "feedback": text_of(row.get("error")), "metadata": kept})


def _reader(files: Files, paths: Sequence[str]) -> Any:
    def read() -> Iterator[Trace]:
        blob = files[paths[0]]
        context = Context(blob.name, OpenHandsFolder.name, blob.member)
        yield trace_of([files.json_object(path) for path in paths], context, Record(None, index=0))

    return read


def _is_event(value: object) -> bool:
    return (
        isinstance(value, dict)
        and "id" in value
        and "source" in value
        and ("action" in value or "observation" in value)
        and ("args" in value or "content" in value or "extras" in value)
    )


def _is_event_list(value: object) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return _is_event(first) or (isinstance(first, list) and any(isinstance(item, dict) for item in first))


def _flat(events: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Events, also from the older pairs [action, observation]."""
    for event in events:
        for item in event if isinstance(event, list) else [event]:
            if isinstance(item, dict):
                yield item


def _messages(events: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    for event in events:
        if "kind" in event:
            yield from _version_1(event)
        elif "observation" in event:
            yield from _observation(event)
        elif "action" in event:
            yield from _action(event)


def _action(event: Mapping[str, Any]) -> Iterator[Message]:
    action, args = str(event.get("action")), event.get("args")
    args = args if isinstance(args, dict) else {}
    if action in _SILENT:
        return
    if action in ("message", "system"):
        role = "system" if action == "system" else "user" if event.get("source") == "user" else "assistant"
        yield from read_message({"role": role, "content": args.get("content") or event.get("message")})
        return
    name, call_id, arguments = _call(event, action, args)
    thought = str(args.get("thought") or "")
    yield Message(role="assistant", text=thought, tool_calls=(ToolCall(name=name, arguments=arguments, id=call_id),))


def _call(event: Mapping[str, Any], action: str, args: Mapping[str, Any]) -> tuple[str, str, str]:
    """(name, id, arguments) of the call behind an action: as the model wrote it where that is kept."""
    about = event.get("tool_call_metadata")
    about = about if isinstance(about, dict) else {}
    call_id = str(about.get("tool_call_id") or event.get("id"))
    response = about.get("model_response")
    choices = response.get("choices") if isinstance(response, dict) else None
    message = (
        choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    )
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict) and call.get("id") == call_id and isinstance(call.get("function"), dict):
            return str(call["function"].get("name")), call_id, json_of(call["function"].get("arguments"))
    given = {key: value for key, value in args.items() if key != "thought" and value not in (None, "")}
    return str(about.get("function_name") or action), call_id, json_of(given)


def _observation(event: Mapping[str, Any]) -> Iterator[Message]:
    kind = str(event.get("observation"))
    if kind in _SILENT:
        return
    about, extras = event.get("tool_call_metadata"), event.get("extras")
    call_id = about.get("tool_call_id") if isinstance(about, dict) else None
    extras = extras if isinstance(extras, dict) else {}
    code = extras.get(
        "exit_code", (extras.get("metadata") or {}).get("exit_code") if isinstance(extras.get("metadata"), dict) else 0
    )
    result = ToolResult(
        text=str(event.get("content") or event.get("message") or ""),
        name=str(about.get("function_name") or "") if isinstance(about, dict) else "",
        call_id=str(call_id or event.get("cause") or ""),
        error=kind == "error" or code not in (0, None, -1),
    )
    yield Message(role="tool", tool_results=(result,))


def _version_1(event: Mapping[str, Any]) -> Iterator[Message]:
    kind = event.get("kind")
    if kind == "MessageEvent":
        message = event.get("llm_message")
        role = "assistant" if event.get("source") == "agent" else "user"
        yield from read_message(
            {"role": role, **(message if isinstance(message, dict) else {"content": event.get("content")})}
        )
    elif kind == "SystemPromptEvent":
        yield from read_message({"role": "system", "content": event.get("system_prompt")})
    elif kind == "ActionEvent":
        yield from _version_1_action(event)
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        yield from _version_1_observation(event)


def _version_1_action(event: Mapping[str, Any]) -> Iterator[Message]:
    call = event.get("tool_call")
    call = call if isinstance(call, dict) else {}
    inner = call.get("function")
    arguments = (inner if isinstance(inner, dict) else call).get("arguments")
    asked = ToolCall(
        name=str(event.get("tool_name") or call.get("name") or ""),
        arguments=json_of(arguments if arguments is not None else event.get("action")),
        id=str(event.get("tool_call_id") or ""),
    )
    said = list(read_message({"role": "assistant", "content": event.get("thought")}))
    thought = event.get("reasoning_content")
    yield Message(
        role="assistant",
        text=said[0].text if said else "",
        reasoning=thought if isinstance(thought, str) else "",
        tool_calls=(asked,),
    )


def _version_1_observation(event: Mapping[str, Any]) -> Iterator[Message]:
    observation = event.get("observation")
    observation = observation if isinstance(observation, dict) else {}
    content = (
        observation.get("content") or observation.get("output") or event.get("error") or event.get("rejection_reason")
    )
    read = read_message({"role": "tool", "content": content if content is not None else json_of(observation)})
    failed = observation.get("is_error") is True or event.get("kind") != "ObservationEvent"
    for message in read:
        yield Message(
            role="tool",
            tool_results=tuple(
                ToolResult(
                    text=result.text,
                    name=str(event.get("tool_name") or ""),
                    call_id=str(event.get("tool_call_id") or ""),
                    error=failed,
                )
                for result in message.tool_results
            ),
        )
