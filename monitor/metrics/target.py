"""The metrics of one target, each child bound once."""

import time
from collections.abc import Collection, Mapping

from prometheus_client import CollectorRegistry

from breaker.answer import Answer
from breaker.circuit import Cause
from breaker.verdict import Blame, Judgement, Verdict
from monitor.budget import Cost
from monitor.exchange.phases import Phase
from monitor.metrics import names
from monitor.metrics.family import Family
from monitor.metrics.series import Number
from monitor.settings import TargetPlan

_GOOD = (Verdict.OK, Verdict.TOOL_CALL)


class Collectors:
    """All collectors that have a child for each target, as the registry knows them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.failures = names.PROBE_FAILURES.numbers(registry)
        self.slow = names.PROBE_SLOW.numbers(registry)
        self.suspect = names.PROBE_SUSPECT.numbers(registry)
        self.first_byte = names.PROBE_FIRST_BYTE.histogram(registry)
        self.duration = names.PROBE_DURATION.histogram(registry)
        self.probes = names.PROBES.numbers(registry)
        self.last_first_byte = names.LAST_FIRST_BYTE.numbers(registry)
        self.last_duration = names.LAST_DURATION.numbers(registry)
        self.last_headers = names.LAST_HEADERS.numbers(registry)
        self.last_phase = names.LAST_PHASE.numbers(registry)
        self.last_good = names.LAST_GOOD.numbers(registry)
        self.last_finished = names.LAST_FINISHED.numbers(registry)
        self.slow_limit = names.SLOW_LIMIT.numbers(registry)
        self.interval = names.INTERVAL.numbers(registry)
        self.start_delay = names.START_DELAY.histogram(registry)
        self.tokens = names.TOKENS.numbers(registry)
        self.usd = names.COST.numbers(registry)
        self.info = names.TARGET_INFO.numbers(registry)
        self.reports = names.REPORTS.numbers(registry)
        self.moves = names.CIRCUIT_MOVES.numbers(registry)

    def renew(self, gone: Collection[tuple[str, str]]) -> None:
        """Remove what earlier plans said, and all series of these targets, each a provider and a model.

        All at once: each target on its own would have the series of all others looked at.
        """
        for told in (self.info, self.interval):
            told.clear()
        if gone:
            for collector in vars(self).values():
                collector.remove_all(gone)


class TargetMetrics:
    """What is counted of one target, whose provider and model are its `labels`."""

    def __init__(self, all_: Collectors, plan: TargetPlan) -> None:
        provider, model = self.labels = (plan.target.provider.name, plan.target.model)
        self._slow_s = plan.policy.slow_s
        self._probes = all_.probes.labels(provider, model)
        failures = [verdict for verdict in Verdict if verdict not in (*_GOOD, Verdict.PENDING)]
        self._failures = {verdict: all_.failures.labels(provider, model, verdict.value) for verdict in failures}
        self._slow = all_.slow.labels(provider, model)
        self._suspect = all_.suspect.labels(provider, model)
        self._first_byte = all_.first_byte.labels(provider, model)
        self._duration = all_.duration.labels(provider, model)
        self._start_delay = all_.start_delay.labels(provider, model)
        self._reports = {verdict: all_.reports.labels(provider, model, verdict.value) for verdict in Verdict}
        self._moves = {cause: all_.moves.labels(provider, model, cause.value) for cause in Cause}
        self._last_first_byte, self._last_duration = all_.last_first_byte, all_.last_duration
        self._last_headers, self._last_phase = all_.last_headers, all_.last_phase
        self._last_good, self._last_finished = all_.last_good, all_.last_finished
        self._prompt_tokens = all_.tokens.labels(provider, model, "prompt")
        self._completion_tokens = all_.tokens.labels(provider, model, "completion")
        self._usd = all_.usd.labels(provider, model)
        skips = str(plan.probe.skip_when_fresh).lower()
        all_.info.labels(provider, model, plan.target.provider.wire, skips).set(1)
        all_.slow_limit.labels(provider, model).set(plan.policy.slow_s)
        if plan.policy.probing:
            all_.interval.labels(provider, model).set(plan.policy.interval_s)

    def started(self, delay_s: float) -> None:
        """A probe began, so late after its plan."""
        self._start_delay.observe(delay_s)

    def probed(self, answer: Answer, judgement: Judgement) -> None:
        """A probe came to its end."""
        good = judgement.blame is Blame.OK
        exemplar = {"probe_id": answer.id}
        self._probes.inc()
        if judgement.verdict in self._failures:
            self._failures[judgement.verdict].inc(exemplar=exemplar)
        if answer.suspect_timing:
            self._suspect.inc()
        elif self._is_slow(answer):
            self._slow.inc()
        if good:
            self._duration.observe(answer.seconds, exemplar)
        if good and answer.first_byte_s is not None:
            self._first_byte.observe(answer.first_byte_s, exemplar)
        self._set_last(answer, good=good)

    def phases(self, seconds: Mapping[Phase, float]) -> None:
        """How long each phase of the last probe took."""
        for phase in Phase:
            _set(self._last_phase, (*self.labels, phase.value), seconds.get(phase))

    def lost(self) -> None:
        """Another process probes the target now: what the last probe here found is old."""
        for gauge in (self._last_first_byte, self._last_duration, self._last_headers, self._last_good):
            gauge.remove(*self.labels)
        self.phases({})

    def spent(self, cost: Cost) -> None:
        """A probe cost so much."""
        self._prompt_tokens.inc(cost.prompt_tokens)
        self._completion_tokens.inc(cost.completion_tokens)
        self._usd.inc(cost.usd)

    def reported(self, verdict: Verdict) -> None:
        """An agent's report counted."""
        self._reports[verdict].inc()

    def moved(self, cause: Cause) -> None:
        """The circuit moved here."""
        self._moves[cause].inc()

    def _is_slow(self, answer: Answer) -> bool:
        waited_s = answer.seconds if answer.first_byte_s is None else answer.first_byte_s
        return answer.streamed and waited_s > self._slow_s

    def _set_last(self, answer: Answer, *, good: bool) -> None:
        _set(self._last_first_byte, self.labels, answer.first_byte_s if good else None)
        _set(self._last_duration, self.labels, answer.seconds if good else None)
        _set(self._last_headers, self.labels, answer.headers_s if good else None)
        self._last_good.labels(*self.labels).set(float(good))
        self._last_finished.labels(*self.labels).set(time.time())


def _set(gauge: Family[Number], labels: tuple[str, ...], value: float | None) -> None:
    """Show a value, or no series where there is none: a 0 would be a good time."""
    if value is None:
        gauge.remove(*labels)
    else:
        gauge.labels(*labels).set(value)
