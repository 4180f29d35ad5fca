"""The journal of the run in which something happens, as far as whoever does it knows of none."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from breaker.client.run.journal import Journal

current: ContextVar[Journal | None] = ContextVar("firstbyte-run", default=None)
