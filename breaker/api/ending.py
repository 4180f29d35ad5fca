"""Tells whoever is still being answered when the server stops that it does."""

import asyncio
import contextlib

from starlette.types import ASGIApp, Receive, Scope, Send

from breaker.api.problems import ProblemError


class Ending:
    """The same app for a server that cancels what isn't answered when it stops, and nothing before.

    Left to itself such a server says that the app is at fault, to the client and in the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; say that the service stops where there was no time for that."""
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            again = {"Retry-After": "1", "Connection": "close"}
            problem = ProblemError(503, "stopping", "the service stops before this could be answered", headers=again)
            with contextlib.suppress(RuntimeError):  # an answer that has begun just ends
                await problem.response()(scope, receive, send)
