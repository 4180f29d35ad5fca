"""What an agent installs: route, report, done, and the means to look and to act by hand."""

from breaker.client.door import Door
from breaker.client.events import AsyncEvents, Events
from breaker.client.firstbyte import AsyncFirstbyte, Firstbyte
from breaker.client.moved import Moved
from breaker.client.run.said import DecidedBy, Done
from breaker.client.said import Decision, Fallback, Source, Spot
from breaker.errors import DoorAddressError, DoorError, DoorGoneError, DoorRefusedError, NotStartedError

__all__ = [
    "AsyncEvents",
    "AsyncFirstbyte",
    "DecidedBy",
    "Decision",
    "Done",
    "Door",
    "DoorAddressError",
    "DoorError",
    "DoorGoneError",
    "DoorRefusedError",
    "Events",
    "Fallback",
    "Firstbyte",
    "Moved",
    "NotStartedError",
    "Source",
    "Spot",
]
