"""Writes the service's log: one line an event, for people or for programs, and no floods."""

import logging
import sys

from breaker.logged import LOG_LOST
from monitor.logs.flood import LINES, Flood
from monitor.logs.forms import FORMS
from monitor.logs.once import Once
from monitor.settings import Logs

__all__ = ["LINES", "lost", "start"]

_log = logging.getLogger(__name__)

# Of these only what is wrong is of use to anybody.
_CHATTY = ("httpx", "httpcore", "uvicorn", "asyncio")
_OURS = ("breaker", "monitor")
_handler = logging.StreamHandler(sys.stderr)


def start(logs: Logs) -> None:
    """Write the log like this from now on; may be called again. Whoever has set up the root logger keeps it."""
    level = logging.getLevelName(logs.level.upper())
    _handler.setFormatter(FORMS[logs.form])
    if not _handler.filters:
        _handler.addFilter(Once())
        _handler.addFilter(Flood())
        _handler.setStream(sys.stderr)
        logging.basicConfig(level=logging.INFO, handlers=[_handler])
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


def lost(lines: int) -> None:
    """Say that so many lines weren't written."""
    _log.warning("%d lines of the log were lost, since nobody took them", lines, extra=LOG_LOST(count=lines))
