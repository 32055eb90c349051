"""Numbers as people read them: short, rounded to what matters, and unknown said as such."""


def duration(seconds: float) -> str:
    """0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def money(dollars: float | None) -> str:
    """$0.0042, $0.37, $12.50, under $0.0001; None is unknown, and nothing spent is $0."""
    if dollars is None:
        return "unknown"
    if dollars == 0:
        return "$0"
    if dollars < 0.0001:
        return "under $0.0001"
    return f"${dollars:.4f}" if dollars < 0.01 else f"${dollars:,.2f}"


def compact(number: int) -> str:
    """950, 12.3k, 4.1M."""
    if number < 1_000:
        return str(number)
    for size, unit in ((1e3, "k"), (1e6, "M"), (1e9, "G")):
        if number < size * 999.5:
            return f"{number / size:.3g}{unit}"
    return f"{number:,}"


def counted(number: int, unit: str, plural: str = "") -> str:
    """1 lesson, 212 lessons, 2 copies."""
    return f"{number:,} {unit if number == 1 else plural or unit + 's'}"
