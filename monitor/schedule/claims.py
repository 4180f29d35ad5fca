"""Sees to it that of all processes on one store one sends each probe, and only one at a time asks a target."""

import asyncio
import contextlib
import logging
import secrets
import time
from typing import Protocol

from breaker.errors import StoreError
from breaker.logged import CLAIMS_MISSING
from breaker.policy import Policy
from breaker.store.claim import Grant, Wish

_log = logging.getLogger(__name__)

# A claim is renewed three times before it would lapse.
_RENEWALS = 3
# While the store takes no word, a claim is offered back this often, until it has lapsed by itself.
_AGAIN_S = 0.25
# A probe has told something by the slow limit; a claim that nobody renews lapses so long after it.
LEASE_S = 5.0
# A claim lapses after this part of an interval in any case, so that one who died keeps back no whole turn; but a busy
# process needs some time to renew one.
LEASE_INTERVALS, LEASE_LEAST_S = 0.5, 2.0


def lease_s(policy: Policy) -> float:
    """How long a claim lasts that nobody renews, in seconds."""
    return min(policy.slow_s + LEASE_S, max(policy.interval_s * LEASE_INTERVALS, LEASE_LEAST_S))


class Claiming(Protocol):
    """The part of a store that keeps claims."""

    async def take(self, target: str, holder: str, for_s: float, wish: Wish) -> Grant:
        """Take the one claim on a target for a probe, unless another has it or has made the probe needless."""
        ...

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        """Renew a claim, or take it again; False while another holder has it. It lapses by itself."""
        ...

    async def unclaim(self, target: str, holder: str, told: Wish | None = None) -> None:
        """Give a claim back, and say what its probe was for if it told something; another's stays as it is."""
        ...


class Claim:
    """A claim on a target for as long as its probe keeps its place; renewed until it is given back.

    `shared` is False where the store couldn't give one, so that others may probe as well. `owed` keeps the tasks in
    which it is given back later.
    """

    def __init__(
        self,
        store: Claiming,
        target: str,
        holder: str,
        lease_s: float,
        wish: Wish,
        owed: set[asyncio.Task[None]],
        *,
        shared: bool,
    ) -> None:
        self._store = store
        self._target, self._holder, self._lease_s, self._wish = target, holder, lease_s, wish
        self._owed = owed
        self._renewing: asyncio.Task[None] | None = asyncio.create_task(self._renew(), name=f"the claim on {target}")
        self.shared = shared

    async def give_back(self, *, told: bool = True) -> None:
        """Let others probe; those for whom this probe did as well don't, unless it told nothing.

        May be called twice. A store that takes no word just now is told again in the background: until then nobody
        else may probe, and those who come late would probe for this one's turn again.
        """
        renewing, self._renewing = self._renewing, None
        if renewing is None:
            return
        renewing.cancel()
        wish = self._wish if told else None
        if not await self._given_back(wish):
            task = asyncio.create_task(self._give_back_later(wish), name=f"giving the claim on {self._target} back")
            self._owed.add(task)
            task.add_done_callback(self._owed.discard)

    async def _given_back(self, wish: Wish | None) -> bool:
        try:
            await self._store.unclaim(self._target, self._holder, wish)
        except StoreError:
            return False
        return True

    async def _give_back_later(self, wish: Wish | None) -> None:
        """Twice that reaches a store is as good as once; what has lapsed by itself still tells what it was good for."""
        ends = time.monotonic() + self._lease_s
        while time.monotonic() < ends:
            await asyncio.sleep(_AGAIN_S)
            if await self._given_back(wish):
                return

    async def _renew(self) -> None:
        has_it = True
        while has_it:  # else it lapsed while we stood still, and another probes meanwhile
            await asyncio.sleep(self._lease_s / _RENEWALS)
            with contextlib.suppress(StoreError):
                has_it = await self._store.claim(self._target, self._holder, self._lease_s)


class Claims:
    """Takes claims for probes.

    Of several processes on one store only one at a time waits for an answer of a target, and only one sends the probe
    that all of them wish for. One that is killed keeps its claim for a lease at most, one that stands still as well;
    since nothing was told, another makes up for it. While the store is gone there are no claims, and each process
    probes on its own.
    """

    def __init__(self, store: Claiming) -> None:
        self._store = store
        self._gone = False
        self._owed: set[asyncio.Task[None]] = set()

    async def take(self, target: str, lease_s: float, wish: Wish) -> Claim | Grant:
        """The claim on a target; what the store said where it isn't given."""
        holder, shared = secrets.token_hex(8), True
        try:
            grant = await self._store.take(target, holder, lease_s, wish)
            self._gone = False
            if not grant.given:
                return grant
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):
                await self._store.unclaim(target, holder)  # it may have been given without our hearing of it
            raise
        except StoreError as error:
            shared = False
            if not self._gone:  # once for each time that it goes
                self._gone = True
                _log.warning(
                    "probes begin without a claim, since the store can't give one, and other processes on it probe"
                    " as well: %s",
                    error,
                    extra=CLAIMS_MISSING(),
                )
        return Claim(self._store, target, holder, lease_s, wish, self._owed, shared=shared)

    async def close(self) -> None:
        """Owe nothing any more; what the store wasn't told lapses by itself. May be called twice."""
        for task in list(self._owed):
            task.cancel()
        await asyncio.gather(*self._owed, return_exceptions=True)
