"""Rebuilds the answers of a target's probes from the metrics that the service has shown to Prometheus."""

import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from breaker.target import MODEL_NAME, PROVIDER_NAME
from breaker.verdict import Verdict
from monitor.backtest.faults import TraceError
from monitor.backtest.prometheus import Prometheus, Series
from monitor.backtest.step import FACTS, Step
from monitor.metrics import names

# How much of the past may be asked for, and how much is asked for at once.
LEAST_S, MOST_S = 60.0, 400 * 86_400.0
PIECE_S = 86_400.0
_STARTS = f"{names.START_DELAY.name}_count"
_NAMES = (
    names.LAST_FINISHED.name,
    names.LAST_DURATION.name,
    names.LAST_FIRST_BYTE.name,
    names.SLOW_LIMIT.name,
    names.PROBES.name,
    names.PROBE_SLOW.name,
    names.PROBE_SUSPECT.name,
    _STARTS,
)
_Key = TypeVar("_Key")
_WORDS = {verdict.value: verdict for verdict in FACTS}
# A probe whose end is seen began at one of the last so many starts.
_STARTS_KEPT = 8
# What is known to be slow is just so.
_BEYOND_S = 0.001


@dataclass(frozen=True, kw_only=True, slots=True)
class Rebuilt:
    """The answers that could be rebuilt of a target, in seconds since 1970, and how many probes could not."""

    target: str
    steps: list[Step]
    lost: int


def targets_of(server: Prometheus, since_s: float) -> list[str]:
    """All targets whose probes a server has seen in the last `since_s` seconds.

    Raises TraceError where there are none.
    """
    past = _past(names.LAST_FINISHED.name, since_s)
    found = server.ask(f"group by (provider, model) (last_over_time({past}))", _now())
    if not found:
        wrong = f"{server.name} has seen no probes of Firstbyte's in that time"
        raise TraceError(f"{wrong}; is it the one that scrapes it?")
    return sorted(f"{s.labels.get('provider', '')}/{s.labels.get('model', '')}" for s in found)


def history(
    server: Prometheus, target: str, since_s: float, *, passing: Callable[[float], None] = lambda _: None
) -> Rebuilt:
    """The answers of a target's probes in the last `since_s` seconds; `passing` hears the share that is read.

    Raises TraceError where there are none, with the targets that there are.
    """
    where = _where(target)
    instances = defaultdict[tuple[tuple[str, str], ...], _Instance](_Instance)
    until = _now()
    pieces = math.ceil(since_s / PIECE_S)
    steps: dict[float, Step] = {}
    for piece in range(pieces):
        end = until - (pieces - 1 - piece) * PIECE_S
        length_s = min(PIECE_S, since_s - (pieces - 1 - piece) * PIECE_S)
        for instance, scrapes in _scrapes(server, where, length_s, end):
            for step in instances[instance].steps(scrapes):
                steps[step.done_at_s] = step
        passing((piece + 1) / pieces)
    if not steps:
        raise TraceError(_none(server, target, since_s))
    return Rebuilt(target=target, steps=list(steps.values()), lost=sum(i.lost for i in instances.values()))


def _now() -> float:
    return time.time()


def _where(target: str) -> str:
    provider, slash, model = target.partition("/")
    if not (slash and PROVIDER_NAME.fullmatch(provider) and MODEL_NAME.fullmatch(model)):
        raise TraceError(f"{target!r} is no target; write provider/model")
    return f'provider="{provider}",model="{model}"'


def _none(server: Prometheus, target: str, since_s: float) -> str:
    there = ", ".join(targets_of(server, since_s))
    return f"{server.name} has no probes of {target} in that time; those that it has: {there}"


def _past(what: str, seconds: float) -> str:
    return f"{what}[{math.ceil(seconds)}s]"


@dataclass(slots=True)
class _Scrape:
    """What one scrape of one instance showed."""

    values: dict[str, float] = field(default_factory=dict)
    failures: dict[Verdict, float] = field(default_factory=dict)


_Scrapes = list[tuple[float, _Scrape]]


