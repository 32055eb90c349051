"""From the spans of one trace to a Trace: what all tracing products have in common once their spans are read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.outcome import number_of, outcome_of_scores, success_of, verdict_of
from combee_core.importers.spans import Assembled, Span, assemble
from combee_core.trace import Outcome, Trace

_TRUSTED = ("correct", "success", "pass", "resolved", "solved", "accura", "exact")


@dataclass
class Judgement:
    """What was said about a run: named scores, verdicts, and comments in the order they came."""

    scores: dict[str, float] = field(default_factory=dict)
    verdicts: dict[str, bool] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    reference: str = ""

    def add(self, name: str, value: object, comment: object = None) -> None:
        """Take in one score, verdict or label with its comment."""
        number = number_of(value)
        verdict = value if isinstance(value, bool) else verdict_of(value)
        if number is not None:
            self.scores[name] = number
        elif verdict is not None:
            self.verdicts[name] = verdict
        if isinstance(comment, str) and comment.strip():
            shown = "" if value is None else f" ({value})"
            self.said.append(f"{name}{shown}: {comment.strip()}")
        elif number is None and verdict is None and value not in (None, ""):
            self.said.append(f"{name}: {value}")

    def outcome(self, error: str = "") -> Outcome:
        """The outcome by the rule of `outcome`; a score that is named like a verdict decides before others."""
        trusted = next((name for name in self.verdicts if _is_trusted(name)), None) or next(iter(self.verdicts), None)
        verdict = self.verdicts[trusted] if trusted is not None else None
        if verdict is None:
            named = [score for name, score in self.scores.items() if _is_trusted(name)]
            verdict = success_of(named[0]) if named else None
        found = outcome_of_scores(self.scores, verdict)
        return (
            Outcome(success=False, score=found.score, scores=found.scores) if error and found.success is None else found
        )


@dataclass
class LeftOut:
    """Traces that hold nothing to learn from, counted so that they can be named in one sentence."""

    service: int = 0
    silent: int = 0

    def notes(self, record: Record, context: Context) -> Iterator[Reject]:
        """One note for each kind that occurred."""
        if self.service:
            yield context.reject(
                record, f"{_traces(self.service)} without a model call left out: ordinary service traces."
            )
        if self.silent:
            reason = "model calls whose messages were not recorded (content capture was off)"
            yield context.reject(record, f"{_traces(self.silent)} left out: they hold {reason}.")


def read_spans(
    groups: Mapping[str, Sequence[Span]],
    context: Context,
    judgements: Mapping[str, Judgement] | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[Trace | Reject]:
    """One trace for each group of spans, in the order in which the groups were first seen."""
    left_out = LeftOut()
    for trace_id, spans in groups.items():
        assembled = assemble(spans)
        if not any(message.role == "assistant" for message in assembled.messages) and not assembled.task:
            asked_a_model = any(span.kind == "model" for span in spans)
            left_out.silent += asked_a_model
            left_out.service += not asked_a_model
            continue
        judgement = (judgements or {}).get(trace_id) or Judgement()
        extra = {"trace_id": trace_id, **_about(spans, assembled), **(metadata or {}).get(trace_id, {})}
        yield build(
            assembled, judgement, context, {key: value for key, value in extra.items() if value not in (None, "")}
        )
    if groups:
        yield from left_out.notes(next(iter(groups.values()))[0].record, context)


def build(assembled: Assembled, judgement: Judgement, context: Context, metadata: Mapping[str, Any]) -> Trace:
    """The trace of assembled spans and what was said about them."""
    return Trace(
        task=assembled.task or next((message.text for message in assembled.messages if message.text), ""),
        messages=assembled.messages,
        source=context.source(assembled.root.record),
        outcome=judgement.outcome(assembled.error),
        feedback="\n".join(filter(None, (*judgement.said, assembled.error))),
        reference=judgement.reference,
        metadata=dict(metadata),
    )


def grouped(spans: Iterable[tuple[str, Span]]) -> dict[str, list[Span]]:
    """Spans by trace id, traces in the order in which they were first seen; a span that comes twice is taken once."""
    groups: dict[str, dict[str, Span]] = {}
    for trace_id, span in spans:
        known = groups.setdefault(trace_id, {})
        known.setdefault(span.id or f"nameless {len(known)}", span)
    return {trace_id: list(found.values()) for trace_id, found in groups.items()}


def _about(spans: Sequence[Span], assembled: Assembled) -> dict[str, Any]:
    models = sorted({span.model for span in spans if span.model})
    return {"name": assembled.root.name, "models": models or None, "spans": len(spans)}


def _is_trusted(name: str) -> bool:
    return any(word in name.lower() for word in _TRUSTED)


def _traces(number: int) -> str:
    return "1 trace" if number == 1 else f"{number:,} traces"
