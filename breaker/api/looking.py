"""Gathers what people get to see, at most once a second however many look."""

import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

from breaker.api import page
from breaker.api.headline import Known
from breaker.api.notices import Aside, Notice, Spent
from breaker.api.page import View
from breaker.api.recent import Recent
from breaker.api.runs.tasks import Tasks
from breaker.switchboard import LOOK_S, Switchboard


async def _no_asides() -> list[Aside]:
    return []


@dataclass(frozen=True, kw_only=True, slots=True)
class Besides:
    """What others have to tell: notices, what probes have cost today (None: nobody probes here), sections of theirs."""

    notices: Callable[[], list[Notice]] = list
    spent: Callable[[], Awaitable[list[Spent]]] | None = None
    asides: Callable[[], Awaitable[list[Aside]]] = _no_asides


class Drawn(NamedTuple):
    """The page as it was drawn at a monotonic moment, and packed: a sixth of it, since slots are alike."""

    at: float
    plain: bytes
    packed: bytes


class Looking:
    """What people get to see. Whatever has moved is seen at once, all else within a second."""

    def __init__(self, switchboard: Switchboard, besides: Besides, *, metrics: bool) -> None:
        self._switchboard = switchboard
        self._besides = besides
        self._metrics = metrics
        self.recent = Recent(switchboard)
        self._tasks = Tasks(switchboard)
        self._drawing = asyncio.Lock()
        self._drawn: Drawn | None = None
        self._changes = 0
        self._spent: tuple[float, list[Spent]] | None = None
        switchboard.watch(lambda _: self.forget())
        switchboard.watch_store(self.forget)

    def notices(self) -> list[Notice]:
        """What people should know besides."""
        return self._besides.notices()

    async def view(self) -> View:
        """How everything stands."""
        board = self._switchboard
        await board.look_again()
        await board.look_back()
        moves, asides = await self.recent.last_known(), [*await self._tasks.asides(), *await self._besides.asides()]
        spent = await self._spent_today()
        standings = board.standings()  # last, since there may be other targets after each wait
        return View(
            moves=moves,
            asides=asides,
            decisions=[board.route(route.name) for route in board.routes],
            standings=standings,
            histories={standing.target.name: board.history(standing.target.name) for standing in standings},
            notices=self._besides.notices(),
            spent=spent,
            now=board.now(),
            known=Known(
                age_s=board.age_s(()),
                oldest_s=board.age_s(),
                silent=board.silent(),
                self_suspect_s=board.self_suspect_s(),
            ),
            metrics=self._metrics,
        )

    async def page(self) -> Drawn:
        """The page. It is drawn a target at a time: whoever asks where to go isn't kept waiting by who looks."""
        async with self._drawing:
            if self._drawn is not None and time.monotonic() - self._drawn.at < LOOK_S:
                return self._drawn
            changes, pieces = self._changes, []
            for piece in page.drawn(await self.view()):
                pieces.append(piece)
                await asyncio.sleep(0)
            plain = "".join(pieces).encode()
            made = Drawn(time.monotonic(), plain, await asyncio.to_thread(gzip.compress, plain, 3))
            if changes == self._changes:
                self._drawn = made
            return made

    async def _spent_today(self) -> list[Spent] | None:
        if self._besides.spent is None:
            return None
        if self._spent is None or time.monotonic() - self._spent[0] >= LOOK_S:
            self._spent = (time.monotonic(), await self._besides.spent())
        return self._spent[1]

    def forget(self) -> None:
        """Draw all anew for whoever looks next."""
        self._changes += 1
        self._drawn = None
        self.recent.forget()
