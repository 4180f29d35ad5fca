"""What an agent installs: route, report, and the means to look and to act by hand."""

from breaker.client.door import Firstbyte
from breaker.client.said import Decision
from breaker.errors import DoorAddressError, DoorError, DoorGoneError, DoorRefusedError

__all__ = ["Decision", "DoorAddressError", "DoorError", "DoorGoneError", "DoorRefusedError", "Firstbyte"]
