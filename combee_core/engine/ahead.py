"""Reads traces a little ahead of the reflections that need them: one query for many costs what one for one does."""

from collections.abc import Sequence

from combee_core.store.database import StoreError
from combee_core.store.traces import Traces
from combee_core.trace import Trace

AHEAD = 64


class TracesAhead:
    """Hands out each trace once; holds at most AHEAD more than were asked for, whatever the batch size."""

    def __init__(self, traces: Traces, order: Sequence[str]) -> None:
        self._traces = traces
        self._order = order
        self._next = 0
        self._held: dict[str, Trace] = {}

    def take(self, trace_id: str) -> Trace:
        """A whole trace. Raises StoreError when there is none of that id."""
        while trace_id not in self._held and self._next < len(self._order):
            chunk = self._order[self._next : self._next + AHEAD]
            self._next += AHEAD
            self._held |= self._traces.some(chunk)
        found = self._held.pop(trace_id, None)
        if found is None:
            raise StoreError(f"There is no trace {trace_id} any more: it was in the database when the run was planned.")
        return found
