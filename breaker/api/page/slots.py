"""Draws a target's last day as a bar of slots, and says what became of each."""

from collections.abc import Sequence
from functools import lru_cache
from html import escape
from itertools import groupby

from breaker.api.page import parts
from breaker.history import RANKS, SLOTS, Slot, together
from breaker.log import Weight

# In the bar's own units, which are stretched to its width.
_STEP, _WIDE, _HIGH, _FOOT = 10, 8, 40, 6
# What went wrong is drawn at least so high, however many went well meanwhile.
_LEAST = 5
# What the pointer may touch, also where nothing is drawn.
_HIT = f'<path class="hit" d="M-1 0h{_STEP}v{_HIGH + _FOOT}h-{_STEP}z"/>'
_OUT = f'<path class="out" d="M-1 {_HIGH + 3}h{_STEP}v3h-{_STEP}z"/>'
# The most slots that are told in words: the newest in which something happened.
_TOLD = 8

_WELL, _SLOW, _HARD = (
    tuple(RANKS.index(weight) for weight in weights)
    for weights in ((Weight.GOOD,), (Weight.SLOW,), (Weight.FAILED, Weight.REFUSED))
)
_WORDS = {
    Weight.GOOD: "good",
    Weight.NOTHING: "not counted",
    Weight.THROTTLED: "rate limited",
    Weight.SLOW: "slow",
    Weight.FAILED: "failed",
    Weight.REFUSED: "refused",
}


def draw(slots: Sequence[Slot], label: str) -> str:
    """The bar: one column a slot, good from the ground up and bad hanging from above, a line below while it was out."""
    columns = [*map(_remembered, slots[:-1]), *map(_drawn, slots[-1:])]
    drawn = "".join(_placed(column, i * _STEP + (_STEP - _WIDE) // 2) for i, column in enumerate(columns))
    return (
        f'<svg class="slots" viewBox="0 0 {SLOTS * _STEP} {_HIGH + _FOOT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}">{drawn}</svg>'
    )


def summary(slots: Sequence[Slot]) -> str:
    """All of it in a sentence, for who can't see the bar."""
    answers, good, bad = sum(s.answers for s in slots), sum(s.good for s in slots), sum(s.bad for s in slots)
    reach = f"The last {parts.reach(len(slots) * slots[0].length_s)}"
    if not answers:
        return f"{reach}: no answers."
    said = f"{reach}: {parts.count(answers, 'answer')}, {parts.share(good, good + bad)} good."
    out = sum(1 for slot in slots if slot.out)
    return f"{said} Out in {parts.count(out, 'slot')} of {len(slots)}." if out else said


def told(slots: Sequence[Slot]) -> list[tuple[str, str]]:
    """When something else than good answers came, newest first, and what; neighbours with the same are told as one."""
    runs = [list(run) for eventful, run in groupby(slots, key=_eventful) if eventful]
    several = [(run[0].start, run[-1].start + run[-1].length_s, _sum(run)) for run in runs[::-1][:_TOLD]]
    return [(parts.span(start, end), _became(slot)) for start, end, slot in several]


def says(slot: Slot) -> str:
    """What became of the answers of one slot, with its time."""
    return f"{parts.span(slot.start, slot.start + slot.length_s)}: {_became(slot) if slot.answers else 'no answers'}"


def _became(slot: Slot) -> str:
    sides = [_side(slot.probes, "probe"), _side(slot.reports, "report")]
    plain = slot.worst in (Weight.GOOD, Weight.SLOW)  # the counts say it all
    worst = "" if plain else f"; {slot.verdict.replace('_', ' ')}"
    return f"{', '.join(filter(None, sides))}{worst}{'; out' if slot.out else ''}"


def _side(counts: tuple[int, ...], word: str) -> str:
    number = sum(counts)
    if not number:
        return ""
    others = [f"{n:,} {_WORDS[w]}" for w, n in zip(RANKS, counts, strict=True) if n and w is not Weight.GOOD]
    return f"{parts.count(number, word)} ({', '.join(others)})" if others else f"{parts.count(number, word)}, all good"


def _eventful(slot: Slot) -> bool:
    return bool(slot.bad or slot.out or slot.count(Weight.THROTTLED))


def _sum(run: Sequence[Slot]) -> Slot:
    first, *others = run
    for slot in others:
        first = together(first, slot)
    return first


def _placed(column: str, x: int) -> str:
    return f'<g class="slot" transform="translate({x})">{column}</g>'


@lru_cache(maxsize=16_384)
def _remembered(slot: Slot) -> str:
    """A slot as it is drawn again and again: all but the newest, which is under way, stay as they are."""
    return _drawn(slot)


def _drawn(slot: Slot) -> str:
    """A slot's words and shapes."""
    return f"<title>{escape(says(slot))}</title>{_HIT}{_stack(slot)}{_OUT if slot.out else ''}"


def _stack(slot: Slot) -> str:
    if not slot.good + slot.bad:
        kind, high = ("unsaid", 6) if slot.answers else ("none", 3)
        return _box(kind, _HIGH - high, high)
    drawn, top = "", 0
    for kind, high in (("failed", _height(slot, _HARD)), ("slow", _height(slot, _SLOW))):
        if high:
            drawn += _box(kind, top, high)
            top += high + 1
    left = _HIGH - top
    return drawn + (_box("good", top, left) if slot.good and left > 0 else "")


def _height(slot: Slot, places: Sequence[int]) -> int:
    """By the share of probes or of reports, whichever is more: many good reports don't hide a bad probe."""
    shares = [_share(slot.probes, places), _share(slot.reports, places)]
    return max(round((_HIGH - 1) * max(shares)), _LEAST) if any(shares) else 0


def _share(counts: Sequence[int], places: Sequence[int]) -> float:
    telling = sum(counts[place] for place in (*_HARD, *_SLOW, *_WELL))
    return sum(counts[place] for place in places) / telling if telling else 0.0


def _box(kind: str, y: int, high: int) -> str:
    return f'<path class="{kind}" d="M0 {y}h{_WIDE}v{high}h-{_WIDE}z"/>'
