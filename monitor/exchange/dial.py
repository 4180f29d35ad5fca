"""Opens TCP connections by name or number, the first address that answers."""

import asyncio
import contextlib
import ipaddress
import socket
from collections import deque
from functools import partial
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from monitor.exchange.errors import ExchangeError

# An address that hasn't answered after this has company by the next (RFC 8305, "Connection Attempt Delay").
HEAD_START_S = 0.25


class Endpoint(NamedTuple):
    """Where to connect to."""

    family: socket.AddressFamily
    address: Any  # of any family


async def dial(host: str, port: int) -> socket.socket:
    """A connected socket, which is yours to close. Raises OSError as the last address gave it, or ExchangeError."""
    endpoints = await look_up(host, port)
    return await _connect(endpoints[0]) if len(endpoints) == 1 else await _race(deque(endpoints))


async def look_up(host: str, port: int) -> list[Endpoint]:
    """A host's addresses, the families taking turns. Names are looked up in the loop's threads."""
    find = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        if _is_number(host):
            found = find(flags=socket.AI_NUMERICHOST)
        else:
            # Not the loop's own way: uvloop has four threads for that, whatever the executor has.
            found = await asyncio.get_running_loop().run_in_executor(None, find)
    except UnicodeError:
        raise ExchangeError("no host can have such a name") from None
    endpoints = [Endpoint(family, address) for family, _, _, _, address in found]
    first = [endpoint for endpoint in endpoints if endpoint.family is endpoints[0].family]
    others = [endpoint for endpoint in endpoints if endpoint.family is not endpoints[0].family]
    return [endpoint for endpoint in chain.from_iterable(zip_longest(first, others)) if endpoint is not None]


def _is_number(host: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return False


async def _race(left: deque[Endpoint]) -> socket.socket:
    """Try one after the other, the next when the last has failed or is slow, and take the first that connects."""
    trying: set[asyncio.Task[socket.socket]] = set()
    won: asyncio.Task[socket.socket] | None = None
    error: OSError | None = None
    try:
        while left or trying:
            if left:
                trying.add(asyncio.create_task(_connect(left.popleft())))
            wait_s = HEAD_START_S if left else None
            done, _ = await asyncio.wait(trying, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
            won = next((task for task in done if task.exception() is None), None)
            if won is not None:
                return won.result()
            for task in done:
                trying.discard(task)
                failed = task.exception()
                error = failed if isinstance(failed, OSError) else error
        raise error or OSError("no address")
    finally:
        await _drop(trying - {won} if won else trying)


async def _drop(tasks: set[asyncio.Task[socket.socket]]) -> None:
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, socket.socket):
            ended.close()


async def _connect(endpoint: Endpoint) -> socket.socket:
    trying = socket.socket(endpoint.family, socket.SOCK_STREAM)
    try:
        trying.setblocking(False)
        await asyncio.get_running_loop().sock_connect(trying, endpoint.address)
    except BaseException:
        trying.close()
        raise
    return trying
