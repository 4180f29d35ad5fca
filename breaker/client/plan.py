"""What decides among a route's targets, as the service tells it or the caller gives it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from breaker.circuit import Cause, Circuit, Held, state
from breaker.client.said import Decision, Spot
from breaker.policy import Policy, flaws
from breaker.route import Reason, Route
from breaker.target import Ability, Provider, Target

# What reading raises where something isn't as it should be.
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
# Circuits take 0.0 for "never", and the monotonic clock of a machine may begin there.
_LATER = 1e9


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Routes by name, with the policy and the circuit of each target; `told` says whether the service told any of it.

    Times of circuits are those of `circuit_time`.
    """

    routes: Mapping[str, Route]
    policies: Mapping[str, Policy]
    circuits: Mapping[str, Circuit]
    told: bool

    def route(self, name: str | None) -> Route | None:
        """A route by its name; without one `default`, or the only one. None where there is none."""
        if name is None:
            return next(iter(self.routes.values())) if len(self.routes) == 1 else self.routes.get("default")
        return self.routes.get(name)


def agreeing(plan: Plan, decision: Decision, since: float) -> Plan:
    """The plan with what a decision of the monotonic moment `since` tells besides: circuits may have moved in between.

    What stands before its target is out; of the primary it is known for how long. The target itself is not.
    """
    route = plan.route(decision.route)
    names = [] if route is None else [target.name for target in route.targets]
    if decision.target not in names or decision.role == "last_resort" or decision.reason == Reason.RETURNING:
        return plan
    at = circuit_time(since)
    circuits = dict(plan.circuits)
    for name in names[: names.index(decision.target)]:
        circuits[name] = _out(circuits.get(name, Circuit()), plan.policies[name], decision, at)
    if not state(circuits.get(decision.target, Circuit()), at).passes:
        circuits[decision.target] = Circuit()
    return replace(plan, circuits=circuits)


def _out(circuit: Circuit, policy: Policy, decision: Decision, at: float) -> Circuit:
    if not state(circuit, at).passes:
        return circuit
    for_s = policy.silent_s if decision.until_s is None else decision.until_s
    cause = Cause(decision.reason) if decision.reason in list(Cause) else Cause.ERRORS
    moved_at = at - (decision.since_s or 0.0)
    return Circuit(generation=circuit.generation + 1, cause=cause, moved_at=moved_at, open_until=at + for_s)


def circuit_time(monotonic: float) -> float:
    """A monotonic moment as circuits have it here."""
    return monotonic + _LATER


def read(said: Mapping[str, Any], now: float) -> Plan:
    """The plan in an answer to `GET /routes` of the monotonic moment `now`.

    Raises one of UNREADABLE where it is none.
    """
    targets = {each["target"]: _target(each["target"], each) for each in said["targets"]}
    routes = [
        Route(
            name=str(each["route"]),
            targets=tuple(targets[name] for name in each["targets"]),
            max_open_share=_number(each["max_open_share"]),
        )
        for each in said["routes"]
    ]
    if not all(route.targets for route in routes):
        raise ValueError("a route without targets")
    return Plan(
        routes={route.name: route for route in routes},
        policies={each["target"]: _policy(each["policy"]) for each in said["targets"]},
        circuits={each["target"]: _circuit(each["circuit"], circuit_time(now)) for each in said["targets"]},
        told=True,
    )


def given(name: str | None, spots: Sequence[Spot], *, told: bool = False) -> Plan:
    """The plan of a route of which only targets are known, the preferred one first.

    Raises KeyError, TypeError or ValueError for what is no target.
    """
    targets = tuple(_target(spot["target"], spot) for spot in spots)
    route = Route(name=name or "default", targets=targets)
    return Plan(
        routes={route.name: route},
        policies={target.name: Policy() for target in targets},
        circuits={},
        told=told,
    )


def _target(name: str, said: Mapping[str, Any]) -> Target:
    provider, slash, model = name.partition("/")
    if not (provider and slash and model):
        raise ValueError(f"{name!r} is no target; write it provider/model")
    key = said.get("api_key_env")
    made = Provider(
        name=provider,
        base_url=str(said["base_url"]),
        wire=str(said["wire"]),
        api_key_env=None if key is None else str(key),
    )
    can, most = said.get("can"), said.get("max_input_tokens")
    return Target(
        provider=made,
        model=model,
        can=None if can is None else tuple(ability for ability in Ability if ability.value in can),
        max_input_tokens=None if most is None else int(most),
    )


def _policy(said: Mapping[str, Any]) -> Policy:
    """The policy as far as its numbers are known here; the defaults where it couldn't work."""
    kinds = {field.name: field.type for field in fields(Policy)}
    known = {name: value for name, value in said.items() if name in kinds and type(value) in (bool, int, float)}
    policy = Policy(**known)
    return Policy() if flaws(policy) else policy


def _circuit(said: Mapping[str, Any], now: float) -> Circuit:
    since_s, open_s, held = said["since_s"], said["open_s"], said["held"]
    cause = said["cause"]
    return Circuit(
        generation=int(said["generation"]),
        cause=Cause(cause) if cause in list(Cause) else None,
        moved_at=0.0 if since_s is None else now - _number(since_s),
        open_until=None if open_s is None else now + _number(open_s),
        hold_s=_number(said["hold_s"]),
        held=None if held is None else _held(held, now),
    )


def _held(said: Mapping[str, Any], now: float) -> Held:
    since, until = now - _number(said["since_s"]), now + _number(said["until_s"])
    return Held(opened=bool(said["opened"]), who="", why="", since=since, until=until)


def _number(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type] # a number by then
        raise TypeError("no number")
    return float(value)  # type: ignore[arg-type] # a number by then
