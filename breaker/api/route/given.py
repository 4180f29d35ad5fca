"""Counts what agents are told, in plain numbers: answers come by the ten thousand a second."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from breaker.route import Decision, Role, Route
from breaker.target import Target


class Told(NamedTuple):
    """What can be told of a route: where to, as what, and whether the store was gone meanwhile."""

    route: str
    target: Target
    role: Role
    stale: bool


class Count:
    """How often something was told."""

    __slots__ = ("times",)

    def __init__(self) -> None:
        self.times = 0


class Given:
    """How often each decision was given, from 0 on for all that routes usually say."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._counts: dict[Told, Count] = {told: Count() for route in routes for told in _usual(route)}

    def renew(self, routes: Sequence[Route]) -> None:
        """Count for these routes from now on; what routes and targets that stay were told is still counted."""
        stay = {(route.name, target.name) for route in routes for target in route.targets}
        kept = {told: count for told, count in self._counts.items() if (told.route, told.target.name) in stay}
        self._counts = {**{told: Count() for route in routes for told in _usual(route)}, **kept}

    def of(self, decision: Decision) -> Count:
        """The count of a decision; whoever gives it adds to that."""
        told = Told(decision.route.name, decision.target, decision.role, decision.stale)
        return self._counts.setdefault(told, Count())

    def times(self) -> Iterator[tuple[Told, int]]:
        """Everything that can be told, and how often it was."""
        return ((told, count.times) for told, count in list(self._counts.items()))


def _usual(route: Route) -> Iterator[Told]:
    for target in route.targets:
        place = Role.PRIMARY if target == route.targets[0] else Role.BACKUP
        for role in (place, Role.LAST_RESORT):
            yield from (Told(route.name, target, role, stale) for stale in (False, True))
