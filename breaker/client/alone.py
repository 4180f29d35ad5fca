"""What a client goes on with while the service is away: the plan it was told or given, and a breaker for each route."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from breaker.client.local import Local, besides, fitting
from breaker.client.plan import Plan, agreeing, given
from breaker.client.said import Decision, Fallback, Needs, Source, Spot, spots
from breaker.client.step import Step
from breaker.policy import Policy
from breaker.route import turn_s


class Alone:
    """Knows the rules; `fallback` are the caller's own targets, used where the service has never told any.

    `session` is whose steps these are: after a circuit's close they return at their own turn.
    """

    def __init__(self, fallback: Fallback, session: str) -> None:
        self._turn_s = turn_s(session)
        self._fallback = fallback
        self._plan: Plan | None = None
        self._locals: dict[str | None, Local] = {}

    def told(self, plan: Plan) -> None:
        """The service has told what decides."""
        self._plan = plan

    def policy(self, target: str) -> Policy | None:
        """A target's policy; None where it isn't known."""
        return None if self._plan is None else self._plan.policies.get(target)

    def decide(
        self, name: str | None, said: Decision | None, said_at: float, steps: Iterable[Step], now: float
    ) -> Decision | None:
        """Where a step should go without the service, which said this last; None where no target is known."""
        if name not in self._locals:
            plan = self._planned(name, said, said_at)
            if plan is None:
                return None
            self._locals[name] = Local(plan, self._turn_s, steps, now)
        return self._locals[name].decide(name, None, now)

    def fitting(
        self, name: str | None, needs: Needs, said: Decision | None, said_at: float, now: float
    ) -> Decision | None:
        """Where a step with needs should go, by what is known here; None where that is too little."""
        if (local := self._locals.get(name)) is not None:
            return local.decide(name, needs, now)
        plan = self._planned(name, said, said_at)
        if plan is None:
            return None
        return fitting(plan, name, needs, self._turn_s, now, Source.SERVICE if plan.told else Source.PRIMARY)

    def besides(
        self, name: str | None, tried: Collection[str], said: Decision | None, said_at: float, now: float
    ) -> Decision | None:
        """The best target of a route besides those that were tried; None where none is known."""
        if (local := self._locals.get(name)) is not None:
            return besides(local.plan, name, tried, now, Source.LOCAL)
        plan = self._planned(name, said, said_at)
        if plan is None:
            return None
        return besides(plan, name, tried, now, Source.SERVICE if plan.told else Source.PRIMARY)

    def take(self, step: Step) -> Collection[str | None]:
        """Let a step count; gives the routes that go on without the service."""
        for local in self._locals.values():
            local.take(step)
        return self._locals.keys()

    def back(self, name: str | None) -> None:
        """The service decides about a route again, or nobody asks for it."""
        self._locals.pop(name, None)

    def _planned(self, name: str | None, said: Decision | None, said_at: float) -> Plan | None:
        """The plan that tells most: the service's, else the caller's; each with what the service has said since."""
        if self._plan is not None and self._plan.route(name) is not None:
            plan = self._plan
        elif (known := _spots(self._fallback, name, said)) != []:
            plan = given(said.route if said else name, known, told=said is not None)
        else:
            return None
        return agreeing(plan, said, said_at) if said else plan


def _spots(fallback: Fallback, name: str | None, said: Decision | None) -> list[Spot]:
    """The caller's targets; before them the one that the service named, if it isn't among them."""
    known = list(spots(fallback, name))
    if said is None or any(spot["target"] == said.target for spot in known):
        return known
    named: Spot = {
        "target": said.target,
        "base_url": said.base_url,
        "wire": said.wire,
        "api_key_env": said.api_key_env,
    }
    return [named, *known]
