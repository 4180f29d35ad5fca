"""Makes the answer to `GET /route` ahead of the question: once for all who ask it before it could be another."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from starlette.responses import Response

from breaker.api import shaping
from breaker.api.replies import BASE_HEADERS, as_json
from breaker.errors import UnknownNameError
from breaker.route import VALID_FOR_S, Decision
from breaker.switchboard import STALE_AFTER_S, Switchboard

# An answer is given for so long: its seconds are wrong by no more.
LASTS_S = 1.0
# The same where a hold is about to end or the store is awaited, so that agents come back when they should.
SHARP_S = 0.01


@dataclass(frozen=True, slots=True)
class Said:
    """An answer to `GET /route`, rendered: `full`, and `unchanged` for those who know it already.

    Both are given many times, so nobody may change them. `lasts_until` is the monotonic moment from which another is
    to be rendered, `changes_at` the one from which it may say something else, not only other seconds.
    """

    route: str
    etag: str
    full: Response
    unchanged: Response
    lasts_until: float
    changes_at: float

    def answering(self, condition: str) -> Response:
        """What an If-None-Match header gets; "" for none."""
        return self.unchanged if self.known_to(condition) else self.full

    def known_to(self, condition: str) -> bool:
        """Whether an If-None-Match header names this answer."""
        if not condition:
            return False
        known = [part.strip().removeprefix("W/") for part in condition.split(",")]
        return "*" in known or self.etag.removeprefix("W/") in known


class Prepared:
    """The answer of each route, from memory. A circuit that moves makes it anew, and so does the clock."""

    def __init__(self, board: Switchboard) -> None:
        self._board = board
        self._said: dict[str, Said] = {}
        self._routes: dict[str, list[str]] = {}
        for route in board.routes:
            for target in route.targets:
                self._routes.setdefault(target.name, []).append(route.name)
        self._watching: list[Callable[[], None]] = []
        board.watch(self._moved)

    @property
    def names(self) -> list[str]:
        """The names of all routes."""
        return [route.name for route in self._board.routes]

    def default(self) -> str | None:
        """The route that needs no name; None where there is none."""
        try:
            return self._board.route().route.name
        except UnknownNameError:
            return None

    def answer(self, name: str) -> Said:
        """What a route's agents are told now. Raises UnknownNameError."""
        said, now = self._said.get(name), time.monotonic()
        if said is None or now >= said.lasts_until:
            self._said[name] = said = render(self._board.route(name), now, self._fresh_s())
        return said

    def watch(self, moved: Callable[[], None]) -> None:
        """Call this when answers may have changed by a circuit that moved."""
        self._watching.append(moved)

    def _moved(self, target: str) -> None:
        for name in self._routes.get(target, ()):
            self._said.pop(name, None)
        for tell in self._watching:
            tell()

    def _fresh_s(self) -> float:
        age_s = self._board.age_s()
        return 0.0 if age_s is None else max(STALE_AFTER_S - age_s, 0.0)


def render(decision: Decision, at: float, fresh_s: float) -> Said:
    """A decision as it is sent, made at the monotonic moment `at`; `fresh_s` is when it would be stale (0: it is)."""
    changes_s = LASTS_S if decision.stale else fresh_s
    if decision.changes_s is not None:
        changes_s = min(changes_s, decision.changes_s)
    lasts_s = min(SHARP_S if _sharp(decision) else LASTS_S, changes_s)
    if decision.until_s is not None:  # whoever gets it last must not go on with it beyond the hold
        valid_for_s = max(min(decision.valid_for_s, decision.until_s - lasts_s), 0.0)
        decision = replace(decision, valid_for_s=valid_for_s)
    tag = etag(decision)
    headers = {**BASE_HEADERS, "ETag": tag, "Cache-Control": f"max-age={int(decision.valid_for_s)}"}
    return Said(
        route=decision.route.name,
        etag=tag,
        full=as_json(shaping.of_decision(decision), headers=headers),
        unchanged=Response(status_code=304, headers=headers),
        lasts_until=at + lasts_s,
        changes_at=at + changes_s,
    )


def etag(decision: Decision) -> str:
    """The same as long as an agent would do the same; weak, since the seconds in the body run on."""
    what = (decision.route.name, decision.target, decision.role, decision.state, decision.reason)
    parts = (*what, decision.generation, decision.stale)
    return f'W/"{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"'


def _sharp(decision: Decision) -> bool:
    return decision.stale or (decision.until_s is not None and decision.until_s <= VALID_FOR_S + LASTS_S)
