"""Answers of a stated shape from models that may be weak: schema first, then JSON found in prose, then one repair."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from combee_core.importers.json_text import TextError, decode_one, parse
from combee_core.llm.base import AnswerSchema, CallFailed, ChatMessage, ChatModel, Completion, FailureKind, Meter

Answer = TypeVar("Answer", bound=BaseModel)

SHOWN_CHARS = 2_000
# An answer is lessons or operations on a few hundred items; one that is longer than this has run away.
LONGEST_ANSWER = 1_000_000
# How far the search for JSON goes: what it may read in all beyond ten times the text, what one try counts at least.
SEARCH_CHARS = 1_000_000
TRY_CHARS = 1_000


class _Unusable(NamedTuple):
    """Why an answer cannot be used."""

    kind: FailureKind
    reason: str


async def ask(model: ChatModel, instructions: str, prompt: str, answer_type: type[Answer], meter: Meter) -> Answer:
    """Ask once, and once more when the answer is of no use.

    An answer that was cut off is asked for again with twice the room, an empty one as it was, any other is shown to the
    model to be repaired. Raises CallFailed when the second answer is of no use either. What is asked depends on the
    arguments and on the first answer alone.
    """
    schema = answer_schema(answer_type)
    messages = [ChatMessage("system", instructions), ChatMessage("user", prompt)]
    first = await model.complete(messages, meter, schema)
    answer = _read(first, answer_type)
    if not isinstance(answer, _Unusable):
        return answer
    meter.fail(answer.kind)
    room = 2 * first.output_tokens if answer.kind == "truncated" and first.output_tokens else None
    if answer.kind not in ("truncated", "empty"):
        messages += _repair(first, answer)
    second = _read(await model.complete(messages, meter, schema, room), answer_type)
    if isinstance(second, _Unusable):
        meter.fail(second.kind)
        raise CallFailed(second.kind, f"{model.name} gave no usable answer twice: {second.reason}")
    return second


def _repair(completion: Completion, unusable: _Unusable) -> list[ChatMessage]:
    said = completion.text[:SHOWN_CHARS] or completion.refusal[:SHOWN_CHARS]
    request = (
        f"That answer cannot be used: {unusable.reason} "
        "Answer again with the one JSON object that was asked for, and nothing else."
    )
    return [ChatMessage("assistant", said or "(nothing)"), ChatMessage("user", request)]


def _read(completion: Completion, answer_type: type[Answer]) -> "Answer | _Unusable":
    if completion.refusal:
        return _Unusable("refusal", f"The model refused: {completion.refusal[:200]}")
    if completion.finish_reason == "length":
        return _Unusable("truncated", "The answer was cut off before its end.")
    if completion.finish_reason == "content_filter":
        return _Unusable("refusal", "The endpoint's content filter cut the answer.")
    if not completion.text.strip():
        return _Unusable("empty", "The answer was empty.")
    if len(completion.text) > LONGEST_ANSWER:
        return _Unusable("wrong_shape", f"It is longer than {LONGEST_ANSWER:,} characters.")
    reason = ""
    for value in json_objects(completion.text):
        try:
            return answer_type.model_validate(value)
        except ValidationError as error:
            reason = reason or _first_error(error)
    if reason:
        return _Unusable("wrong_shape", f"Its JSON has another shape: {reason}.")
    return _Unusable("not_json", "It holds no JSON object.")


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects in a text, the outermost ones, in order: the text itself, or objects within prose or code fences.

    Their values are such as a database can hold. The search is given up where a text has many beginnings of objects
    and no end to them: every one of these could be read to the end of the text.
    """
    whole = text.strip()
    if whole.startswith("{") and whole.endswith("}"):
        try:
            value = parse(whole)
        except TextError:
            pass
        else:
            yield value
            return
    effort = SEARCH_CHARS + 10 * len(text)
    position = text.find("{")
    while position != -1 and effort > 0:
        try:
            value, end = decode_one(text, position)
        except TextError as error:
            effort -= max(TRY_CHARS, error.position - position)
            end = position + 1
        else:
            if isinstance(value, dict):
                yield value
        position = text.find("{", end)


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the object"
    return f"{place}: {first['msg']}"


@cache
def answer_schema(answer_type: type[BaseModel]) -> AnswerSchema:
    """The JSON schema of an answer type in the strict form: every property required, none beyond them."""
    return AnswerSchema(answer_type.__name__, _strict(answer_type.model_json_schema()))


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    # Names of properties are not keywords: a property may well be called "title".
    properties = {name: _strict(entry) for name, entry in schema.get("properties", {}).items()}
    strict = {key: _strict(value) for key, value in schema.items() if key not in ("title", "default", "properties")}
    if properties:
        strict |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    return strict
