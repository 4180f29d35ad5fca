"""Draws the first bytes of the last hour over time, with the slow limit as a line."""

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from breaker.api.page import parts
from breaker.history import SPEED_S, Sample, Speed
from breaker.log import Weight

_WIDE, _HIGH, _TOP, _FOOT, _RIGHT = 320, 96, 12, 6, 34
# The scale is logarithmic, from a 400th of the limit to three times it, so that what is usual shows beside the limit.
_QUICKER, _SLOWER = 400.0, 3.0
_LEAST_INTERVALS = 12


def reach_s(samples: Sequence[Sample], interval_s: float, now: float) -> float:
    """How far back it reaches: an hour, or a part of it where the target hasn't been asked for longer."""
    asked_s = max(now - samples[0].at if samples else 0.0, _LEAST_INTERVALS * interval_s)
    return min((SPEED_S / part for part in (64, 32, 16, 8, 4, 2) if SPEED_S / part >= asked_s), default=SPEED_S)


def draw(samples: Sequence[Sample], found: Speed, slow_s: float, *, over_s: float, now: float) -> str:
    """A dot for each first byte, hollow where it was slow; a cross where none came. `slow_s` is the limit."""
    drawn = "".join(_mark(sample, slow_s, (now - sample.at) / over_s) for sample in samples)
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="{escape(summary(found, slow_s))}">'
        f"{_grid(slow_s)}{drawn}</svg>"
    )


def summary(found: Speed, slow_s: float) -> str:
    """All of it in a sentence, for who can't see it."""
    if not found.count + found.missing:
        return "No first bytes in the last hour."
    missing = f" {parts.count(found.missing, 'answer')} had none." if found.missing else ""
    if not found.count:
        return f"No first byte in the last hour.{missing}"
    return (
        f"First bytes over time: half of {found.count} within {found.p50_s:.3g} s, 95 in a hundred within "
        f"{found.p95_s:.3g} s; the limit is {slow_s:g} s.{missing}"
    )


def _grid(slow_s: float) -> str:
    """The limit, and lines at the powers of ten besides."""
    low, high = slow_s / _QUICKER, slow_s * _SLOWER
    powers = [10.0**n for n in range(ceil(log10(low)), floor(log10(high)) + 1)]
    lines = "".join(_line("grid", value, slow_s) for value in powers if not 1 / 3 < value / slow_s < 3)
    return lines + _line("limit", slow_s, slow_s)


def _line(kind: str, seconds: float, slow_s: float) -> str:
    y = _y(seconds, slow_s)
    return (
        f'<path class="{kind}" d="M0 {y:g}H{_WIDE - _RIGHT}"/>'
        f'<text class="{kind}" x="{_WIDE}" y="{y + 3.5:g}" text-anchor="end">{seconds:g} s</text>'
    )


def _mark(sample: Sample, slow_s: float, age: float) -> str:
    """`age` is 0 at the right end and 1 at the left."""
    x = round(4 + (_WIDE - _RIGHT - 8) * (1 - min(max(age, 0.0), 1.0)), 1)
    if sample.first_byte_s is None:
        return f'<path class="missed" d="M{x - 3:g} {_TOP - 9}l6 6m0 -6l-6 6"/>'
    kind = "slow" if sample.weight is Weight.SLOW else "failed" if sample.weight.bad else "good"
    return f'<circle class="{kind}" cx="{x:g}" cy="{_y(sample.first_byte_s, slow_s):g}" r="2.2"/>'


def _y(seconds: float, slow_s: float) -> float:
    share = log10(max(seconds, 1e-9) / (slow_s / _QUICKER)) / log10(_QUICKER * _SLOWER)
    return round(_TOP + (_HIGH - _TOP - _FOOT) * (1 - min(max(share, 0.0), 1.0)), 1)
