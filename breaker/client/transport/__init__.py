"""A transport for httpx and httpx2: no step waits on a dead provider, or takes an error's text for an answer."""

from breaker.attempt import Limits
from breaker.client.transport.guide import Guide
from breaker.client.transport.plan import Restart
from breaker.client.transport.transports import AsyncTransport, Transport
from breaker.errors import AnswerError

__all__ = ["AnswerError", "AsyncTransport", "Guide", "Limits", "Restart", "Transport"]