def _scrapes(
    server: Prometheus, where: str, length_s: float, end: float
) -> Iterator[tuple[tuple[tuple[str, str], ...], _Scrapes]]:
    """The scrapes of a piece of time, each instance's in their order."""
    found = server.ask(_past(f'{{__name__=~"{"|".join(_NAMES)}",{where}}}', length_s), end)
    # Most verdicts never come up; their series would be most of what is sent.
    counted = _past(f"{names.PROBE_FAILURES.name}{{{where}}}", length_s)
    failed = {series.labels.get("verdict", "") for series in server.ask(f"max_over_time({counted}) > 0", end)}
    if words := "|".join(sorted(failed & _WORDS.keys())):
        found += server.ask(_past(f'{names.PROBE_FAILURES.name}{{{where},verdict=~"{words}"}}', length_s), end)
    instances: dict[tuple[tuple[str, str], ...], dict[float, _Scrape]] = defaultdict(lambda: defaultdict(_Scrape))
    for series in found:
        _sort_in(series, instances[_instance(series)])
    for instance, scrapes in instances.items():
        yield instance, sorted(scrapes.items())


def _instance(series: Series) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((k, v) for k, v in series.labels.items() if k not in ("__name__", "verdict")))


def _sort_in(series: Series, scrapes: dict[float, _Scrape]) -> None:
    name, verdict = series.labels.get("__name__", ""), _WORDS.get(series.labels.get("verdict", ""))
    for at, value in series.samples:
        if verdict is not None:
            scrapes[at].failures[verdict] = value
        else:
            scrapes[at].values[name] = value


class _Instance:
    """One process of the service as its scrapes show it, one after the other."""

    def __init__(self) -> None:
        self.lost = 0
        self._last: tuple[float, _Scrape] | None = None
        self._starts = deque[tuple[float, float]](maxlen=_STARTS_KEPT)  # each lies between two scrapes

    def steps(self, scrapes: _Scrapes) -> Iterator[Step]:
        """The answers that have come to their end; of several between two scrapes only the last."""
        for at, scrape in scrapes:
            last, self._last = self._last, (at, scrape)
            if last is None:
                continue  # whatever stood there came to its end before the time that was asked for
            before = last[1]
            if _more(before.values, scrape.values, _STARTS):
                self._starts.append((last[0], at))
            finished = scrape.values.get(names.LAST_FINISHED.name)
            if finished is None or finished == before.values.get(names.LAST_FINISHED.name):
                continue
            self.lost += max(0, round(_more(before.values, scrape.values, names.PROBES.name)) - 1)
            if (step := self._step(before, scrape, finished)) is not None:
                yield step
            else:
                self.lost += 1

    def _step(self, before: _Scrape, scrape: _Scrape, finished: float) -> Step | None:
        if _more(before.values, scrape.values, names.PROBE_SUSPECT.name):
            return None
        seconds = scrape.values.get(names.LAST_DURATION.name)
        if seconds is not None:
            first_byte_s = scrape.values.get(names.LAST_FIRST_BYTE.name)
            return Step(began_at_s=finished - seconds, seconds=seconds, first_byte_s=first_byte_s)
        verdict = next((v for v in scrape.failures if _more(before.failures, scrape.failures, v)), None)
        if verdict is None:
            return None
        slow = _more(before.values, scrape.values, names.PROBE_SLOW.name) > 0
        seconds = self._guessed_s(finished, slow_s=scrape.values.get(names.SLOW_LIMIT.name, 0.0), slow=slow)
        return Step(began_at_s=finished - seconds, seconds=seconds, verdict=verdict)

    def _guessed_s(self, finished: float, *, slow_s: float, slow: bool) -> float:
        """How long a failed probe took at least, by the scrapes between which it began; nothing else tells of it."""
        least_s = slow_s if slow else 0.0
        took = (finished - latest for earliest, latest in reversed(self._starts) if finished - earliest > least_s)
        seconds = max(next(took, least_s), 0.0)
        return max(seconds, slow_s + _BEYOND_S) if slow else min(seconds, slow_s)


def _more(before: Mapping[_Key, float], after: Mapping[_Key, float], key: _Key) -> float:
    """How much a counter has risen between two scrapes; it begins at 0 again with its process."""
    value, known = after.get(key, 0.0), before.get(key, 0.0)
    return value if value < known else value - known
