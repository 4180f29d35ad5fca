"""What is to be told: a move, or that a route has no target left."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Self

from breaker.circuit import Move
from monitor.settings import Told


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message. `at` and `until` are seconds since 1970, `until` None for no known end.

    `id` names what happened, the same on every replica. `good` says whether it is good news.
    """

    id: str
    event: Told
    at: float
    target: str
    before: str
    after: str
    cause: str
    why: str
    good: bool
    route: str | None = None
    until: float | None = None

    @classmethod
    def of_move(cls, target: str, move: Move) -> Self:
        """That a circuit has moved."""
        circuit = move.circuit
        until = circuit.held.until if circuit.held is not None else circuit.open_until
        return cls(
            id=f"{target}:{circuit.epoch}:{circuit.generation}",
            event=Told.MOVES,
            at=move.at,
            target=target,
            before=move.before.value,
            after=move.after.value,
            cause=move.cause.value,
            why=move.why,
            good=move.after.passes,
            until=until,
        )

    @classmethod
    def of_route(cls, route: str, generations: str, target: str, move: Move) -> Self:
        """That a move has left a route without a target; `generations` tell this time from others."""
        moved = asdict(cls.of_move(target, move)) | {"id": f"{route}:{generations}", "event": Told.NO_TARGET}
        return cls(**(moved | {"route": route, "until": None}))

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The message that `written` wrote; None for what another version wrote."""
        try:
            found = json.loads(text)
            return cls(**(found | {"event": Told(found["event"])}))
        except (ValueError, TypeError, KeyError):
            return None

    def written(self) -> str:
        """As it lies in the store."""
        return json.dumps(asdict(self))

    @property
    def title(self) -> str:
        """In a few words."""
        if self.event is Told.NO_TARGET:
            return f"Route {self.route} has no target left"
        return f"{self.target} is {self.after}"

    @property
    def text(self) -> str:
        """In a sentence or two."""
        if self.event is Told.NO_TARGET:
            return f"The circuit of {self.target} went too ({self.why}); agents are sent to the least bad one."
        until = "" if self.until is None else f", until {moment(self.until)}"
        return f"Its circuit moved from {self.before} to {self.after} at {moment(self.at)}{until}: {self.why}."


def moment(at: float) -> str:
    """A moment as people read it."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
