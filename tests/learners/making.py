"""Traces and items for tests of the rules engine, in as few words as possible."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from combee_core.importers import read_path
from combee_core.learners.rules import RulesLearner
from combee_core.lesson import Item, Reflection
from combee_core.llm.base import Meter
from combee_core.playbook import Bullet, Operation, Playbook
from combee_core.trace import Message, Outcome, Source, ToolCall, ToolResult, Trace

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def trace(
    *messages: Message,
    task: str = "Do it",
    success: bool | None = False,
    feedback: str = "",
    reference: str = "",
) -> Trace:
    return Trace(
        task=task,
        messages=messages or (Message(role="user", text=task),),
        source=Source(file="made.jsonl", format="openai-chat", line=1),
        outcome=Outcome(success=success),
        feedback=feedback,
        reference=reference,
    )


def says(role: str, text: str) -> Message:
    return Message(role, text)


def calls(name: str, arguments: object, answer: str, error: bool = False) -> tuple[Message, Message]:
    """A call and its result; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return (
        Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=text),)),
        Message(role="tool", tool_results=(ToolResult(text=answer, name=name, error=error),)),
    )


def playbook(*contents: str) -> Playbook:
    return Playbook(
        bullets=tuple(Bullet(id=f"b-{place}", section="RULES", content=text) for place, text in enumerate(contents, 1))
    )


def reflect(run: Trace, known: Playbook | None = None) -> Reflection:
    return asyncio.run(RulesLearner().reflect(run, known or Playbook(), Meter()))


def lessons(run: Trace) -> list[str]:
    return [lesson.text for lesson in reflect(run).lessons]


def merge(items: Sequence[Item], known: Playbook | None = None) -> tuple[Operation, ...]:
    return asyncio.run(RulesLearner().merge(items, known or Playbook(), Meter(), True)).operations


def items(*texts: str) -> list[Item]:
    return [Item(id=f"r{place}-1", text=text, section="RULES") for place, text in enumerate(texts, 1)]


def sample_traces(name: str) -> list[Trace]:
    return [entry for reading in read_path(SAMPLES / name) for entry in reading if isinstance(entry, Trace)]
