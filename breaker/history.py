"""What became of a target's answers over the last day, counted in slots, and its newest first bytes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from breaker.answer import Source
from breaker.log import Weight
from breaker.policy import Policy

# How many slots are kept and shown; the store's script keeps as many.
SLOTS = 90
# A slot is as long as so many probes: whatever the interval, each has as much to tell. With a probe a minute it is 16
# minutes, and all of them are a day.
SLOT_INTERVALS = 16
# How many first bytes are kept: an hour of them where a half-open target is asked every quarter of a minute.
SAMPLES = 256
# What the quantiles are taken of.
SPEED_S = 3600.0

# From what matters least to what matters most; the store's script knows each by its place.
RANKS = (Weight.GOOD, Weight.NOTHING, Weight.THROTTLED, Weight.SLOW, Weight.FAILED, Weight.REFUSED)
NONE = (0,) * len(RANKS)
_BAD = tuple(place for place, weight in enumerate(RANKS) if weight.bad)


@dataclass(frozen=True, slots=True)
class Keep:
    """What is to be kept of some answers: `slot_s` is the length of a slot in seconds.

    `sample_s` is how old the newest sample has to be before there is another; 0: each answer is one, None: none is.
    """

    slot_s: int
    sample_s: float | None

    @classmethod
    def of(cls, policy: Policy, source: Source) -> "Keep":
        """What is kept of a target's answers. Where it is probed, first bytes are the probes' alone: they are alike."""
        slot_s = max(round(SLOT_INTERVALS * policy.interval_s), 1)
        if source is Source.PROBE:
            return cls(slot_s, 0.0)
        return cls(slot_s, None if policy.probing else SPEED_S / SAMPLES)


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """What became of the answers that counted within `length_s` from `start` (the store's time) on.

    `probes` and `reports` say how many had each of `RANKS`. `out` of them came while the circuit was out. `worst` is
    the rank that mattered most, `verdict` the newest one of that rank (of good ones the first); empty where none came.
    """

    start: float
    length_s: float
    probes: tuple[int, ...] = NONE
    reports: tuple[int, ...] = NONE
    out: int = 0
    worst: Weight = Weight.GOOD
    verdict: str = ""

    @property
    def answers(self) -> int:
        """How many came."""
        return sum(self.probes) + sum(self.reports)

    @property
    def good(self) -> int:
        """Those that were good."""
        return self.count(Weight.GOOD)

    @property
    def bad(self) -> int:
        """Those that were slow, failed or refused."""
        return sum(self.probes[place] + self.reports[place] for place in _BAD)

    def count(self, weight: Weight) -> int:
        """How many were so."""
        place = RANKS.index(weight)
        return self.probes[place] + self.reports[place]


@dataclass(frozen=True, slots=True)
class Sample:
    """When an answer counted (the store's time), its first byte, None where none came, and what it meant."""

    at: float
    first_byte_s: float | None
    weight: Weight


@dataclass(frozen=True, slots=True)
class History:
    """What the store has kept of a target, in whatever order: slots that have answers, samples oldest first."""

    slots: tuple[Slot, ...] = ()
    samples: tuple[Sample, ...] = ()


NOTHING = History()


@dataclass(frozen=True, kw_only=True, slots=True)
class Speed:
    """How late first bytes came within `over_s`: `count` of them, `missing` answers besides had none.

    None where there is none. A quantile is a first byte that was measured: of 20, the 95th in a hundred is the 19th.
    """

    over_s: float
    count: int
    missing: int
    p50_s: float | None
    p95_s: float | None


def last_slots(history: History, now: float, length_s: float) -> tuple[Slot, ...]:
    """The last `SLOTS` slots of one length, oldest first and without gaps; the last one is under way.

    Slots of another length, from before the interval was changed, count where they began.
    """
    newest = int(now // length_s)
    found: dict[int, Slot] = {}
    for slot in history.slots:
        number = int(slot.start // length_s)
        if newest - SLOTS < number <= newest:
            whole = slot.length_s == length_s and number not in found
            found[number] = slot if whole else together(found.get(number) or _empty(number, length_s), slot)
    return tuple(found.get(number) or _empty(number, length_s) for number in range(newest - SLOTS + 1, newest + 1))


def together(one: Slot, other: Slot) -> Slot:
    """Both in one, which begins with the first and is as long; of two that are as bad, the other's verdict counts."""
    worse = not one.verdict or RANKS.index(other.worst) >= RANKS.index(one.worst)
    return replace(
        one,
        probes=_sums(one.probes, other.probes),
        reports=_sums(one.reports, other.reports),
        out=one.out + other.out,
        worst=other.worst if worse else one.worst,
        verdict=other.verdict if worse else one.verdict,
    )


def recent(history: History, now: float, within_s: float = SPEED_S) -> tuple[Sample, ...]:
    """The samples of so many seconds, oldest first."""
    return tuple(sample for sample in history.samples if now - within_s < sample.at <= now)


def speed(samples: Sequence[Sample], now: float) -> Speed:
    """How late first bytes came in these samples, oldest first, which are fewer than an hour's where many came."""
    came = sorted(sample.first_byte_s for sample in samples if sample.first_byte_s is not None)
    full = len(samples) >= SAMPLES
    return Speed(
        over_s=now - samples[0].at if full else SPEED_S,
        count=len(came),
        missing=len(samples) - len(came),
        p50_s=_quantile(came, 0.5),
        p95_s=_quantile(came, 0.95),
    )


def _empty(number: int, length_s: float) -> Slot:
    return Slot(start=number * length_s, length_s=length_s)


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest that at least this share isn't above."""
    return ordered[max(ceil(share * len(ordered)) - 1, 0)] if ordered else None


def _sums(one: Iterable[int], other: Iterable[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))
