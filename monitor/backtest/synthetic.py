"""Makes up traces of which it is known when their target was well: the same seed gives the same trace.

Healthy ones must hardly ever open a circuit. The others are healthy but for their troubles, which begin on their last
day, when there has been time to learn what is usual. One answer comes a minute, as from probes.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from breaker.verdict import Verdict
from monitor.backtest.step import Step

INTERVAL_S, JITTER_S = 60.0, 3.0
HOUR_S, DAY_S = 3600.0, 86_400.0
# Of 1,000 draws from a normal distribution one lies so many deviations above the mean.
_ONE_IN_1000 = 3.0902
_USUAL_S = 4.0
_ILL_DAYS = 4

# A healthy first byte at a moment of the trace.
Speed = Callable[[Random, float], float]
# A first byte in trouble, from what it would be: the trouble's hours so far, and the count of the step.
Ill = Callable[[float, float, int], tuple[float, Verdict]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """A time in which a target isn't well; `from_h` and `until_h` are hours of the trace's last day."""

    from_h: float
    until_h: float
    ill: Ill


@dataclass(frozen=True, kw_only=True, slots=True)
class Synthetic:
    """A kind of trace: how fast it is while all is well, and what befalls it; `days` is how long it is best made."""

    what: str
    speed: Speed
    troubles: tuple[Trouble, ...] = ()
    days: int = 30

    def steps(self, days: int, seed: int) -> list[Step]:
        """The answers of some days, one a minute."""
        chance = Random(f"{self.what} {seed}")  # noqa: S311 - nothing is kept secret by it
        count = int(days * DAY_S / INTERVAL_S)
        return [self._step(chance, days, number) for number in range(count)]

    def spans(self, days: int) -> list[tuple[float, float]]:
        """From when until when it isn't well, in seconds of the trace."""
        last_s = (days - 1) * DAY_S
        return [(last_s + t.from_h * HOUR_S, last_s + t.until_h * HOUR_S) for t in self.troubles]

    def _step(self, chance: Random, days: int, number: int) -> Step:
        at_s = number * INTERVAL_S + chance.uniform(0, JITTER_S)
        first_byte_s, verdict = self.speed(chance, at_s), Verdict.OK
        hour = at_s / HOUR_S - (days - 1) * 24
        for trouble in self.troubles:
            if trouble.from_h <= hour < trouble.until_h:
                first_byte_s, verdict = trouble.ill(first_byte_s, hour - trouble.from_h, number)
        return Step(began_at_s=at_s, seconds=first_byte_s, first_byte_s=first_byte_s, verdict=verdict)


def _around(median_s: float, spread: float) -> Speed:
    return lambda chance, _: chance.lognormvariate(math.log(median_s), spread)


def _heavy(median_s: float, thousandth_s: float) -> Speed:
    return _around(median_s, math.log(thousandth_s / median_s) / _ONE_IN_1000)


def _two_sizes(share: float, times: float) -> Speed:
    """Of every so many prompts one is long."""
    return lambda chance, at_s: _around(_USUAL_S, 0.3)(chance, at_s) * (times if chance.random() < share else 1.0)


def _drifting(days: float) -> Speed:
    """Twice as slow after so many days, four times after twice as many, then so for ever."""
    plain = _around(_USUAL_S / 2, 0.4)
    return lambda chance, at_s: plain(chance, at_s) * math.pow(2, min(at_s / DAY_S / days, 2))


def _daily(times: float) -> Speed:
    """So many times slower at noon than at midnight."""

    def speed(chance: Random, at_s: float) -> float:
        busy = (1 - math.cos(2 * math.pi * at_s / DAY_S)) / 2
        return _around(_USUAL_S, 0.5)(chance, at_s) * math.pow(times, busy)

    return speed


def _with_blips(every: int) -> Speed:
    """Of so many answers one, alone, comes five to fifteen times later."""
    plain = _around(_USUAL_S, 0.4)

    def speed(chance: Random, at_s: float) -> float:
        alone = int(at_s / INTERVAL_S) % every == every // 2
        return plain(chance, at_s) * (chance.uniform(5, 15) if alone else 1.0)

    return speed


