"""Points in time as traces spell them: ISO text, seconds to nanoseconds, pairs of seconds and nanoseconds."""

from datetime import UTC, datetime

from combee_core.importers.outcome import number_of

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


def seconds_of(value: object) -> float:
    """Seconds since 1970, 0.0 where the value is no time; the unit of a number is told by its size."""
    if isinstance(value, list | tuple) and len(value) == 2:
        whole, nanos = number_of(value[0]), number_of(value[1])
        return whole + nanos / 1e9 if whole is not None and nanos is not None else 0.0
    number = number_of(value)
    if number is not None:
        return next((number / unit for least, unit in _UNITS if abs(number) >= least), number)
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value.strip().replace(" UTC", "+00:00"))
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, OSError):
            return 0.0
    return 0.0
