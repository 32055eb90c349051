"""What can still be read of text that is no single JSON value: values one after the other, a list that is cut off,
lines of which some are broken, stray text in front. It knows no trace format and no file.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from combee_core.importers.base import Record
from combee_core.importers.json_text import EXCERPT, TextError, clean_text, decode_one

CUT_LAST_LINE = "The last line is cut off in the middle of a record: the file was not written or copied to its end."
CUT_FILE = "The file is cut off in the middle of this record: it was not written or copied to its end."
_STRAY = 40
_GAPS = " \t\r\n,"
_LEAST_WORK, _WORK_PER_CHARACTER = 5_000_000, 20


@dataclass(frozen=True, slots=True)
class BadText:
    """Text that is no JSON value: where, why, and its first 500 characters."""

    line: int | None
    index: int | None
    reason: str
    excerpt: str


def bad_text(text: str, line: int, error: TextError, is_end: bool, index: int | None = None) -> BadText:
    """The note on a text that is no value; `is_end` says that the file ends with it."""
    reason = f"It is {error}."
    if error.cut_off and is_end:
        is_last_line = index is None and line > 1 and "\n" not in text.strip()
        reason = CUT_LAST_LINE if is_last_line else CUT_FILE
    return BadText(line, index, reason, clean_text(text[:EXCERPT]))


def salvage(
    text: str, first_line: int = 1, is_end: bool = True, offset: int | None = None
) -> Iterator[Record | BadText]:
    """The values in a text, and a note for each stretch that is none. `is_end` says that the file ends with it.

    `offset` is the byte of the file where the text starts, None where the file has other bytes than the text in UTF-8.
    """
    yield from _Salvage(text, first_line, is_end, offset).run()


class _Salvage:
    def __init__(self, text: str, first_line: int, is_end: bool, offset: int | None) -> None:
        self._text = text
        self._is_end = is_end
        self._line, self._counted, self._offset = first_line, 0, offset
        self._in_list = False
        self._index = 0
        self._work = _LEAST_WORK + _WORK_PER_CHARACTER * len(text)

    def run(self) -> Iterator[Record | BadText]:
        position = self._next_filled(0)
        column = self._column(position)
        while position < len(self._text) and self._work > 0:
            if self._in_list and self._text[position] == "]":
                self._in_list, position = False, self._next_filled(position + 1)
                continue
            try:
                value, end = decode_one(self._text, position)
                if not isinstance(value, dict | list | str):
                    raise TextError("neither an object nor a list", end)
            except TextError as error:
                self._work -= error.position - position
                if self._text[position] == "[" and not self._in_list:
                    self._in_list, self._index, position = True, 0, self._next_filled(position + 1)
                    column = self._column(position)
                    continue
                if (stray := self._after_stray_text(position)) is not None:
                    position = stray
                    continue
                resumed = self._resume(position, column)
                yield self._bad(position, error, resumed)
                position = resumed
            else:
                self._work -= end - position
                yield self._record(value, position, end)
                position = self._next_filled(end)

    def _record(self, value: object, position: int, end: int) -> Record:
        raw = self._text[position : position + EXCERPT].encode("utf-8", "replace")
        self._index += 1
        index = self._index - 1 if self._in_list else None
        line = self._line_at(position)
        length = None if self._offset is None else len(self._text[position:end].encode())
        return Record(value, line, index, raw, self._offset, length)

    def _bad(self, position: int, error: TextError, resumed: int) -> BadText:
        at_end = self._is_end and resumed >= len(self._text)
        index = self._index if self._in_list else None
        return bad_text(self._text[position:] if at_end else self._text[position : position + EXCERPT],
                        self._line_at(position), error, at_end, index)  # fmt: skip

    def _after_stray_text(self, position: int) -> int | None:
        """Where an object starts on a line that begins with a few characters of something else."""
        if self._column(position) > 0 or self._text[position] in "{[":
            return None
        brace = self._text.find("{", position + 1, position + _STRAY)
        line_end = self._text.find("\n", position)
        return brace if brace > 0 and not 0 <= line_end < brace else None

    def _resume(self, position: int, column: int) -> int:
        """Where the next value may start: on a line of its own, as far to the right as the first value."""
        line_end = self._text.find("\n", position)
        while line_end >= 0:
            start = self._next_filled(line_end + 1)
            if self._text[start : start + 1] in ("{", "[") and self._column(start) == column:
                return start
            line_end = self._text.find("\n", start)
        return len(self._text)

    def _next_filled(self, position: int) -> int:
        while position < len(self._text) and self._text[position] in _GAPS:
            position += 1
        return position

    def _column(self, position: int) -> int:
        return position - (self._text.rfind("\n", 0, position) + 1)

    def _line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._counted, position)
        if self._offset is not None:
            self._offset += len(self._text[self._counted : position].encode())
        self._counted = position
        return self._line
