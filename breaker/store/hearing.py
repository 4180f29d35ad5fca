"""Hears what a server publishes, and notices when it falls silent."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TypeVar

from redis.asyncio.client import PubSub

from breaker.errors import StoreGoneError
from breaker.store.limit import within
from breaker.store.link import Link
from breaker.store.trouble import TROUBLES, translated

_T = TypeVar("_T")

# After so long without a word the server is asked for one, on the same connection.
BEAT_S = 0.25
# After this many beats in a row without an answer, nobody is there. Beats are counted, not seconds: when our own
# loop has stood still, what came meanwhile is read first.
MOST_SILENT = 2


@contextlib.asynccontextmanager
async def heard(
    link: Link, channel: str, read: Callable[[str], _T | None], limit_s: float
) -> AsyncIterator[AsyncIterator[_T]]:
    """All that is published on a channel from the moment of entering on, and that can be read.

    `limit_s` is that of each word of ours. Raises StoreGoneError, also while it is listened to: at once when the
    connection breaks, within a second when nothing comes through it any more, which the library never notices.
    """
    ears = link.server.pubsub()
    try:
        await link.ask(lambda: _subscribe(ears, channel))
        async with contextlib.aclosing(_said(ears, link.place, read, limit_s)) as said:
            yield said
    finally:
        with contextlib.suppress(*TROUBLES):
            async with within(limit_s):
                await ears.aclose()  # type: ignore[no-untyped-call] # redis-py leaves it untyped


async def _said(ears: PubSub, place: str, read: Callable[[str], _T | None], limit_s: float) -> AsyncGenerator[_T]:
    silent = 0
    while silent <= MOST_SILENT:
        try:
            message = await ears.get_message(timeout=BEAT_S)
            if message is None:
                silent += 1
                async with within(limit_s):
                    await ears.ping()
                continue
        except TROUBLES as error:
            raise translated(error, place) from None
        silent = 0
        if message["type"] == "subscribe":  # the library has connected anew without a word
            raise StoreGoneError(f"the store at {place} was gone for a moment")
        if message["type"] == "message" and (said := read(message["data"])) is not None:
            yield said
    raise StoreGoneError(f"the store at {place} has fallen silent")


async def _subscribe(ears: PubSub, channel: str) -> None:
    """Subscribe, and wait until the server has said so."""
    await ears.subscribe(channel)
    await ears.get_message(timeout=None)
