"""The body of a chat answer, in all the shapes that endpoints really send, as one Completion.

What a choice says is read with leniency, since each oddity of one endpoint would else end every call there.
"""

import re
from typing import Any

import orjson

from combee_core.importers.json_text import TextError, clean_text, decode, parse
from combee_core.llm.base import Completion, Embedded
from combee_core.llm.failures import RequestFailed, said

# A count beyond is none: no request has so many tokens, and sums of such counts would not fit into the database.
ABSURD = 2**40
THOUGHTS = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
REASONING = ("reasoning_content", "reasoning")
SPOKEN = ("text", "output_text")


def completion_of(content: bytes, base_url: str, key: str) -> Completion:
    """Read an answer that came with status 200. Raises RequestFailed when it is none; `key` is kept out of that."""
    answer = _json_of(content, base_url, key)
    if not isinstance(answer, dict) or "choices" not in answer:
        raise _no_answer(answer, base_url, key)
    choice = _first(answer["choices"])
    message = _mapping(choice.get("message"))
    usage = _mapping(answer.get("usage"))
    return Completion(
        text=_spoken(message),
        finish_reason=_text(choice.get("finish_reason")) or "stop",
        refusal=_text(message.get("refusal")),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def embedded_of(content: bytes, texts: int, base_url: str, key: str) -> Embedded:
    """Read the embeddings of so many texts. Raises RequestFailed when they are not there; `key` is kept out of that."""
    answer = _json_of(content, base_url, key)
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise _no_answer(answer, base_url, key)
    told = [(_mapping(row).get("index"), _mapping(row).get("embedding")) for row in rows]
    by_index = {index if type(index) is int else place: vector for place, (index, vector) in enumerate(told)}
    vectors = [by_index.get(index) for index in range(texts)]
    if not all(map(_is_vector, vectors)) or len({len(vector or ()) for vector in vectors}) > 1:
        raise RequestFailed("wrong_shape", f"{base_url} answered with something else than a vector for each text.")
    usage = _mapping(answer.get("usage"))
    return Embedded([list(map(float, vector or ())) for vector in vectors], _count(usage.get("prompt_tokens")))


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(number) in (int, float) for number in value)


def _json_of(content: bytes, base_url: str, key: str) -> Any:
    try:
        return parse(content)
    except TextError as error:
        shown = said(clean_text(decode(content[:1000])), key) or "nothing"
        raise RequestFailed("not_json", f"{base_url} answered no JSON: {shown}", passing=True) from error


def _no_answer(answer: Any, base_url: str, key: str) -> RequestFailed:
    """Gateways wrap the failure of what is behind them into an answer with status 200."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not error:
        return RequestFailed("not_json", f"{base_url} answered, but not as an OpenAI-compatible endpoint does.")
    told = said(_text(_mapping(error).get("message")) or _as_text(error), key)
    if _mapping(error).get("code") == 429:
        return RequestFailed("rate_limited", f"{base_url} has too many requests: {told}", passing=True)
    return RequestFailed("server_error", f"{base_url} answered with an error: {told}", passing=True)


def _spoken(message: dict[str, Any]) -> str:
    """What the model says; where all of an answer has gone into the reasoning, as some servers have it, that."""
    text = THOUGHTS.sub("", _content(message.get("content")), count=1)
    if text.strip():
        return clean_text(text)
    thought = (_text(message.get(name)).strip() for name in REASONING)
    return clean_text(next((whole for whole in thought if whole.startswith("{")), ""))


def _content(content: Any) -> str:
    if isinstance(content, list):
        return "".join(_part(part) for part in content)
    return "" if content is None else _as_text(content)


def _part(part: Any) -> str:
    if isinstance(part, dict):
        return _text(part.get("text")) if part.get("type", "text") in SPOKEN else ""
    return _text(part)


def _first(choices: Any) -> dict[str, Any]:
    return _mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _count(value: Any) -> int:
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < ABSURD:
        return 0
    return int(value)
