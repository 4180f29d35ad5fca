"""Opens TCP connections, and closes them at once, to see who can be reached."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any

from monitor.settings import Address

# Of a name's many addresses only so many are tried.
_TRIED = 4

_Found = list[tuple[socket.AddressFamily, Any]]


class Reach:
    """Says whether any of some addresses takes a connection.

    Names are looked up in threads, which can't be stopped; one that hangs is looked up no second time meanwhile.
    """

    def __init__(self) -> None:
        self._lookups: dict[Address, asyncio.Future[_Found]] = {}

    async def any(self, addresses: Iterable[Address], limit_s: float) -> bool:
        """Whether one takes a connection within the limit; all are tried at once, and the first to do so is enough."""
        return await _any((self._takes(address) for address in addresses), limit_s)

    async def _takes(self, address: Address) -> bool:
        try:
            found = await self._find(address)
        except OSError:
            return False
        return await _any((_connects(family, place) for family, place in found[:_TRIED]), None)

    async def _find(self, address: Address) -> _Found:
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(address.host)
            return _look_up(address, socket.AI_NUMERICHOST)
        running = self._lookups.get(address)
        if running is None:
            running = asyncio.get_running_loop().run_in_executor(None, partial(_look_up, address))
            self._lookups[address] = running
            running.add_done_callback(partial(self._forget, address))
        return await asyncio.shield(running)

    def _forget(self, address: Address, done: "asyncio.Future[_Found]") -> None:
        del self._lookups[address]
        if not done.cancelled():
            done.exception()  # nobody may be waiting for it any more


def _look_up(address: Address, flags: int = 0) -> _Found:
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, place) for family, _, _, _, place in found]


async def _connects(family: socket.AddressFamily, place: Any) -> bool:  # an address of any family
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trying:
            trying.setblocking(False)
            await asyncio.get_running_loop().sock_connect(trying, place)
    except OSError:
        return False
    return True


async def _any(works: Iterable[Coroutine[Any, Any, bool]], limit_s: float | None) -> bool:
    """Whether one of the works gives True within the limit; the rest are dropped then."""
    loop = asyncio.get_running_loop()
    ends = None if limit_s is None else loop.time() + limit_s
    pending = {asyncio.create_task(work) for work in works}
    try:
        while pending:
            left_s = None if ends is None else max(0.0, ends - loop.time())
            done, pending = await asyncio.wait(pending, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            if any(task.result() for task in done):
                return True
            if not done:
                return False
        return False
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
