"""Says what an error that a tool raised means for what the tool was to do."""

from __future__ import annotations

from breaker.run import reading
from breaker.run.results import Flaw, of_status

# By the names of their classes, since the libraries that raise them needn't be here. Nothing was sent:
_NOTHING_HAPPENED = frozenset(
    ("ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError", "NewConnectionError", "gaierror")
)
# Something was sent, and no answer came.
_NOBODY_KNOWS = frozenset(
    (
        "TimeoutError",
        "Timeout",
        "TimeoutException",
        "APITimeoutError",
        "NetworkError",
        "ProtocolError",
        "ConnectionError",
        "APIConnectionError",
        "CancelledError",
        "KeyboardInterrupt",
        "SystemExit",
        "GeneratorExit",
    )
)


def flaw_of(error: BaseException) -> Flaw:
    """What is known of a call that raised this: by its HTTP status where it has one, else by its kinds."""
    status = _status(error)
    if status is not None and (found := of_status(status)) is not None:
        return found
    kinds = {kind.__name__ for kind in type(error).__mro__}
    name = type(error).__name__
    code = name if reading.NAME.fullmatch(name) else "exception"
    if kinds & _NOTHING_HAPPENED:
        return Flaw(code, retryable=True)
    return Flaw(code, unknown=bool(kinds & _NOBODY_KNOWS))


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if type(status) is int:
            return status
    return None
