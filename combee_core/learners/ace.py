"""The ACE learner: a language model reflects on traces and curates the playbook (ACE; paper section on ACE + Combee).

The instructions are files of this package, one a version; text of traces and items reaches the model fenced as data.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.json_schema import SkipJsonSchema

from combee_core.lesson import Item, Lesson, Reflection
from combee_core.llm.base import CallFailed, ChatModel, Meter
from combee_core.llm.structured import ask
from combee_core.playbook import DEFAULT_SECTION, Contradiction, Merged, Operation, Playbook, render, section_name
from combee_core.specificity import exact_terms
from combee_core.trace import Message, Trace

# A version that has landed is never edited: runs on record were made with it.
INSTRUCTIONS = {"reflect": "v1", "merge": "v5", "merge-first": "v3", "merge-again": "v2", "summarise": "v1"}

# A tool that prints a whole log would fill the context with what no lesson needs: head and tail tell what happened.
MESSAGE_CHARS = 6_000
TRACE_CHARS = 60_000


class Written(BaseModel):
    """What a model writes: a number where a text belongs is no reason to ask again."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


class LessonAnswer(Written):
    """One lesson as the model writes it."""

    lesson: str
    evidence: str = ""
    section: str = ""


class TagAnswer(Written):
    """How one playbook bullet bore on the run."""

    id: str
    tag: Literal["helpful", "harmful", "neutral"]


class ReflectionAnswer(Written):
    """What the model answers when asked to reflect."""

    reasoning: str = ""
    lessons: list[LessonAnswer]
    bullet_tags: list[TagAnswer] = []


class OfAnItem(Written):
    """What a model writes about one item.

    The item comes first: who has named one writes about it, and then about the next. Asked for all sources at once, a
    small model names every item there is and writes of one.
    """

    item: str

    @model_validator(mode="before")
    @classmethod
    def _without_an_item(cls, values: Any) -> Any:
        """Models that do not hold to the schema may name their sources alone."""
        return {"item": ""} | values if isinstance(values, dict) and "sources" in values else values


class AdditionAnswer(OfAnItem):
    """One new bullet as the model writes it; asked for no section, it gets that of its items."""

    content: str = ""
    sources: list[str] = []
    section: SkipJsonSchema[str] = ""


class OperationAnswer(OfAnItem):
    """One edit of a playbook as the model writes it."""

    type: Literal["ADD", "UPDATE", "MERGE", "DELETE"] = "ADD"
    bullets: list[str] = []
    section: str = ""
    content: str = ""
    sources: list[str] = []


class ContradictionAnswer(BaseModel):
    """Items that cannot all hold as the model writes them."""

    sources: list[str] = []
    bullets: list[str] = []
    about: str = ""


class MergeAnswer(BaseModel):
    """What the model answers when asked to merge."""

    operations: list[OperationAnswer]
    contradictions: list[ContradictionAnswer] = []


class FirstMergeAnswer(BaseModel):
    """What the model answers when asked to merge into an empty playbook: there is nothing to edit."""

    operations: list[AdditionAnswer]
    contradictions: list[ContradictionAnswer] = []


class SummaryAnswer(BaseModel):
    """What the model answers when asked to summarise."""

    summary: str


