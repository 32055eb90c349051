"""Lessons, operations and legends of a merge tree as HTML; every text of traces and models in it is escaped.

Pure functions: what they show is in a MergeView. Links open beside the page, so that the reader keeps the place.
"""

from collections.abc import Sequence
from html import escape

from combee_core.engine.fates import Fate
from combee_core.engine.tree import took_effect
from combee_core.store.database import Row
from pages.diff_view import visible
from pages.evidence_view import page_link
from pages.fate_style import LOOKS, swatch
from pages.merge_view import End, Given, MergeView, in_words, lesson_end
from pages.numbers import counted

MOST_SHOWN = 200
"""Items listed at once; the table beneath the figure has them all."""


def legend_html(view: MergeView, live: bool) -> str:
    """ "212 lessons: 148 in the prompt through 31 bullets, 40 lost at the final merge, …", each with its mark."""
    parts = in_words(view, live)
    head = f"<strong>{counted(len(view.lessons), 'lesson')}{':' if parts else ''}</strong>"
    spans = "".join(f"<span>{swatch(LOOKS[fate])}{escape(words)}</span>" for fate, words in parts)
    return f'<div class="cb-legend">{head}{spans}</div>'


def lessons_html(view: MergeView, reflection: str, version: str | None) -> str:
    """What a reflection has found: each lesson, the passage it rests on, and what became of its copies."""
    kept = {lesson["id"]: lesson for lesson in view.nodes[reflection]["output"].get("lessons", ())}
    items = []
    for lesson in view.of_reflection.get(reflection, ()):
        passage = visible(kept[lesson.id].get("evidence", ""))
        quote = f'<div class="cb-item-quote">{passage}</div>' if passage else ""
        ends = "".join(_note(escape(sentence)) for sentence in lesson_end(view, lesson))
        bullets = _note(f"Bullet {_bullets(lesson.bullets, version)}") if lesson.bullets else ""
        items.append(_item(lesson.fate, visible(lesson.text), quote + bullets + ends))
    return _list(items)


def operations_html(view: MergeView, merge: str, version: str | None) -> str:
    """What a merge put out: each operation, what it comes from, and what became of it."""
    rows = view.nodes[merge]["output"].get("operations", ())
    return _list([_operation(view, merge, row, version) for row in rows])


def came_in_html(view: MergeView, merge: str, only_dropped: bool = False) -> str:
    """What a merge was given, with what it did with each item; on demand only what no operation cites."""
    dropped = set(view.nodes[merge]["output"].get("dropped", ()))
    given = [item for item in view.came_in(merge) if not only_dropped or item.id in dropped]
    items = [_given(view, merge, item) for item in given[:MOST_SHOWN]]
    more = len(given) - MOST_SHOWN
    return _list([*items, _item(None, f"… and {more:,} more", "")] if more > 0 else items)


def contradictions_html(view: MergeView, merge: str) -> str:
    """What a merge has reported as contradicting each other: the texts of each, and what they disagree on."""
    texts = {item.id: item.text for item in view.came_in(merge)}
    items = []
    for row in view.nodes[merge]["output"].get("contradictions", ()):
        sides = [*(texts.get(source, source) for source in row["sources"]), *row["bullets"]]
        notes = [_note(f"About {visible(row['about'])}")] if row["about"] else []
        items.append(_item(None, '<br><span class="cb-kind">against</span> '.join(map(visible, sides)), "".join(notes)))
    return _list(items)


def item_fate(view: MergeView, merge: str, item: str) -> Fate:
    """What became, in this merge and above, of an item that it was given."""
    output = view.nodes[merge]["output"]
    if not output:
        return "waiting"
    ends = [view.end(merge, row).fate for row in output["operations"] if item in row["sources"]]
    return min(ends, key=list(LOOKS).index, default="dropped")


def fresh_html(texts: Sequence[str]) -> str:
    """The newest lessons of a run, newest first."""
    return _list([_item(None, visible(text), "") for text in reversed(texts)])


def _operation(view: MergeView, merge: str, row: Row, version: str | None) -> str:
    end = view.end(merge, row)
    edits = f" {', '.join(row['bullets'])}" if row["bullets"] else ""
    kind = f'<span class="cb-kind">{escape(row["kind"] + edits)}</span>'
    lessons = view.lessons_under(row)
    came = f"{counted(len(lessons), 'lesson')} of {counted(len({lesson.trace for lesson in lessons}), 'trace')}"
    section = f" · {visible(row['section'])}" if row["section"] else ""
    notes = [f"From {came}{section}", _ending(view, merge, row, end, version)]
    if row.get("carried"):
        notes.append("Passed on as it was: the merge said nothing of it")
    if row.get("recovered"):
        notes.append("It cited nothing that it was given: these were found by its text")
    if row.get("invented"):
        notes.append(f"It also cited {escape(', '.join(row['invented']))}, which it was not given")
    return _item(end.fate, kind + (visible(row["content"]) or "(removes the bullet)"), "".join(map(_note, notes)))


def _ending(view: MergeView, merge: str, row: Row, end: End, version: str | None) -> str:
    """One sentence on where an operation landed."""
    if end.fate == "held":
        return "Held back for the review: too few traces stand behind it"
    if merge == view.final["id"]:
        if end.reason:
            into = f", so its lessons count for bullet {_bullets(end.bullets, version)}" if took_effect(row) else ""
            return f"Not applied: {visible(end.reason)}{into}"
        gone = ", ".join(row.get("removed", ()))
        done = f"Bullet {_bullets(end.bullets, version)}" if end.bullets else ""
        return " · ".join(part for part in (done, f"removed {escape(gone)}" if gone else "") if part) or "Applied"
    if end.fate == "waiting":
        return f"Waits for the {_lower(view.name(view.reader[merge]))}"
    if end.fate == "in_prompt":
        return f"In the prompt: {_bullets(end.bullets, version)}" if end.bullets else "It took effect in the prompt"
    return f"Not applied: {visible(end.reason)}" if end.reason else "Lost above: no operation cites it"


def _given(view: MergeView, merge: str, item: Given) -> str:
    output = view.nodes[merge]["output"]
    cited = [number for number, row in enumerate(output.get("operations", ()), 1) if item.id in row["sources"]]
    taken = f"taken up by operation {', '.join(map(str, cited))}" if cited else "no operation cites it"
    note = _note(escape(view.name(item.source)) + (f" · {taken}" if output else ""))
    return _item(item_fate(view, merge, item.id), visible(item.text), note)


def _bullets(bullets: Sequence[str], version: str | None) -> str:
    """Ids of bullets; they lead to the version that holds them, once there is one."""
    if version is None:
        return ", ".join(f"<code>{escape(bullet)}</code>" for bullet in bullets)
    return ", ".join(page_link("prompts", bullet, version=version) for bullet in bullets)


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def _item(fate: Fate | None, text: str, notes: str) -> str:
    sign = swatch(LOOKS[fate]) if fate else ""
    body = f'<div class="cb-item-text" dir="auto">{text}</div>{notes}'
    return f'<div class="cb-item"><div>{sign}</div><div>{body}</div></div>'


def _note(html: str) -> str:
    return f'<div class="cb-item-note">{html}</div>'


def _list(items: Sequence[str]) -> str:
    return f'<div class="cb-items">{"".join(items)}</div>' if items else ""
