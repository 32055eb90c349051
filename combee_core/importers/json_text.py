"""JSON as people's files really have it: text in, plain values out that every store can hold.

Fast where the text is strict JSON, tolerant where it is not: NaN and infinities become null, integers beyond 64 bits
become text, lone surrogates and NUL characters become U+FFFD, the last of repeated keys wins, control characters inside
strings pass. It knows no format.
"""

import json
import math
import re
from typing import Any

import orjson

EXCERPT = 500
_DEEP = 50_000

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PYTHON_TOKEN = re.compile(r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|\s+|\w+|[^\w'"]""", re.DOTALL)
_PYTHON_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "NaN", "inf": "Infinity", "(": "[", ")": "]"}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "\n": "",
}
_CLOSING = ("]", "}", ")")
_NUL_ESCAPE = b"\\u0000"


class TextError(ValueError):
    """Text that is no JSON: why in a few words, up to where it was read, whether it ends in the middle of a value."""

    def __init__(self, reason: str, position: int, cut_off: bool = False) -> None:
        super().__init__(reason)
        self.position = position
        self.cut_off = cut_off


def clean_text(text: str) -> str:
    """The text without characters that no database and no UTF-8 encoder takes: U+FFFD stands for each of them."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def decode(data: bytes) -> str:
    """UTF-8, or cp1252 where the bytes are not UTF-8 (one wrong line costs only itself when lines come one by one)."""
    for encoding, errors in (("utf-8", "strict"), ("utf-8", "surrogatepass")):
        try:
            return data.decode(encoding, errors)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")


def excerpt_of(raw: bytes) -> str:
    """The first 500 characters, storable."""
    return clean_text(decode(raw[: 4 * EXCERPT + 8])[:EXCERPT])


def parse(data: bytes | str) -> Any:
    """The value that the text holds. Raises TextError."""
    try:
        value = orjson.loads(data)
    except ValueError:
        return _tolerant(data)
    nul = _NUL_ESCAPE in data if isinstance(data, bytes) else "\\u0000" in data
    return _tolerant(data) if nul or _lost_digits(value) else value


def parse_embedded(text: str) -> Any:
    """What a text cell holds when it holds JSON (also encoded twice) or a Python literal; else the text itself."""
    value: Any = text
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            value = parse(value)
        except TextError:
            return _python_literal(value)
    return value


def decode_one(text: str, start: int) -> tuple[Any, int]:
    """The value that starts at `start` and the position after it. Raises TextError."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        return clean(value), end
    except json.JSONDecodeError as error:
        raise _text_error(error) from None
    except RecursionError:
        raise TextError("nested too deeply", _DEEP) from None


def clean(value: Any) -> Any:
    """The same value with storable text, keys and numbers only. Raises RecursionError beyond Python's own depth."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key) if isinstance(key, str) else str(key): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [clean(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    return clean_text(decode(value) if isinstance(value, bytes) else str(value))


def _tolerant(data: bytes | str) -> Any:
    text = decode(data) if isinstance(data, bytes) else data
    try:
        return clean(_DECODER.decode(text))
    except json.JSONDecodeError as error:
        raise _text_error(error) from None
    except RecursionError:
        raise TextError("nested too deeply", _DEEP) from None


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= 20 else digits


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(strict=False, parse_int=_whole_number, parse_float=_finite, parse_constant=lambda _: None)


def _lost_digits(value: Any) -> bool:
    """Whether a top-level field is an integer beyond 64 bits: orjson makes a float of it, and an id loses digits."""
    if isinstance(value, dict):
        for item in value.values():
            if type(item) is float and not -(2.0**63) < item < 2.0**63:
                return True
    return False


def _is_cut_off(error: json.JSONDecodeError) -> bool:
    if error.msg.startswith("Unterminated string"):
        return True
    return not error.doc[error.pos :].strip() and error.msg != "Extra data"


def _text_error(error: json.JSONDecodeError) -> TextError:
    if _is_cut_off(error):
        return TextError("cut off in the middle of a value", len(error.doc), cut_off=True)
    reason = f"not valid JSON ({error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1})"
    return TextError(reason, error.pos)


def _python_literal(text: str) -> Any:
    """Lists and dicts as Python prints them, turned into JSON token by token; nothing of it is ever evaluated."""
    tokens: list[str] = []
    try:
        for token in _PYTHON_TOKEN.findall(text):
            if token in _CLOSING and tokens and tokens[-1] == ",":
                tokens.pop()
            if not token.isspace():
                tokens.append(_as_json(token))
        return _tolerant("".join(tokens))
    except (TextError, ValueError, SyntaxError):
        return text


def _as_json(token: str) -> str:
    if token[0] in "'\"":
        inner = token[1:-1]
        return json.dumps(_ESCAPE.sub(_unescaped, inner) if "\\" in inner else inner)
    return _PYTHON_WORDS.get(token, token)


def _unescaped(escape: re.Match[str]) -> str:
    """The character that a Python escape stands for; unknown ones stay as they are."""
    code = escape.group(1)
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "\N{REPLACEMENT CHARACTER}"
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPES.get(code, escape.group())