def _down(_first_byte_s: float, _hours: float, _number: int) -> tuple[float, Verdict]:
    return 1.0, Verdict.HTTP_ERROR


def _every_second(first_byte_s: float, _hours: float, number: int) -> tuple[float, Verdict]:
    return (1.0, Verdict.HTTP_ERROR) if number % 2 else (first_byte_s, Verdict.OK)


def _slower(times: float, over_h: float = 0.0) -> Ill:
    """So many times slower, reached in even steps."""

    def ill(first_byte_s: float, hours: float, _number: int) -> tuple[float, Verdict]:
        share = min(hours / over_h, 1.0) if over_h else 1.0
        return first_byte_s * (1 + (times - 1) * share), Verdict.OK

    return ill


_PLAIN = _around(_USUAL_S, 0.5)

HEALTHY: Mapping[str, Synthetic] = {
    "steady": Synthetic(what="all about 4 s", speed=_around(_USUAL_S, 0.15)),
    "heavy tail": Synthetic(what="median 4 s, one in 1,000 above 39 s", speed=_heavy(_USUAL_S, 39)),
    "heavier tail": Synthetic(what="median 1.5 s, one in 1,000 above 39 s", speed=_heavy(1.5, 39)),
    "two sizes": Synthetic(what="one prompt in four takes four times as long", speed=_two_sizes(0.25, 4)),
    "two sizes, often": Synthetic(what="two prompts in five take four times as long", speed=_two_sizes(0.4, 4)),
    "drift": Synthetic(what="twice as slow after ten days, four times after twenty", speed=_drifting(10)),
    "daily rhythm": Synthetic(what="twice as slow at noon as at midnight", speed=_daily(2)),
    "blips": Synthetic(what="each fiftieth comes 5 to 15 times later", speed=_with_blips(50)),
}
ILL: Mapping[str, Synthetic] = {
    "outage": Synthetic(
        what="an hour of HTTP 500",
        speed=_PLAIN,
        troubles=(Trouble(from_h=12, until_h=13, ill=_down),),
        days=_ILL_DAYS,
    ),
    "flapping": Synthetic(
        what="every second one HTTP 500 for an hour",
        speed=_PLAIN,
        troubles=(Trouble(from_h=12, until_h=13, ill=_every_second),),
        days=_ILL_DAYS,
    ),
    "step": Synthetic(
        what="four times slower for six hours",
        speed=_PLAIN,
        troubles=(Trouble(from_h=12, until_h=18, ill=_slower(4)),),
        days=_ILL_DAYS,
    ),
    "step, noisy": Synthetic(
        what="the same where one in 1,000 comes after 39 s",
        speed=_heavy(_USUAL_S, 39),
        troubles=(Trouble(from_h=12, until_h=18, ill=_slower(4)),),
        days=_ILL_DAYS,
    ),
    "step, first hour": Synthetic(
        what="four times slower after the first 50 answers of all",
        speed=_PLAIN,
        troubles=(Trouble(from_h=50 / 60, until_h=6, ill=_slower(4)),),
        days=1,
    ),
    "sag": Synthetic(
        what="four times slower within two hours, for four more",
        speed=_PLAIN,
        troubles=(Trouble(from_h=12, until_h=18, ill=_slower(4, 2)),),
        days=_ILL_DAYS,
    ),
    "relapse": Synthetic(
        what="four times slower for an hour, well for half of one, slower for two",
        speed=_PLAIN,
        troubles=(
            Trouble(from_h=12, until_h=13, ill=_slower(4)),
            Trouble(from_h=13.5, until_h=15.5, ill=_slower(4)),
        ),
        days=_ILL_DAYS,
    ),
}
SYNTHETIC: Mapping[str, Synthetic] = {**HEALTHY, **ILL}
