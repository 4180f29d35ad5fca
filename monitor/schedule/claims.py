"""Sees to it that of all processes on one store only one at a time probes a target."""

import asyncio
import contextlib
import logging
import secrets
from typing import Protocol

from breaker.errors import StoreError

_log = logging.getLogger(__name__)

# A claim is renewed three times before it would lapse.
_RENEWALS = 3


class Claiming(Protocol):
    """The part of a store that keeps claims."""

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        """Take the one claim on a target, or renew it; False while another holder has it. It lapses by itself."""
        ...

    async def unclaim(self, target: str, holder: str) -> None:
        """Give a claim back; one that another has taken since stays as it is."""
        ...


class Claim:
    """A claim on a target for as long as its probe keeps its place; renewed until it is given back."""

    def __init__(self, store: Claiming, target: str, holder: str, lease_s: float) -> None:
        self._store = store
        self._target, self._holder, self._lease_s = target, holder, lease_s
        self._renewing: asyncio.Task[None] | None = asyncio.create_task(self._renew(), name=f"the claim on {target}")

    async def give_back(self) -> None:
        """Let others probe. May be called twice; a store that is gone forgets it by itself."""
        renewing, self._renewing = self._renewing, None
        if renewing is None:
            return
        renewing.cancel()
        with contextlib.suppress(StoreError):
            await self._store.unclaim(self._target, self._holder)

    async def _renew(self) -> None:
        has_it = True
        while has_it:  # else it lapsed while we stood still, and another probes meanwhile
            await asyncio.sleep(self._lease_s / _RENEWALS)
            with contextlib.suppress(StoreError):
                has_it = await self._store.claim(self._target, self._holder, self._lease_s)


class Claims:
    """Takes claims for probes.

    Of several processes on one store only one at a time waits for an answer of a target, whatever it probes for. One
    that is killed keeps its claim for a lease at most, one that stands still as well. Each process goes on to take all
    of its turns: two processes probe each target twice in an interval. While the store is gone there are no claims,
    and probing goes on.
    """

    def __init__(self, store: Claiming) -> None:
        self._store = store
        self._gone = False

    async def take(self, target: str, lease_s: float) -> Claim | None:
        """The claim on a target; None while another process has it."""
        holder = secrets.token_hex(8)
        try:
            if not await self._store.claim(target, holder, lease_s):
                return None
            self._gone = False
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):
                await self._store.unclaim(target, holder)  # it may have been given without our hearing of it
            raise
        except StoreError as error:
            if not self._gone:  # once for each time that it goes
                self._gone = True
                _log.warning("probes begin without a claim, since the store can't give one: %s", error)
        return Claim(self._store, target, holder, lease_s)
