"""Logged model calls: each repeats the conversation so far, so that calls which continue each other are one trace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from combee_core.importers.base import Record
from combee_core.trace import Message


@dataclass
class Chain:
    """A conversation of which every logged call holds a part: `messages` is the longest, `records` are its calls."""

    messages: tuple[Message, ...]
    records: list[Record] = field(default_factory=list)


def chains(calls: Iterable[tuple[Record, Sequence[Message], Sequence[Message]]]) -> list[Chain]:
    """Put calls (record, what the model got, what it said) together to conversations, in the order of their starts."""
    found: list[Chain] = []
    by_end: dict[int, Chain] = {}
    starts: set[int] = set()
    for record, asked, said in calls:
        hashes = _running_hashes([*asked, *said])
        if hashes and hashes[-1] in starts:
            continue
        known = next((by_end[value] for value in reversed(hashes) if value in by_end), None)
        if known is None:
            known = Chain(())
            found.append(known)
        known.messages = (*asked, *said)
        known.records.append(record)
        if hashes:
            by_end[hashes[-1]] = known
            starts.update(hashes)
    return [chain for chain in found if chain.messages]


def _running_hashes(messages: Sequence[Message]) -> list[int]:
    """A number for each beginning of a conversation; equal beginnings have equal numbers."""
    hashes: list[int] = []
    value = 0
    for message in messages:
        value = hash((value, _said(message)))
        hashes.append(value)
    return hashes


def _said(message: Message) -> tuple[Any, ...]:
    calls = tuple(call.name for call in message.tool_calls)
    return message.role, message.text.strip(), calls, tuple(result.text.strip() for result in message.tool_results)
