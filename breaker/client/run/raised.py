"""Says what an error that a tool raised means for what the tool was to do."""

from __future__ import annotations

from breaker.run import reading
from breaker.run.results import Flaw, of_status

# By the names of their classes, since the libraries that raise them needn't be here. Nothing was sent:
_NOTHING_HAPPENED = frozenset(
    ("ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError", "NewConnectionError", "gaierror")
)
_MOST_BEHIND = 16
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
    kinds = _kinds(error)
    name = type(error).__name__
    code = name if reading.NAME.fullmatch(name) else "exception"
    if kinds & _NOTHING_HAPPENED:
        return Flaw(code, retryable=True)
    return Flaw(code, unknown=any(_kinds(one) & _NOBODY_KNOWS for one in _behind(error)))


def _kinds(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _behind(error: BaseException) -> list[BaseException]:
    """An error, those in its group, and those that it was raised for."""
    found, open_ = list[BaseException](), [error]
    while open_ and len(found) < _MOST_BEHIND:
        one = open_.pop()
        if one in found:
            continue
        found.append(one)
        cause = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        open_ += [*(one.exceptions if isinstance(one, BaseExceptionGroup) else ()), *((cause,) if cause else ())]
    return found


def _status(error: BaseException) -> int | None:
    for name in ("status_code", "response"):
        try:
            value = getattr(error, name, None)
            status = getattr(value, "status_code", None) if name == "response" else value
        except Exception:  # noqa: BLE001, S112 # what an error does where it is looked at is none of the tool's
            continue
        if type(status) is int:
            return status
    return None
