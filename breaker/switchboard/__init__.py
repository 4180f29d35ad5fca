"""Joins judging, deciding and routing to a store: report, route, hold, snapshot."""

from breaker.switchboard.board import LOOK_S, Switchboard
from breaker.switchboard.intake import MAX_WAITING, Dropped, Queue
from breaker.switchboard.listeners import Concluded, Judged, Listeners, Staged
from breaker.switchboard.runs import Followed
from breaker.switchboard.snapshot import REFRESH_S, STALE_AFTER_S
from breaker.switchboard.words import Network, Standing, newest

__all__ = [
    "LOOK_S",
    "MAX_WAITING",
    "REFRESH_S",
    "STALE_AFTER_S",
    "Concluded",
    "Dropped",
    "Followed",
    "Judged",
    "Listeners",
    "Network",
    "Queue",
    "Staged",
    "Standing",
    "Switchboard",
    "newest",
]
