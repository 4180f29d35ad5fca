"""Decides without the service: from what it last told, and what this client's own steps have come to since."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import groupby

from breaker import route as routes
from breaker.answer import Part
from breaker.circuit import Circuit, due, next_due
from breaker.client.plan import Plan, circuit_time
from breaker.client.said import Decision, Needs, Source
from breaker.client.step import Step
from breaker.log import BIN_S, Bin, Entry, Log, Weight, asks, weigh
from breaker.policy import Policy
from breaker.route import Role, Route, choose, unable
from breaker.target import Ability

# Of each target so many of the newest answers count.
_MOST = 128
# Between two looks a hold may end and one by hand, and what came since may open it again; more would be a fault.
_MOST_MOVES = 8
# Without the service a decision is looked at again after this.
LOOK_S = 1.0


class Local:
    """A breaker for the time without the service: the same rules, fed by this client's own answers.

    Nobody probes, so circuits close when their hold ends. One that the service told to be open stays so for as long
    as the service would wait for its own probes.
    """

    def __init__(self, plan: Plan, turn_s: float, before: Iterable[Step], now: float) -> None:
        self._plan = plan
        self._turn_s = turn_s
        self._policies = {name: replace(policy, probing=False) for name, policy in plan.policies.items()}
        self._logs: dict[str, dict[str, Entry]] = {name: {} for name in plan.policies}  # by id, the oldest first
        self._circuits = {
            name: _patient(plan.circuits.get(name, Circuit()), policy, circuit_time(now))
            for name, policy in plan.policies.items()
        }
        self._looked_at = dict.fromkeys(plan.policies, circuit_time(now))
        self.moved: set[str] = set()  # the targets whose circuits have moved since
        for step in before:
            self._add(step)

    def take(self, step: Step) -> None:
        """Let an answer count; no good one opens a circuit, and none closes one."""
        entry = self._add(step)
        if entry is not None and asks(step.answer, weigh(entry, self._policies[step.answer.target])):
            self._settle(step.answer.target, circuit_time(step.at))

    def decide(self, name: str | None, needs: Needs | None, now: float) -> Decision | None:
        """Where a step of a route should go; None where the route isn't known."""
        route = self._plan.route(name)
        if route is None:
            return None
        at = circuit_time(now)
        for target in route.targets:
            self._settle(target.name, at)
        moved = any(target.name in self.moved for target in route.targets)
        source = Source.LOCAL if moved else Source.KEPT if self._plan.told else Source.PRIMARY
        return fitting(self.plan, name, needs, self._turn_s, now, source)

    @property
    def plan(self) -> Plan:
        """The plan as it is now."""
        return replace(self._plan, circuits=self._circuits)

    def _settle(self, name: str, at: float) -> None:
        """Make the moves that have become due since the last look, each at its own moment."""
        for _ in range(_MOST_MOVES):
            circuit, log, policy = self._circuits[name], self._log(name), self._policies[name]
            moment = min(next_due(circuit, log, policy, self._looked_at[name]) or at, at)
            self._looked_at[name] = moment
            if (move := due(circuit, log, policy, moment)) is not None:
                self._circuits[name] = move.circuit
                self.moved.add(name)
            elif moment == at:
                return

    def _add(self, step: Step) -> Entry | None:
        """The entry of an answer that counts; None for one that doesn't, or has already."""
        log = self._logs.get(step.answer.target)
        if log is None:
            return None
        entry, first = _entry(step), log.get(step.answer.id)
        if first is not None:
            if first.answer.part is Part.FINAL or step.answer.part is Part.LATE:
                return None
            entry = replace(entry, at=first.at, late=True)  # both parts count once, when the first did
        elif len(log) >= _MOST:
            del log[next(iter(log))]
        log[step.answer.id] = entry
        return entry

    def _log(self, name: str) -> Log:
        entries = tuple(self._logs[name].values())
        return Log(reports=entries, bins=tuple(_bins(entries, self._circuits[name].moved_at, self._policies[name])))


def fitting(
    plan: Plan, name: str | None, needs: Needs | None, turn_s: float | None, now: float, source: Source
) -> Decision | None:
    """Where a step with needs should go; None where the route isn't known."""
    route = plan.route(name)
    if route is None:
        return None
    lacking = () if needs is None else unable(route.targets, _abilities(needs), needs.input_tokens)
    stale = source is not Source.SERVICE
    chosen = choose(route, plan.circuits, circuit_time(now), unable=lacking, turn_s=turn_s, stale=stale)
    return shown(chosen, plan.policies, source)


def _abilities(needs: Needs) -> list[Ability]:
    """Those that are known here: what isn't known can't be lacking."""
    return [ability for ability in Ability if ability.value in needs.abilities]


def besides(plan: Plan, name: str | None, tried: Collection[str], now: float, source: Source) -> Decision | None:
    """The best target of a route besides those that were tried; None where there is none."""
    route = plan.route(name)
    left = () if route is None else tuple(t for t in route.targets if t.name not in tried)
    if route is None or not left:
        return None
    chosen = choose(Route(name=route.name, targets=left), plan.circuits, circuit_time(now))
    role = Role.BACKUP if chosen.role is Role.PRIMARY and left[0] != route.targets[0] else chosen.role
    decision = shown(chosen, plan.policies, source)
    return replace(decision, role=role.value, primary=route.targets[0].name)


def shown(chosen: routes.Decision, policies: Mapping[str, Policy], source: Source) -> Decision:
    """A decision of the pure rules as an agent has it."""
    target, policy = chosen.target, policies[chosen.target.name]
    return Decision(
        route=chosen.route.name,
        target=target.name,
        provider=target.provider.name,
        model=target.model,
        base_url=target.provider.base_url,
        wire=target.provider.wire,
        api_key_env=target.provider.api_key_env,
        role=chosen.role.value,
        primary=chosen.route.targets[0].name,
        reason=chosen.reason.value,
        since_s=chosen.since_s,
        until_s=chosen.until_s,
        generation=chosen.generation,
        valid_for_s=min(chosen.valid_for_s, LOOK_S),
        stale=source is not Source.SERVICE,
        retry_after_s=chosen.retry_after_s,
        able=chosen.able,
        slow_s=policy.slow_s,
        silence_s=policy.silence_s,
        source=source,
    )


def _patient(circuit: Circuit, policy: Policy, lost_at: float) -> Circuit:
    """An open circuit stays so until the service would have given its probes up."""
    if circuit.open_until is None or not policy.probing:
        return circuit
    return replace(circuit, open_until=max(circuit.open_until, lost_at + policy.silent_s))


def _entry(step: Step) -> Entry:
    at = circuit_time(step.at)
    return Entry(
        answer=step.answer,
        verdict=step.judgement.verdict,
        blame=step.judgement.blame,
        at=at,
        began=at - step.answer.began_ago_s,
        late=step.answer.part is Part.LATE,
    )


def _bins(entries: Iterable[Entry], moved_at: float, policy: Policy) -> Iterable[Bin]:
    """How many reports of each kind counted, as the store would have it."""
    for start, within in groupby(sorted(entries, key=lambda e: e.at), lambda e: e.at // BIN_S * BIN_S):
        weights = [weigh(e, policy) if e.began > moved_at else Weight.NOTHING for e in within]
        ok, failure, late = (weights.count(w) for w in (Weight.GOOD, Weight.FAILED, Weight.SLOW))
        yield Bin(start, ok=ok, failure=failure, nothing=len(weights) - ok - failure - late, late=late)
