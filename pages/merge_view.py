"""What one iteration's merge tree did with its lessons, ready to be drawn: squares, merges, counts and their words.

Pure: built from the planned and stored nodes of one iteration; asks no workspace and draws nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from combee_core.engine.fates import ORDER, CopyFate, Fate, LessonFate, copy_fates, final_fate, lesson_fates
from combee_core.store.database import Row
from pages.numbers import counted

Found = Mapping[tuple[str, str], Fate]
"""Fates by reflection and by the merge that read the copy."""

GONE: tuple[Fate, ...] = ("lost_above", "dropped")


@dataclass(frozen=True)
class Given:
    """One item that a merge was given: a lesson or an operation of the node `source`."""

    id: str
    text: str
    source: str


@dataclass(frozen=True)
class End:
    """What became of one operation of a merge: its fate, the bullets it stands behind, and why it was not applied."""

    fate: Fate
    bullets: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class MergeView:
    """One iteration. `nodes` are all of the plan in plan order; one still to come has the state `waiting`."""

    nodes: Mapping[str, Row]

    @cached_property
    def settled(self) -> list[Row]:
        """Nodes that say something: a call that was cancelled, or is to be tried again, has no output."""
        failed = [
            node["id"] for node in self.nodes.values() if node["kind"] == "reflection" and node["state"] == "failed"
        ]
        return [node for node in self.nodes.values() if node["output"] or node["id"] in failed]

    @cached_property
    def lessons(self) -> list[LessonFate]:
        """Every lesson so far, in plan order."""
        return lesson_fates(self.settled)

    @cached_property
    def of_reflection(self) -> Mapping[str, list[LessonFate]]:
        """Lessons by reflection."""
        found: dict[str, list[LessonFate]] = defaultdict(list)
        for lesson in self.lessons:
            found[lesson.reflection].append(lesson)
        return found

    @cached_property
    def by_id(self) -> Mapping[str, LessonFate]:
        """Lessons by id."""
        return {lesson.id: lesson for lesson in self.lessons}

    @cached_property
    def copies(self) -> Mapping[str, list[CopyFate]]:
        """The reflection copies that each merge reads, also those that wait for it."""
        known = {(copy.merge, copy.reflection): copy for copy in copy_fates(self.settled)}
        found: dict[str, list[CopyFate]] = defaultdict(list)
        for merge in self.merges:
            for name in merge["inputs"]:
                if self.nodes[name]["kind"] == "reflection":
                    found[merge["id"]].append(known.get((merge["id"], name)) or self._waiting(name, merge["id"]))
        return found

    def _waiting(self, reflection: str, merge: str) -> CopyFate:
        node = self.nodes[reflection]
        fate: Fate = "failed" if node["state"] == "failed" else "waiting"
        return CopyFate(reflection, merge, node["trace"], fate, len(self.of_reflection.get(reflection, ())), 0)

    @cached_property
    def merges(self) -> list[Row]:
        """Group merges of all levels and the final merge, in plan order."""
        return [node for node in self.nodes.values() if node["kind"] != "reflection"]

    @cached_property
    def final(self) -> Row:
        """The final merge."""
        return self.merges[-1]

    @cached_property
    def reader(self) -> Mapping[str, str]:
        """The merge that reads each group merge."""
        return {name: merge["id"] for merge in self.merges for name in merge["inputs"]}

    @cached_property
    def _readers(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for merge, copies in self.copies.items():
            for copy in copies:
                found[copy.reflection].append(merge)
        return found

    def readers(self, reflection: str) -> list[str]:
        """The merges that got a copy of a reflection."""
        return self._readers.get(reflection, [])

    def name(self, node: str) -> str:
        """What people call a node: "Reflection 12", "Group 3, part 2", "Merge 2 of level 2", "Final merge"."""
        whole, _, part = node.partition("p")
        return f"{self._name(node)}, part {part}" if whole.startswith("i") and part.isdecimal() else self._name(node)

    def _name(self, node: str) -> str:
        row = self.nodes[node]
        if row["kind"] == "final":
            return "Final merge"
        if row["kind"] == "reflection":
            return f"Reflection {row['place'] + 1}"
        if row["kind"] == "merge" and row["level"] == 1:
            return f"Group {row['place'] + 1}"
        what = f"{row['kind'].capitalize()} {row['place'] + 1}"
        return what if row["level"] == 1 else f"{what} of level {row['level']}"

    def share(self, merge: str) -> float:
        """Share of the lessons under a merge that reached the prompt; 0 while that is not known."""
        copies = self._copies_under(merge)
        lessons = sum(copy.lessons for copy in copies)
        return self.through(merge) / lessons if lessons else 0.0

    def through(self, merge: str) -> int:
        """How many lessons reached the prompt through a merge."""
        return sum(copy.in_prompt for copy in self._copies_under(merge))

    def _copies_under(self, merge: str) -> list[CopyFate]:
        below = [name for name in self.nodes[merge]["inputs"] if self.nodes[name]["kind"] != "reflection"]
        return [*self.copies.get(merge, ()), *(copy for name in below for copy in self._copies_under(name))]

    def came_in(self, merge: str) -> list[Given]:
        """Items that a merge was given, in the order of its inputs."""
        items = []
        for name in self.nodes[merge]["inputs"]:
            output = self.nodes[name]["output"]
            items += [Given(lesson["id"], lesson["text"], name) for lesson in output.get("lessons", ())]
            items += [Given(row["id"], row["content"], name) for row in output.get("operations", ())]
        return items

    def lessons_under(self, operation: Row) -> list[LessonFate]:
        """The lessons that an operation stands for, each once."""
        found: dict[str, LessonFate] = {}
        for item in operation["sources"]:
            if item in self.by_id:
                found[item] = self.by_id[item]
            elif item in self._operations:
                found |= {lesson.id: lesson for lesson in self.lessons_under(self._operations[item])}
        return list(found.values())

    @cached_property
    def _operations(self) -> Mapping[str, Row]:
        return {row["id"]: row for merge in self.merges for row in merge["output"].get("operations", ())}

    def end(self, merge: str, operation: Row) -> End:
        """What became of an operation that a merge put out."""
        if merge == self.final["id"]:
            landed = (str(operation["bullet"]),) if operation.get("bullet") else ()
            return End(final_fate(operation), landed, operation.get("rejected", ""))
        above = self.nodes[self.reader[merge]]
        if not above["output"]:
            return End("waiting")
        ends = [
            self.end(above["id"], row) for row in above["output"]["operations"] if operation["id"] in row["sources"]
        ]
        best = min(ends, key=lambda end: ORDER.index(end.fate), default=End("lost_above"))
        bullets = tuple(dict.fromkeys(bullet for end in ends for bullet in end.bullets))
        return End(best.fate, bullets, best.reason)

    def search(self, text: str, only_dropped: bool) -> list[LessonFate]:
        """Lessons whose text holds every word of `text`; on demand only those that did not reach the prompt."""
        words = text.casefold().split()
        return [
            lesson
            for lesson in self.lessons
            if (not only_dropped or lesson.fate in GONE) and all(word in lesson.text.casefold() for word in words)
        ]

    def counts(self) -> Counter[Fate]:
        """Lessons by fate."""
        return Counter(lesson.fate for lesson in self.lessons)

    def bullets(self) -> set[str]:
        """Bullets that lessons of this iteration stand behind."""
        return {bullet for lesson in self.lessons for bullet in lesson.bullets}


def in_words(view: MergeView, live: bool) -> list[tuple[Fate, str]]:
    """The legend: how many lessons met which fate; fates that none met are left out."""
    counts, bullets = view.counts(), len(view.bullets())
    deep = view.final["level"] > 2
    through = f" through {counted(bullets, 'bullet')}" if bullets else ""
    words: dict[Fate, str] = {
        "in_prompt": f"in the prompt{through}",
        "held": "held back for the review",
        "late": "came late and joined the next batch",
        "lost_above": "lost above their group" if deep else "lost at the final merge",
        "dropped": _dropped_by(view),
        "waiting": "waiting to be merged" if live else "not merged",
    }
    parts = [(fate, f"{counts[fate]:,} {word}") for fate, word in words.items() if counts[fate]]
    failed = sum(node["kind"] == "reflection" and node["state"] == "failed" for node in view.nodes.values())
    return [*parts, ("failed", f"{counted(failed, 'reflection')} failed")] if failed else parts


def notes(node: Row) -> list[str]:
    """What did not go straight at a call: tries in vain, a fallback, a second question, repaired citations."""
    operations = node["output"].get("operations", ())
    counts = {
        "try in vain": node["failed_attempts"],
        "citation recovered": sum(bool(row.get("recovered")) for row in operations),
        "operation held back": sum("held" in row for row in operations),
        "contradiction": len(node["output"].get("contradictions", ())),
    }
    plurals = {
        "try in vain": "tries in vain",
        "citation recovered": "citations recovered",
        "operation held back": "operations held back",
        "contradiction": "contradictions",
    }
    words = ["passed on unmerged"] if node["state"] == "carried" else []
    words += [taken_over(node)] if node["output"].get("adopted") else []
    words += ["hedged"] if node["output"].get("hedged") else []
    words += ["asked twice"] if node["output"].get("rechecked") else []
    return words + [f"{count:,} {word if count == 1 else plurals[word]}" for word, count in counts.items() if count]


def taken_over(node: Row) -> str:
    """Where a reflection comes from that an iteration has taken over from an earlier one."""
    iteration, _, number = node["output"]["adopted"].removeprefix("i").partition(".r")
    why = "second chance" if node["output"]["second_chance"] else "late"
    return f"{why}: from reflection {number} of iteration {iteration}"


def _dropped_by(view: MergeView) -> str:
    """Who dropped a lesson that did not get past the first step that read it."""
    kind = view.merges[0]["kind"]
    by = {"merge": "a group", "final": "the final merge", "selection": "the selection", "summary": "a summary"}
    return f"dropped by {by[kind]}"


def lesson_end(view: MergeView, lesson: LessonFate) -> list[str]:
    """What became of each copy of a lesson, a sentence a group: "Group 3 kept it, the final merge did not"."""
    if lesson.fate == "late":
        return ["Too late for its groups: it joined the next batch"]
    sentences = []
    for merge, fate in lesson.by_group.items():
        name = view.name(merge)
        direct = merge == view.final["id"]
        if fate == "in_prompt":
            sentences.append(f"{name} took it up" if direct else f"{name} passed it up, and it reached the prompt")
        elif fate == "held":
            way = "wrote it" if direct else "passed it up"
            sentences.append(f"{name} {way}, and it waits for the review: too few traces stand behind it")
        elif fate == "lost_above":
            sentences.append(f"{name} passed it up, and it was lost at the {_above(view, merge)}")
        elif fate == "waiting":
            sentences.append(f"{name} passed it up")
        else:
            sentences.append(f"{name} dropped it: no operation cites it")
    waiting = [view.name(merge) for merge in view.readers(lesson.reflection) if merge not in lesson.by_group]
    return [*sentences, *(f"{name} has not read it" for name in waiting)]


def _above(view: MergeView, merge: str) -> str:
    direct = view.reader[merge] == view.final["id"]
    return "final merge" if direct else "levels above"


def fates_of(view: MergeView, lessons: Iterable[LessonFate]) -> Found:
    """What became, copy by copy, of these lessons alone; a copy without any of them is left out."""
    found: dict[tuple[str, str], Fate] = {}
    for lesson in lessons:
        for merge in view.readers(lesson.reflection):
            fate = lesson.by_group.get(merge, "waiting")
            key = (lesson.reflection, merge)
            found[key] = min(found.get(key, fate), fate, key=ORDER.index)
    return found
