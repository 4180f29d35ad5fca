"""Files each move in the store once, and sees that what is filed is sent."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Protocol

from breaker.circuit import Move
from breaker.errors import StoreError, UnknownNameError
from breaker.switchboard import Switchboard
from monitor.notify.counts import Sent
from monitor.notify.message import Message
from monitor.notify.post import Boxes, Post
from monitor.settings import Receiver

# Moves older than this are told to nobody any more: they were told, or nobody was there to tell.
RECENT_S = 600.0
# So many may wait for one receiver; of more the newest are dropped.
MOST_PENDING = 200
# That something was filed is known for so long.
_KNOWN_S = 3600
# Of a target's ledger so many moves are looked at.
_LOOKED_AT = 20
# After a ledger or a box that couldn't be reached.
AGAIN_S = 1.0


class Filing(Boxes, Protocol):
    """The part of a store that keeps messages."""

    async def file(self, box: str, name: str, message: str, most: int, known_s: int) -> bool | None:
        """Put a message into a box, to be sent once; False if it was there before, None if too many wait already."""
        ...


class Notifier:
    """Hears of moves, wherever they were made, and files them for each receiver; a `Post` each sends them.

    Every replica files what it hears of, and the store takes each once: so a move is told though whoever made it died.
    """

    def __init__(self, board: Switchboard, store: Filing, counts: Sent, receivers: Sequence[Receiver]) -> None:
        self._board = board
        self._store = store
        self._counts = counts
        self._posts: dict[str, Post] = {}
        self._heard: dict[str, None] = {}
        self._something = asyncio.Event()
        self._filed: deque[str] = deque(maxlen=2_000)
        self._filing: asyncio.Task[None] | None = None
        board.watch(self._hear)
        self.renew(receivers)

    def renew(self, receivers: Sequence[Receiver]) -> None:
        """Tell these from now on; messages for others stay in the store for a day."""
        for name in [name for name, post in self._posts.items() if post.receiver not in receivers]:
            self._posts.pop(name).stop()
        for receiver in receivers:
            if receiver.name not in self._posts:
                self._posts[receiver.name] = Post(receiver, self._store, self._counts, clock=self._board.now)
        if receivers and self._filing is None:
            self._heard = dict.fromkeys(self._board.targets())
            self._something.set()
            self._filing = asyncio.create_task(self._file_forever(), name="filing notifications")

    async def stop(self) -> None:
        """End all. What isn't sent stays in the store."""
        tasks = [post.stop() for post in self._posts.values()]
        if self._filing is not None:
            self._filing.cancel()
            tasks.append(self._filing)
        await asyncio.gather(*tasks, return_exceptions=True)

    # Inside

    def _hear(self, target: str) -> None:
        if self._filing is not None:
            self._heard[target] = None
            self._something.set()

    async def _file_forever(self) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            for target in list(self._heard):
                self._heard.pop(target, None)
                try:
                    await self._file(target)
                except UnknownNameError:
                    continue
                except StoreError:
                    self._heard[target] = None
                    self._something.set()
                    await asyncio.sleep(AGAIN_S)

    async def _file(self, target: str) -> None:
        ledger = await self._board.moves(target, _LOOKED_AT)
        since = self._board.now() - RECENT_S
        for move in reversed([move for move in ledger if move.at >= since]):
            for message in self._messages(target, move, newest=move is ledger[0]):
                await self._file_message(message)

    def _messages(self, target: str, move: Move, *, newest: bool) -> Iterator[Message]:
        yield Message.of_move(target, move)
        if newest and move.before.passes and not move.after.passes:
            for route in self._board.routes:
                if target not in [each.name for each in route.targets]:
                    continue
                standings = [self._board.standing(each.name) for each in route.targets]
                if not any(standing.state.passes for standing in standings):
                    # All replicas that see the route like this call it the same.
                    seen = (f"{one.circuit.epoch}.{one.circuit.generation}" for one in standings)
                    yield Message.of_route(route.name, ":".join(seen), target, move)

    async def _file_message(self, message: Message) -> None:
        if message.id in self._filed:
            return
        for post in list(self._posts.values()):
            if message.event not in post.receiver.events:
                continue
            filed = await self._store.file(post.box, message.id, message.written(), MOST_PENDING, _KNOWN_S)
            if filed is None:
                post.count_dropped("too many wait")
            post.nudge()
        self._filed.append(message.id)
