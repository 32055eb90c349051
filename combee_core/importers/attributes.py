"""Span attributes to messages: the conventions of OpenTelemetry GenAI, OpenInference, Traceloop, Vercel AI, Logfire.

Attributes come as flat dotted names, as nested objects, or half and half; values are often JSON text. It knows nothing
of containers and ids.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from combee_core.importers.json_text import parse_embedded
from combee_core.importers.messages import as_message_list
from combee_core.importers.spans import Kind, message_items

_MODEL = {"chat", "generate_content", "text_completion", "llm", "completion", "chat_model", "generation", "responses"}
_TOOL = {"execute_tool", "tool", "function", "mcp_tool"}
_AGENT = {"invoke_agent", "invoke_workflow", "agent", "chain", "workflow", "create_agent", "task", "crew"}
_MARKS = ("gen_ai.", "llm.", "openinference.", "ai.operationid", "traceloop.", "input.value", "output.value",
          "ai.prompt", "all_messages", "pydantic_ai.", "tool.", "ai.toolcall", "langfuse.", "mlflow.span")  # fmt: skip
_EVENT_ROLES = {"gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.tool.message": "tool",
                "gen_ai.assistant.message": "assistant", "gen_ai.choice": "assistant"}  # fmt: skip

Attributes = Mapping[str, Any]
Event = tuple[str, Attributes]


def is_about_models(attributes: Attributes) -> bool:
    """Whether some attribute follows one of the conventions for model calls, tools and agents."""
    return any(str(key).lower().startswith(_MARKS) for key in attributes)


def kind_of(attributes: Attributes, name: str = "") -> Kind:
    """What a span stands for."""
    operation = str(attributes.get("ai.operationId") or "")
    if operation:
        if operation.startswith("ai.toolCall"):
            return "tool"
        return "model" if ".do" in operation and "embed" not in operation.lower() else "agent"
    for key in ("openinference.span.kind", "gen_ai.operation.name", "traceloop.span.kind", "span_kind"):
        word = str(attributes.get(key) or "").lower()
        found: Kind | None = (
            "model" if word in _MODEL else "tool" if word in _TOOL else "agent" if word in _AGENT else None
        )
        if found:
            return found
    if "llm.request.type" in attributes or "gen_ai.request.model" in attributes or "llm.model_name" in attributes:
        return "model"
    if "gen_ai.tool.name" in attributes or "tool.name" in attributes or name.startswith("running tool: "):
        return "tool"
    return "agent" if is_about_models(attributes) else "other"


def messages_in(attributes: Attributes, events: Sequence[Event] = ()) -> tuple[list[Any], list[Any]]:
    """(inputs, outputs) of a model call or an agent, as lists of messages in any provider's shape."""
    for find in (_current, _openinference, _indexed, _vercel, _logfire):
        inputs, outputs = find(attributes)
        if inputs or outputs:
            return inputs, outputs
    inputs, outputs = _from_events(events)
    if inputs or outputs:
        return inputs, outputs
    return _as_items(attributes.get("gen_ai.prompt"), "user"), _as_items(
        attributes.get("gen_ai.completion"), "assistant"
    )


def values_in(attributes: Attributes) -> tuple[Any, Any]:
    """(input, output) of a span as plain values."""
    asked = _first(attributes, "input.value", "gen_ai.tool.call.arguments", "tool.parameters", "ai.toolCall.args",
                   "tool_arguments", "traceloop.entity.input", "ai.prompt", "langfuse.observation.input")  # fmt: skip
    gave = _first(attributes, "output.value", "gen_ai.tool.call.result", "ai.toolCall.result", "tool_response",
                  "traceloop.entity.output", "ai.response.text", "final_result",
                  "langfuse.observation.output")  # fmt: skip
    return asked, gave


