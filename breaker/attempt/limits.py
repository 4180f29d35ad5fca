"""The numbers by which a step is cared for."""

from dataclasses import dataclass, fields

from breaker.policy import Policy

_POLICY = Policy()
_BOUNDS: dict[str, tuple[float, float]] = {
    "first_byte_s": (0.01, 3600),
    "silence_s": (0.05, 7200),
    "grace_s": (0, 60),
    "hold_chars": (0, 2_000),
    "hold_s": (0, 3600),
    "attempts": (1, 16),
    "budget_s": (0, 86_400),
    "pause_s": (0, 3600),
    "loop_chars": (1_000, 100_000_000),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How patient a step is; names that end in `_s` are seconds. All times are of silence, none of a whole answer.

    Raises ValueError for a number out of its range.
    """

    first_byte_s: float = _POLICY.slow_s  # a later first byte is given up, where another attempt is left
    silence_s: float = _POLICY.silence_s  # an answer that says nothing for so long is given up
    grace_s: float = 2.0  # how long to wait, after an answer's end, for token counts and for the end of its body
    hold_chars: int = 160  # so much of an answer is held back until it is shown
    hold_s: float = 20.0  # and not for longer than this after its first byte
    attempts: int = 3  # in all, the first one included
    budget_s: float = 300.0  # an attempt begins no later than this after its step did
    pause_s: float = 1.0  # before a target is asked once more; twice as long before the next time
    loop_chars: int = 160_000  # an answer longer than this is broken off

    def __post_init__(self) -> None:
        """Refuse what can't work."""
        for field in fields(self):
            low, high = _BOUNDS[field.name]
            value = getattr(self, field.name)
            if not low <= value <= high:  # written so that NaN is refused too
                raise ValueError(f"{field.name} is {value!r}; it must be a number from {low:g} to {high:g}")
