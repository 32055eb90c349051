"""The attributes of one model call without its span: a single step, as tests and debuggers write it.

Written by hand and by test suites of OpenInference and OpenTelemetry. The conventions are those of `attributes`.
"""

from collections.abc import Iterable, Sequence

from combee_core.importers.attributes import messages_in
from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import read_messages, task_of
from combee_core.trace import Trace

_PREFIXES = ("gen_ai.", "llm.", "openinference.")


class SpanAttributes:
    """Bare attributes of a model call."""

    name = "span-attributes"
    title = "attributes of single model calls"
    gathers = False

    def recognise(self, record: object) -> str | None:
        key = (
            next((key for key in record if str(key).startswith(_PREFIXES)), None) if isinstance(record, dict) else None
        )
        return f'has the attribute "{key}"' if key else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            inputs, outputs = messages_in(record.value)
            messages = read_messages([*inputs, *outputs])
            if not messages:
                raise RecordError("The attributes hold no messages: content capture was off.")
            model = record.value.get("gen_ai.request.model") or record.value.get("llm.model_name")
            yield Trace(
                task=task_of(messages) or messages[0].text,
                messages=messages,
                source=context.source(record),
                metadata={"model": model} if model else {},
            )
