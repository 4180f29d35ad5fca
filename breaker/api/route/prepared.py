"""Makes answers to `GET /route` ahead of the questions: once for all who ask the same before it could be another."""

import hashlib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

from starlette.responses import Response

from breaker.api import shaping
from breaker.api.replies import BASE_HEADERS, as_json
from breaker.api.route.asked import Asked
from breaker.api.route.given import Count, Given
from breaker.errors import UnknownNameError
from breaker.route import RAMP_S, VALID_FOR_S, Decision, turn_s, unable
from breaker.switchboard import Switchboard
from breaker.target import Ability

# An answer is given for so long: its seconds are wrong by no more.
LASTS_S = 1.0
# The same where a hold is about to end, so that agents come back when they should.
SHARP_S = 0.01
# The most different answers that are kept; while sessions return, each turn has one of its own.
MOST_KEPT = 4_096


@dataclass(frozen=True)
class Said:
    """An answer to `GET /route`: `full`, and `unchanged` for those who know it already; rendered when first sent.

    Both are given many times, so nobody may change them. `lasts_until` is the monotonic moment from which another is
    to be made, `changes_at` the one from which it may say something else, not only other seconds. Until `back_at`
    sessions may be told otherwise. Whoever gives it adds to `count`.
    """

    asked: Asked
    decision: Decision
    etag: str
    lasts_until: float
    changes_at: float
    back_at: float
    count: Count = field(default_factory=Count)

    @cached_property
    def full(self) -> Response:
        """The whole answer."""
        return as_json(shaping.of_decision(self.decision), headers=self._headers)

    @cached_property
    def unchanged(self) -> Response:
        """That it is the one that is known."""
        return Response(status_code=304, headers=self._headers)

    def answering(self, condition: str) -> Response:
        """What an If-None-Match header gets; "" for none."""
        return self.unchanged if self.known_to(condition) else self.full

    def known_to(self, condition: str) -> bool:
        """Whether an If-None-Match header names this answer."""
        if not condition:
            return False
        known = [part.strip().removeprefix("W/") for part in condition.split(",")]
        return "*" in known or self.etag.removeprefix("W/") in known

    @property
    def _headers(self) -> dict[str, str]:
        return {**BASE_HEADERS, "ETag": self.etag, "Cache-Control": f"max-age={int(self.decision.valid_for_s)}"}


class Prepared:
    """The answers of each route, from memory. A circuit that moves makes them anew, and so does the clock.

    `default` is the route that needs no name, None where there is none.
    """

    def __init__(self, board: Switchboard) -> None:
        self._board = board
        self._take_routes()
        self.default = self._default()
        self.given = Given(board.routes)
        self._said: dict[Asked, Said] = {}
        self._watching: list[Callable[[], None]] = []
        board.watch(self._moved)
        board.watch_store(self._turned)

    @property
    def names(self) -> list[str]:
        """The names of all routes."""
        return list(self._targets)

    def renew(self) -> None:
        """Take over the routes that the switchboard has now."""
        self._take_routes()
        self.default = self._default()
        self.given.renew(self._board.routes)
        self._said.clear()

    def asked(
        self, route: str, needs: Collection[Ability] = (), input_tokens: int = 0, session: str | None = None
    ) -> Asked:
        """What an answer to this depends on. Raises UnknownNameError."""
        if route not in self._targets:
            raise UnknownNameError("route", route, self._targets)
        lacking = unable(self._targets[route], needs, input_tokens)
        return Asked(route, lacking, None if session is None else turn_s(session))

    def answer(self, asked: Asked) -> Said:
        """What whoever asks this is told now."""
        now = time.monotonic()
        if asked.turn_s is not None:
            others = self.answer(asked._replace(turn_s=None))
            if now >= others.back_at - RAMP_S + asked.turn_s:  # it is one of them
                return others
        said = self._said.get(asked)
        if said is None or now >= said.lasts_until:
            said = self._made(asked, now)
        return said

    def watch(self, moved: Callable[[], None]) -> None:
        """Call this when answers may have changed by a circuit that moved, or a store that fell silent or is back."""
        self._watching.append(moved)

    def _made(self, asked: Asked, now: float) -> Said:
        if len(self._said) >= MOST_KEPT:
            self._said.clear()
        decision = self._board.route(asked.route, unable=asked.unable, turn_s=asked.turn_s)
        said = replace(render(asked, decision, now, self._board.fresh_s(asked.route)), count=self.given.of(decision))
        self._said[asked] = said
        return said

    def _take_routes(self) -> None:
        self._targets = {route.name: route.targets for route in self._board.routes}
        self._named = {name: {target.name for target in targets} for name, targets in self._targets.items()}

    def _default(self) -> str | None:
        """The route that needs no name; None where there is none."""
        try:
            return self._board.route().route.name
        except UnknownNameError:
            return None

    def _moved(self, target: str) -> None:
        names = {name for name, named in self._named.items() if target in named}
        for asked in [asked for asked in self._said if asked.route in names]:
            del self._said[asked]
        self._tell()

    def _turned(self) -> None:
        self._said.clear()
        self._tell()

    def _tell(self) -> None:
        for tell in self._watching:
            tell()


def render(asked: Asked, decision: Decision, at: float, fresh_s: float) -> Said:
    """A decision as it is sent, made at the monotonic moment `at`; `fresh_s` is when it would be stale (0: it is)."""
    changes_s = LASTS_S if decision.stale else fresh_s
    if decision.changes_s is not None:
        changes_s = min(changes_s, decision.changes_s)
    lasts_s = min(SHARP_S if _sharp(decision) else LASTS_S, changes_s)
    if decision.ends_s is not None:  # whoever gets it last must not go on with it beyond that
        valid_for_s = max(min(decision.valid_for_s, decision.ends_s - lasts_s), 0.0)
        decision = replace(decision, valid_for_s=valid_for_s)
    return Said(
        asked=asked,
        decision=decision,
        etag=etag(decision),
        lasts_until=at + lasts_s,
        changes_at=at + changes_s,
        back_at=at + decision.ramp_s,
    )


def etag(decision: Decision) -> str:
    """The same as long as an agent would do the same; weak, since the seconds in the body run on."""
    what = (decision.route.name, decision.target, decision.role, decision.state, decision.reason)
    parts = (*what, decision.generation, decision.stale, decision.unable)
    return f'W/"{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"'


def _sharp(decision: Decision) -> bool:
    return decision.ends_s is not None and decision.ends_s <= VALID_FOR_S + LASTS_S
