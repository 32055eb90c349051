"""Traces in HTML: outcome chips, facts, receipts, rejects and lessons; every text of files and traces in it is escaped.

Pure functions, which draw nothing themselves.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from combee_core.engine.lessons import Learnt
from combee_core.trace import Outcome, Trace
from combee_core.workspace import FileReport
from pages.diff_view import visible
from pages.evidence_view import page_link
from pages.fate_style import LOOKS, swatch
from pages.numbers import counted

SKIPPED_SHOWN = 200
_UNKNOWN_TABLE = "It is a table whose columns Combee does not know: say below what they mean."

_OUTCOMES = {True: ("✓", "success"), False: ("✕", "failure"), None: ("–", "unknown")}


def outcome_text(success: bool | None, score: float | None = None) -> str:
    """ "✓ success · 0.85"; the score only where there is one."""
    return " ".join(_OUTCOMES[success]) + (f" · {score:g}" if score is not None else "")


def outcome_html(outcome: Outcome) -> str:
    """The chip of an outcome, with its score."""
    kind = _OUTCOMES[outcome.success][1]
    return f'<span class="cb-chip cb-{kind}">{outcome_text(outcome.success, outcome.score)}</span>'


def facts_html(trace: Trace, tags: Sequence[str] = ()) -> str:
    """One line on a trace: outcome, tags, every named score, steps, format, where it was read, its id."""
    scores = [f"{visible(name)} {value:g}" for name, value in trace.outcome.scores.items()]
    facts = [counted(trace.steps, "step"), trace.source.format, str(trace.source), trace.id]
    spans = "".join(f"<span>{fact}</span>" for fact in [*scores, *map(visible, facts)])
    chips = "".join(f'<span class="cb-chip cb-tag">{visible(tag)}</span>' for tag in tags)
    return f'<div class="cb-facts">{outcome_html(trace.outcome)}{chips}{spans}</div>'


def receipts_html(files: Sequence[FileReport]) -> str:
    """What became of each file, a row each, trouble first; files that hold no traces by their nature are folded.

    A row says the format and why it was recognised, or why the file could not be read.
    """
    read = sorted(
        (file for file in files if file.skipped is None), key=lambda file: (file.format is not None, not file.rejected)
    )
    skipped = [file for file in files if file.skipped is not None]
    rows = f'<div class="cb-receipts">{"".join(map(_receipt, read))}</div>' if read else ""
    return rows + (_skipped_html(skipped) if skipped else "")


def _skipped_html(files: Sequence[FileReport]) -> str:
    rows = "".join(
        f'<div class="cb-file">– {visible(file.path)}</div>'
        f'<div class="cb-why cb-wide">{visible(file.skipped or "")}</div>'
        for file in files[:SKIPPED_SHOWN]
    )
    more = len(files) - SKIPPED_SHOWN
    rest = f'<div class="cb-why">and {more:,} more</div>' if more > 0 else ""
    hold = "holds" if len(files) == 1 else "hold"
    return (
        f'<details class="cb-skipped"><summary>{counted(len(files), "file")} that {hold} no traces</summary>'
        f'<div class="cb-receipts">{rows}{rest}</div></details>'
    )


def _receipt(file: FileReport) -> str:
    name = f'<div class="cb-file">{"✓" if file.traces else "✕"} {visible(file.path)}</div>'
    if file.format is None:
        why = _UNKNOWN_TABLE if file.columns else file.reason
        return f'{name}<div class="cb-why cb-wide">{visible(why)}</div>'
    counts = [counted(file.new, "new trace")]
    if file.duplicates:
        counts.append(counted(file.duplicates, "duplicate"))
    if file.rejected:
        label = f"{file.rejected:,} rejected"
        counts.append(page_link("traces", label, view="rejects", **{"import": file.import_id or 0}))
    spans = "".join(f"<span>{count}</span>" for count in counts)
    why = f"Read as {escape(file.format)}: {visible(file.reason)}"
    return f'{name}<div class="cb-facts">{spans}</div><div class="cb-why">{why}</div>'


def rejects_html(rejects: Sequence[Mapping[str, Any]]) -> str:
    """Records that could not be read: where, why, and how they begin."""
    return f'<div class="cb-rejects">{"".join(map(_reject, rejects))}</div>'


def _reject(row: Mapping[str, Any]) -> str:
    excerpt = f"<pre>{visible(row['excerpt'])}</pre>" if row["excerpt"] else ""
    where = f"<strong>{visible(row['file'])}</strong><span>{place_of(row)}</span>"
    return f'<div><div class="cb-facts">{where}</div><div class="cb-why">{visible(row["reason"])}</div>{excerpt}</div>'


def place_of(row: Mapping[str, Any]) -> str:
    """ "line 3", "record 4" or "the whole file": lines and records both count from 1 for people."""
    if row["line"] is not None:
        return f"line {row['line']:,}"
    return f"record {row['record'] + 1:,}" if row["record"] is not None else "the whole file"


def lessons_html(lessons: Sequence[Learnt]) -> str:
    """What runs have learnt from a trace, run by run, with links to the merge tree and to the bullets."""
    parts = []
    for _, group in groupby(lessons, key=lambda lesson: (lesson.run, lesson.iteration)):
        of_run = list(group)
        parts.append(f'<div class="cb-facts">{_run_line(of_run[0])}</div>')
        parts += [_lesson(lesson) for lesson in of_run]
    return "".join(parts)


def _run_line(lesson: Learnt) -> str:
    where = {"run": lesson.run, "iteration": lesson.iteration, "node": lesson.reflection}
    tree = page_link("merges", "See it in the merge tree", **where)
    return f"<span>{escape(lesson.run)}, iteration {lesson.iteration}, for {escape(lesson.prompt)}</span>{tree}"


def _lesson(lesson: Learnt) -> str:
    look = LOOKS[lesson.fate]
    note = escape(look.words)
    if lesson.bullets and lesson.version:
        links = (page_link("prompts", bullet, version=lesson.version) for bullet in lesson.bullets)
        note += f" of {escape(lesson.version)}: {', '.join(links)}"
    return (
        f'<div class="cb-learnt"><div>{swatch(look)}</div><div class="cb-prose" dir="auto">{visible(lesson.text)}</div>'
        f'<div></div><div class="cb-why">{note}</div></div>'
    )
