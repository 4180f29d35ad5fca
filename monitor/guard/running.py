"""Runs the local door until it is told to end."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial

import httpx

from breaker.api.access import Access, Guard
from breaker.client import AsyncFirstbyte, Spot
from breaker.client.proxies import usable_proxies
from breaker.client.transport.outgoing import Outgoing
from breaker.errors import DoorAddressError
from breaker.route import Route
from breaker.target import Target
from monitor.guard.door import LocalDoor, RefusedError
from monitor.listening import bind, serving
from monitor.settings import Door

# Agents run many steps at once, and a stream holds its connection for minutes.
_CONNECTIONS = httpx.Limits(max_connections=None, max_keepalive_connections=100)


async def guard(host: str, port: int, url: str | None, routes: Sequence[Route], say: Callable[[str], None]) -> None:
    """Serve at an address of this machine; `url` is where the service is, None as the environment says.

    `routes` are those to go on with where the service has never been reached. Raises DoorAddressError for an address
    that others can reach, DoorTakenError for one that is taken.
    """
    access = Access(host=host)
    if access.open_to_others:
        raise DoorAddressError(f"{host!r} can be reached from elsewhere; the guard spends your keys, so it stays here")
    with bind(Door(host=host, port=port), "Choose another --port") as listening:
        async with (
            AsyncFirstbyte(url, fallback=_fallback(routes)) as guide,
            contextlib.aclosing(Outgoing(_transport)) as inner,
            serving(Guard(LocalDoor(guide, inner), lambda: access), listening) as address,
        ):
            say(f"guarding at {address}/v1, and at {address}/ROUTE/v1 for each route; the service is {guide.url}")
            await asyncio.get_running_loop().create_future()


def _transport(proxy: str | None) -> httpx.AsyncHTTPTransport:
    with usable_proxies(partial(RefusedError, 502, "no_proxy")):
        return httpx.AsyncHTTPTransport(limits=_CONNECTIONS, proxy=proxy)


def _fallback(routes: Sequence[Route]) -> dict[str, list[Spot]]:
    """The targets of each route, and under `default` those of the only one."""
    found = {route.name: [_spot(target) for target in route.targets] for route in routes}
    return {"default": next(iter(found.values())), **found} if len(found) == 1 else found


def _spot(target: Target) -> Spot:
    provider = target.provider
    return {
        "target": target.name,
        "base_url": provider.base_url,
        "wire": provider.wire,
        "api_key_env": provider.api_key_env,
    }