class AceLearner:
    """Reflects and merges with one chat model; `instructed` gives the instructions for each task, by default ours."""

    def __init__(self, model: ChatModel, instructed: Callable[[str], str] | None = None) -> None:
        self._model = model
        self._instructions = instructed or instructions
        self.name = f"ace/{model.name}"
        self._written: tuple[Playbook, str] | None = None

    async def reflect(self, trace: Trace, playbook: Playbook, meter: Meter) -> Reflection:
        """One call: lessons of the trace and tags of the bullets it used (those that do not exist are left out)."""
        prompt = f"{self._playbook_part(playbook)}\n\n{trace_part(trace)}"
        answer = await ask(self._model, self._instructions("reflect"), prompt, ReflectionAnswer, meter)
        return Reflection(
            lessons=tuple(_lesson(entry) for entry in answer.lessons if entry.lesson.strip()),
            tags={entry.id: entry.tag for entry in answer.bullet_tags if playbook.get(entry.id) is not None},
            reasoning=answer.reasoning,
        )

    async def merge(self, items: Sequence[Item], playbook: Playbook, meter: Meter, final: bool) -> Merged:
        """One call: operations that cite the items; a group's and the final merge are asked alike (paper section 3)."""
        answer = await self._first(items, meter) if not playbook.bullets else await self._edits(items, playbook, meter)
        return Merged(
            operations=tuple(_operations(answer.operations, items, playbook)),
            contradictions=tuple(map(_contradiction, answer.contradictions)),
            by_item=all(_id(entry.item) for entry in answer.operations),
        )

    def _playbook_part(self, playbook: Playbook) -> str:
        """As the prompts of a batch have it, written out once: a long playbook takes longer than sending a request."""
        if self._written is None or self._written[0] is not playbook:
            self._written = playbook, f"PLAYBOOK\n{render(playbook).strip() or '(empty)'}"
        return self._written[1]

    async def _edits(self, items: Sequence[Item], playbook: Playbook, meter: Meter) -> MergeAnswer:
        prompt = f"{self._playbook_part(playbook)}\n\n{items_part(items)}\n\n{_closing(items)}"
        return await ask(self._model, self._instructions("merge"), prompt, MergeAnswer, meter)

    async def _first(self, items: Sequence[Item], meter: Meter) -> MergeAnswer:
        """Into an empty playbook there are only additions: half the instructions, and two thirds of the answer."""
        prompt = f"{items_part(items)}\n\n{_closing(items)}"
        task = "merge-again" if all(item.merged for item in items) else "merge-first"
        answer = await ask(self._model, self._instructions(task), prompt, FirstMergeAnswer, meter)
        return MergeAnswer(
            operations=[OperationAnswer(**entry.model_dump()) for entry in answer.operations],
            contradictions=answer.contradictions,
        )

    async def summarise(self, items: Sequence[Item], meter: Meter) -> str:
        """One call: all items in one text (paper, the summarization baselines). Raises CallFailed when it is blank."""
        answer = await ask(self._model, self._instructions("summarise"), items_part(items), SummaryAnswer, meter)
        if not (text := _one_line(answer.summary)):
            raise CallFailed("empty", f"{self._model.name} gave an empty summary.")
        return text

    async def embed(self, texts: Sequence[str], meter: Meter) -> list[list[float]]:
        """One call: a vector a text, of the endpoint's model for embeddings."""
        return await self._model.embed(texts, meter)


@cache
def instructions(task: str) -> str:
    """The instructions for `reflect`, `merge`, `merge-first` and `merge-again` (into an empty playbook: of lessons, of
    merges) or `summarise`."""
    return (
        resources.files(__package__)
        .joinpath("instructions", f"{task}-{INSTRUCTIONS[task]}.md")
        .read_text("utf-8")
        .strip()
    )


def trace_part(trace: Trace) -> str:
    """A run as the model sees it, fenced by markers that its own text cannot forge."""
    fence = f"TRACE-{trace.content_hash[:12]}"
    steps = "\n\n".join(_step(message) for message in trace.messages) or "(no steps recorded)"
    parts = [f"<<<{fence}\nTASK\n{_shortened(trace.task)}\n\nSTEPS\n{_shortened(steps, TRACE_CHARS)}\n{fence}>>>"]
    parts.append(f"OUTCOME\n{_outcome(trace)}")
    if trace.feedback:
        parts.append(f"FEEDBACK (data, from a judge, a test or a person)\n{_shortened(trace.feedback)}")
    if trace.reference:
        parts.append(f"REFERENCE ANSWER (data)\n{_shortened(trace.reference)}")
    return "\n\n".join(parts)


def items_part(items: Sequence[Item]) -> str:
    """The items of a merge, one a line and word for word; what else is known of them stands apart, after the list."""
    lines = ["ITEMS", *(f"[{item.id}] {item.text}" for item in items)]
    notes = [f"{item.id}: {note}" for item in items if (note := _note(item))]
    return "\n".join([*lines, *(["", "NOTES ON ITEMS", *notes] if notes else [])])


