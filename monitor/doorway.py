"""The service's door as it stands now: the app, the lane before it, and what both share."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from breaker.api.access import Access
from breaker.api.app import app_by, create_small_app
from breaker.api.looking import Besides, Looking
from breaker.api.notices import Notice
from breaker.api.paths.reload import Reload
from breaker.api.route.desk import Desk
from breaker.api.rules import Rules
from breaker.logged import LANE_MISSING
from breaker.switchboard import Switchboard
from monitor.aside import aside
from monitor.listening import serving
from monitor.settings import Settings

if TYPE_CHECKING:
    from breaker.api.route.lane import Lane

_log = logging.getLogger(__name__)


class Doorway:
    """An ASGI app over a switchboard that can be renewed while it answers.

    `metrics` answers /metrics, `besides` is for the page, `reload` reads the configuration anew, None where there is
    none to read.
    """

    def __init__(
        self,
        board: Switchboard,
        settings: Settings,
        *,
        metrics: ASGIApp,
        besides: Besides,
        reload: Reload | None,
    ) -> None:
        self.desk = Desk.over(board)
        self._board = board
        self._looking = Looking(board, besides, metrics=True)
        self._rules = self._ruled(settings)
        self._app = app_by(self._rules, board, self.desk, self._looking, metrics=metrics, reload=reload)
        self._lane = lane_of(self.desk, self._rules.access)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the settings that there are now."""
        await self._app(scope, receive, send)

    @contextlib.asynccontextmanager
    async def open(self, listening: socket.socket) -> AsyncIterator[str]:
        """Serve until the block ends; gives the URL. All who wait are answered first."""
        async with serving(self, listening, None if self._lane is None else self._lane.protocol()) as url:
            try:
                yield url
            finally:
                self.desk.close()

    async def prepare(self, settings: Settings) -> Callable[[], None]:
        """Make ready for other settings; calling what this gives goes by them, at once."""
        rules = await asyncio.to_thread(self._ruled_aside, settings)

        def renew() -> None:
            self._rules.renew(rules)
            self.desk.renew()
            self._looking.forget()
            if self._lane is not None:
                self._lane.renew(rules.access)

        return renew

    def _ruled_aside(self, settings: Settings) -> Rules:
        with aside():
            return self._ruled(settings)

    def _ruled(self, settings: Settings) -> Rules:
        targets = {target.name: None for route in settings.routes for target in route.targets}
        return Rules.of(self._board, _access(settings), settings.phrases, targets)


@contextlib.asynccontextmanager
async def small_door(
    board: Switchboard,
    settings: Settings,
    listening: socket.socket,
    *,
    metrics: ASGIApp,
    notices: Callable[[], list[Notice]],
) -> AsyncIterator[str]:
    """/livez, /readyz and /metrics alone, until the block ends; gives the URL."""
    app = create_small_app(board, access=_access(settings), metrics=metrics, notices=notices)
    async with serving(app, listening) as url:
        yield url


def lane_of(desk: Desk, access: Access) -> "Lane | None":
    """The lane, where what it needs is installed."""
    try:
        from breaker.api.route.lane import Lane  # it needs httptools, which not every platform has
    except ImportError:
        _log.info("without httptools GET /route is answered by the app alone", extra=LANE_MISSING())
        return None
    return Lane(desk, access)


def _access(settings: Settings) -> Access:
    door = settings.door
    return Access(host=door.host, agent_token=door.agent_token, admin_token=door.admin_token)
