"""What the door keeps for all who ask, however they come in."""

from dataclasses import dataclass, field

from breaker.api.feed import Feed
from breaker.api.route.prepared import Prepared
from breaker.api.route.times import Times
from breaker.api.route.waiting import Waiting
from breaker.switchboard import Switchboard


@dataclass(frozen=True, slots=True)
class Desk:
    """The prepared answers of a door, those that are held back, the streams of moves, and how long answers take."""

    prepared: Prepared
    waiting: Waiting
    feed: Feed
    times: Times = field(default_factory=Times)

    @classmethod
    def over(cls, board: Switchboard) -> "Desk":
        """A desk that follows this switchboard."""
        prepared = Prepared(board)
        return cls(prepared, Waiting(prepared), Feed(board))

    def renew(self) -> None:
        """Follow the switchboard to other routes and targets: all who wait are told, streams go on."""
        self.prepared.renew()
        self.waiting.renew()
        self.feed.renew()

    def close(self) -> None:
        """Answer all who wait and end all streams; whoever comes later is answered at once."""
        self.waiting.close()
        self.feed.close()