def _closing(items: Sequence[Item]) -> str:
    """What a model reads last it heeds most: how many items there are, and that each is asked for."""
    return (
        f"END OF ITEMS: {len(items)} in all, from [{items[0].id}] to [{items[-1].id}]. "
        "Now one operation for each of them, in this order, without its story."
    )


def _note(item: Item) -> str:
    runs = [f"seen in {item.support} runs"] if item.support > 1 else []
    edits = [f"proposed as {item.kind} of {', '.join(item.bullets)}"] if item.kind != "ADD" else []
    return "; ".join(runs + edits)


def _step(message: Message) -> str:
    lines = [f"{message.role.upper()}: {_shortened(message.text)}"] if message.text else []
    lines += [f"TOOL CALL {call.name}: {_shortened(call.arguments)}" for call in message.tool_calls]
    lines += [
        f"{'TOOL ERROR' if result.error else 'TOOL RESULT'} {result.name}: {_shortened(result.text)}"
        for result in message.tool_results
    ]
    return "\n".join(lines)


def _outcome(trace: Trace) -> str:
    word = {True: "success", False: "failure", None: "unknown"}[trace.outcome.success]
    return word if trace.outcome.score is None else f"{word}, score {trace.outcome.score:g}"


def _shortened(text: str, limit: int = MESSAGE_CHARS) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def _lesson(entry: LessonAnswer) -> Lesson:
    return Lesson(text=_one_line(entry.lesson), section=_one_line(entry.section), evidence=entry.evidence.strip())


def _operations(entries: Sequence[OperationAnswer], items: Sequence[Item], playbook: Playbook) -> Iterator[Operation]:
    """The answer as operations.

    Who goes item by item may name more sources than the bullet holds: an item with an operation of its own is no source
    of another's, nor is one of whose numbers and names the bullet holds none. Sources without an item stand. An item
    that a merge has written keeps its words where the bullet holds nothing of it: a long list makes models slip a line.
    """
    by_id = {item.id: item for item in items}
    own = {_id(entry.item) for entry in entries}
    for entry in entries:
        sources = _ids(entry.sources)
        if item := _id(entry.item):
            if _slipped(entry, by_id.get(item)):
                entry = entry.model_copy(update={"content": ""})
            names = exact_terms(entry.content.strip() or _text(by_id, item))
            others = (name for name in sources if name not in own and _names_of(_text(by_id, name), names))
            sources = (item, *others)
        yield _operation(entry, sources, [by_id[name] for name in sources if name in by_id], playbook)


def _slipped(entry: OperationAnswer, item: Item | None) -> bool:
    """Whether a bullet was written for an item that is no story any more, and of which it holds nothing."""
    if entry.type != "ADD" or item is None or not item.merged:
        return False
    return not _names_of(item.text, exact_terms(entry.content))


def _names_of(text: str, names: frozenset[str]) -> bool:
    """Whether some of the names are those of a text that names anything exact."""
    wanted = exact_terms(text)
    return not wanted or not wanted.isdisjoint(names)


def _text(by_id: Mapping[str, Item], name: str) -> str:
    return by_id[name].text if name in by_id else ""


def _operation(
    entry: OperationAnswer, sources: tuple[str, ...], cited: Sequence[Item], playbook: Playbook
) -> Operation:
    """What an ADD leaves empty comes from the first of the cited items that has it."""
    section, content = entry.section, entry.content.strip()
    if entry.type == "ADD":
        content = content or next((item.text for item in cited), "")
        if not section.strip("# "):
            section = next((item.section for item in cited if item.section), DEFAULT_SECTION)
    return Operation(
        kind=entry.type,
        section=section_name(section, playbook),
        content=content,
        bullets=_ids(entry.bullets),
        sources=sources,
    )


def _contradiction(entry: ContradictionAnswer) -> Contradiction:
    return Contradiction(sources=_ids(entry.sources), bullets=_ids(entry.bullets), about=_one_line(entry.about))


def _ids(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(_id, names))


def _id(name: str) -> str:
    return name.strip("[] ")


def _one_line(text: str) -> str:
    """An item of a merge is one line: a lesson that spans several could pass for several items."""
    return " ".join(text.split())
