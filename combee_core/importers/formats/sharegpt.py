"""ShareGPT conversations: `conversations` of `{from, value}`.

Written by data sets for fine-tuning (LLaMA-Factory, Glaive and many others). Seen: tool calls as `function_call` and
`observation` turns, `tools` and `system` beside the conversation. An outcome stands in the row, if at all.
"""

from collections.abc import Iterable, Sequence

from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.formats.openai_chat import read_row
from combee_core.trace import Trace


class ShareGPT:
    """Rows of ShareGPT turns."""

    name = "sharegpt"
    title = "ShareGPT conversations"
    gathers = False

    def recognise(self, record: object) -> str | None:
        turns = record.get("conversations") if isinstance(record, dict) else None
        first = turns[0] if isinstance(turns, list) and turns else None
        return (
            'has "conversations" with from and value'
            if isinstance(first, dict) and "from" in first and "value" in first
            else None
        )

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield read_row(record, context)
