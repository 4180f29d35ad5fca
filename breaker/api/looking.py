"""Gathers what people get to see, at most once a second however many look."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from breaker.api import page
from breaker.api.headline import Known
from breaker.api.notices import Aside, Notice, Spent
from breaker.api.page import View
from breaker.api.recent import Recent
from breaker.switchboard import LOOK_S, Switchboard


async def _no_asides() -> list[Aside]:
    return []


@dataclass(frozen=True, kw_only=True, slots=True)
class Besides:
    """What others have to tell: notices, what probes have cost today (None: nobody probes here), sections of theirs."""

    notices: Callable[[], list[Notice]] = list
    spent: Callable[[], list[Spent]] | None = None
    asides: Callable[[], Awaitable[list[Aside]]] = _no_asides


class Looking:
    """What people get to see. Whatever has moved is seen at once, all else within a second."""

    def __init__(self, switchboard: Switchboard, besides: Besides, *, metrics: bool) -> None:
        self._switchboard = switchboard
        self._besides = besides
        self._metrics = metrics
        self._recent = Recent(switchboard)
        self._drawing = asyncio.Lock()
        self._drawn: tuple[float, str] | None = None  # when (monotonic)
        self._changes = 0
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
        moves, asides = await self._recent.moves(), await self._besides.asides()
        standings = board.standings()  # last, since there may be other targets after each wait
        return View(
            moves=moves,
            asides=asides,
            decisions=[board.route(route.name) for route in board.routes],
            standings=standings,
            histories={standing.target.name: board.history(standing.target.name) for standing in standings},
            notices=self._besides.notices(),
            spent=None if self._besides.spent is None else self._besides.spent(),
            now=board.now(),
            known=Known(age_s=board.age_s(), stale=board.stale(), self_suspect_s=board.self_suspect_s()),
            metrics=self._metrics,
        )

    async def page(self) -> str:
        """The page. It is drawn a target at a time: whoever asks where to go isn't kept waiting by who looks."""
        async with self._drawing:
            if self._drawn is not None and time.monotonic() - self._drawn[0] < LOOK_S:
                return self._drawn[1]
            changes, pieces = self._changes, []
            for piece in page.drawn(await self.view()):
                pieces.append(piece)
                await asyncio.sleep(0)
            html = "".join(pieces)
            if changes == self._changes:
                self._drawn = (time.monotonic(), html)
            return html

    def forget(self) -> None:
        """Draw all anew for whoever looks next."""
        self._changes += 1
        self._drawn = None
        self._recent.forget()
