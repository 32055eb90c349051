"""Numbers as the sentences about batch sizes write them."""

from math import ceil, floor, log10


def count(traces: int) -> str:
    """A number of traces, such as "1 trace" or "5,000 traces"."""
    return f"{traces:,} trace{'' if traces == 1 else 's'}"


def at_most(seconds: float) -> str:
    """Seconds in two digits, rounded up: what is less than the exact time is less than the written one."""
    digits = max(0, 1 - floor(log10(seconds))) if seconds > 0 else 0
    return f"{ceil(seconds * 10**digits) / 10**digits:,.{digits}f} s"
