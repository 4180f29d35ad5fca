"""Reads the service's stream of moves, and resumes where it broke."""

from __future__ import annotations

import asyncio
import email.utils
import json
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import NamedTuple

from breaker.client.asking import backing_off
from breaker.client.link import Link
from breaker.client.moved import Moved, Shelf
from breaker.errors import DoorError, DoorRefusedError
from breaker.wire.sse import Gathered, Lines

# The service says something every 15 s, moves or not.
_SILENCE_S = 40.0
# After a resume moves may come again; so many are remembered.
_KNOWN = 1_024
# No event of ours is longer.
_MOST_BYTES = 1_000_000
# What the service can't serve, however often it is asked.
_FOR_GOOD = frozenset({400, 401, 403, 404, 405, 422})


async def follow(link: Link, shelf: Shelf) -> None:
    """Put each move onto a shelf, once, until it is ended."""
    known: deque[str] = deque(maxlen=_KNOWN)
    failures = 0
    try:
        while not shelf.ended:
            try:
                async for moved in _stream(link, shelf):
                    failures = 0
                    if moved.id not in known:
                        known.append(moved.id)
                        await _put(shelf, moved)
            except DoorRefusedError as error:
                if error.status in _FOR_GOOD:
                    return shelf.end(error)
            except DoorError:
                pass
            failures += 1
            await asyncio.sleep(backing_off(failures))
    finally:
        shelf.end()


async def _put(shelf: Shelf, moved: Moved) -> None:
    room, loop = asyncio.Event(), asyncio.get_running_loop()
    if not shelf.put(moved, lambda: loop.call_soon_threadsafe(room.set)):
        await room.wait()


async def _stream(link: Link, shelf: Shelf) -> AsyncIterator[Moved]:
    """The moves of one connection; the shelf knows after which one the next goes on."""
    resume = {"Last-Event-ID": shelf.after} if shelf.after else {}
    async with link.stream("/events", params=shelf.query, headers=resume) as (headers, pieces):
        shelf.after = shelf.after or _now(headers)
        reading = _Reading()
        async for piece in _awake(link, pieces):
            for event in reading.feed(piece):
                moved = _read(event)
                if moved is not None:
                    shelf.after = moved.id
                    yield moved


async def _awake(link: Link, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces of a stream. Raises DoorGoneError where it is silent for too long."""
    while True:
        try:
            async with asyncio.timeout(_SILENCE_S):
                piece = await anext(pieces, None)
        except TimeoutError:
            raise link.silent() from None
        if piece is None:
            return
        yield piece


def _now(headers: Mapping[str, str]) -> str | None:
    """The place in the stream where it began, so that nothing is lost if it breaks before its first event."""
    try:
        began = email.utils.parsedate_to_datetime(headers.get("date", "")).timestamp()
    except ValueError:
        return None
    return f"{int(began * 1000)}-0-0"


class _Event(NamedTuple):
    id: str
    name: str
    data: str


def _read(event: _Event) -> Moved | None:
    if event.name != "move":
        return None
    try:
        return Moved.read(event.id, json.loads(event.data))
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None


class _Reading:
    """Cuts a stream into its events."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._data = Gathered(_MOST_BYTES)
        self._id = ""
        self._name = ""

    def feed(self, piece: bytes) -> Iterator[_Event]:
        """The events that these bytes complete."""
        for line in self._lines.feed(piece):
            if line == b"":
                if self._data and (data := self._data.take()):
                    yield _Event(self._id, self._name, data)
                self._name = ""
            elif line is not None:
                self._take(*line.partition(b":")[::2])

    def _take(self, field: bytes, value: bytes) -> None:
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                self._data.add(value)
            case b"event":
                self._name = value.decode(errors="replace")
            case b"id":
                self._id = value.decode(errors="replace")
            case _:
                pass
