"""A transport for httpx and httpx2: no step waits on a dead provider, or takes an error's text for an answer."""

from importlib import import_module
from typing import TYPE_CHECKING

from breaker.client.transport.transports import AsyncTransport, Transport
from breaker.errors import AnswerError

if TYPE_CHECKING:
    from breaker.attempt import Limits
    from breaker.client.transport.course import Restart
    from breaker.client.transport.guide import Guide

__all__ = ["AnswerError", "AsyncTransport", "Guide", "Limits", "Restart", "Transport"]

# Loaded when they are asked for: importing a transport costs little, making one loads what its steps need.
_LATER = {
    "Guide": "breaker.client.transport.guide",
    "Limits": "breaker.attempt",
    "Restart": "breaker.client.transport.course",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """One of those that are loaded when they are asked for."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_LATER[name]), name)