def tool_name(attributes: Attributes, name: str) -> str:
    """The tool that a span ran."""
    known = _first(attributes, "gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
    return str(known or name.removeprefix("execute_tool ").removeprefix("running tool: "))


def nested(attributes: Attributes, prefix: str) -> Any:
    """What lies under a dotted prefix, as objects and lists: names that are numbers become positions."""
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(prefix + "."):
            _put(tree, key[len(prefix) + 1 :].split("."), value)
    return _as_lists(tree)


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for part in path[:-1]:
        inner = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(path[-1], value)


def _as_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _as_lists(item) for key, item in value.items()}
    if inner and all(key.isdecimal() for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def _current(attributes: Attributes) -> tuple[list[Any], list[Any]]:
    """GenAI semantic conventions since mid-2025: messages with parts, the system prompt apart."""
    inputs = _as_items(attributes.get("gen_ai.input.messages"), "user")
    outputs = _as_items(attributes.get("gen_ai.output.messages"), "assistant")
    prompt = attributes.get("gen_ai.system_instructions")
    if prompt and (inputs or outputs):
        prompt = parse_embedded(prompt) if isinstance(prompt, str) else prompt
        inputs = [{"role": "system", "content": prompt}, *inputs]
    return inputs, outputs


def _openinference(attributes: Attributes) -> tuple[list[Any], list[Any]]:
    return _oi_list(attributes, "llm.input_messages", "user"), _oi_list(attributes, "llm.output_messages", "assistant")


def _oi_list(attributes: Attributes, key: str, role: str) -> list[Any]:
    items = attributes.get(key) or nested(attributes, key)
    items = parse_embedded(items) if isinstance(items, str) else items
    return [_oi_message(item, role) for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _oi_message(item: Attributes, role: str) -> dict[str, Any]:
    if any("." in key for key in item):
        item = nested({f"x.{key}": value for key, value in item.items()}, "x")
    message = item.get("message")
    message = message if isinstance(message, dict) else item
    calls = message.get("tool_calls")
    calls = (
        [call.get("tool_call", call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else None
    )
    contents = message.get("contents")
    if isinstance(contents, list):
        parts = [part.get("message_content", part) for part in contents if isinstance(part, dict)]
        contents = [_oi_part(part) for part in parts if isinstance(part, dict)]
    found = {
        **message,
        "role": message.get("role") or role,
        "tool_calls": calls,
        "content": message.get("content") or contents,
    }
    return {key: value for key, value in found.items() if value is not None and key != "contents"}


def _oi_part(part: Attributes) -> dict[str, Any]:
    image = part.get("image")
    image = image.get("image", image) if isinstance(image, dict) else None
    return {**part, "source": image, "type": "image"} if isinstance(image, dict) else dict(part)


def _indexed(attributes: Attributes) -> tuple[list[Any], list[Any]]:
    """Traceloop: gen_ai.prompt.0.role and so on."""
    sides = []
    for key, role in (("gen_ai.prompt", "user"), ("gen_ai.completion", "assistant")):
        items = nested(attributes, key)
        items = items if isinstance(items, list) else []
        sides.append([{"role": role, **item} | _parsed_content(item) for item in items if isinstance(item, dict)])
    return sides[0], sides[1]


def _parsed_content(item: Attributes) -> dict[str, Any]:
    content = item.get("content")
    parsed = parse_embedded(content) if isinstance(content, str) else content
    is_parts = isinstance(parsed, list) and all(isinstance(part, dict) and "type" in part for part in parsed)
    return {"content": parsed} if is_parts and parsed else {}


def _vercel(attributes: Attributes) -> tuple[list[Any], list[Any]]:
    inputs = _as_items(attributes.get("ai.prompt.messages"), "user")
    prompt = parse_embedded(str(attributes.get("ai.prompt") or ""))
    if not inputs and isinstance(prompt, dict):
        inputs = message_items(prompt) or _as_items(prompt.get("prompt"), "user")
        if isinstance(prompt.get("system"), str) and inputs and inputs[0].get("role") != "system":
            inputs = [{"role": "system", "content": prompt["system"]}, *inputs]
    text = _first(attributes, "ai.response.text", "ai.response.object", "ai.result.text")
    calls = parse_embedded(str(attributes.get("ai.response.toolCalls") or ""))
    if not text and not isinstance(calls, list):
        return inputs, []
    answer = {"role": "assistant", "content": text or "", "tool_calls": calls if isinstance(calls, list) else []}
    return inputs, [answer]


def _logfire(attributes: Attributes) -> tuple[list[Any], list[Any]]:
    items = _first(attributes, "pydantic_ai.all_messages", "all_messages_events", "events")
    items = parse_embedded(items) if isinstance(items, str) else items
    if not isinstance(items, list):
        return [], []
    named = [item for item in items if isinstance(item, dict)]
    return (
        _from_events([(str(item.get("event.name")), item) for item in named if "event.name" in item])
        if any("event.name" in item for item in named)
        else (as_message_list(items) or [], [])
    )


def _from_events(events: Sequence[Event]) -> tuple[list[Any], list[Any]]:
    """GenAI semantic conventions of 2024: one event a message."""
    inputs: list[Any] = []
    outputs: list[Any] = []
    for name, body in events:
        if name == "gen_ai.client.inference.operation.details":
            found = _current(body)
            inputs, outputs = [*inputs, *found[0]], [*outputs, *found[1]]
        elif role := _EVENT_ROLES.get(name):
            message = (
                parse_embedded(str(body.get("message")))
                if isinstance(body.get("message"), str)
                else body.get("message")
            )
            said = {**(message if isinstance(message, dict) else body)}
            said = {"role": role, **said, **_parsed_content(said)}
            if role == "tool" and "tool_call_id" not in said:
                said["tool_call_id"] = said.get("id") or ""
            (outputs if name == "gen_ai.choice" else inputs).append(said)
    return inputs, outputs


def _as_items(value: Any, role: str) -> list[Any]:
    value = parse_embedded(value) if isinstance(value, str) else value
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value.strip() else []
    return message_items(value)


def _first(attributes: Attributes, *keys: str) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key) not in (None, "")), None)
