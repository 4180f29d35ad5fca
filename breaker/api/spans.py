"""Says lengths of time."""


def lasting(seconds: float) -> str:
    """A time span to the second: 0.04 s, 4.2 s, 42 s, 6 min 28 s, 2 h 5 min, 3 d 4 h."""
    if 0 < seconds < 0.095:
        return f"{seconds:.2f} s"
    if seconds < 9.95:
        return f"{max(seconds, 0.0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return _in_two(whole, (60, "min"), (1, "s"))
    if whole < 86_400:
        return _in_two(whole, (3600, "h"), (60, "min"))
    return _in_two(whole, (86_400, "d"), (3600, "h"))


def roughly(seconds: float) -> str:
    """A time span as people say it: a moment, about 40 s, about 6 min, about 2 h."""
    if seconds < 1:
        return "a moment"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.0f} h" if seconds < 172_800 else f"about {seconds / 86_400:.0f} days"


def _in_two(seconds: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    rest = seconds % large[0] // small[0]
    return f"{seconds // large[0]} {large[1]}{f' {rest} {small[1]}' if rest else ''}"
