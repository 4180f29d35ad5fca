"""What machines look at: /livez, /readyz and /metrics."""

from collections.abc import Callable

from fastapi import APIRouter
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from breaker.api.problems import ProblemError
from breaker.api.replies import as_json
from breaker.switchboard import Switchboard


class HandedIn:
    """An ASGI app under a path of ours; without this a router would take a bare function for a handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        await self._app(scope, receive, send)


def router(switchboard: Switchboard, ready: Callable[[], list[str]]) -> APIRouter:
    """The paths of supervisors and load balancers."""
    paths = APIRouter(tags=["health"])

    @paths.get("/livez")
    async def livez() -> Response:
        """Whether this process answers; asks nothing else."""
        return as_json({"alive": True})

    @paths.get("/readyz")
    async def readyz() -> Response:
        """Whether decisions rest on what the store says now; 503 with the reasons if not."""
        reasons = [*_stale(switchboard), *ready()]
        if reasons:
            raise ProblemError(503, "not-ready", "; ".join(reasons), headers={"Retry-After": "1"}, reasons=reasons)
        return as_json({"ready": True})

    return paths


def _stale(switchboard: Switchboard) -> list[str]:
    if not switchboard.stale():
        return []
    age_s = switchboard.age_s()
    read = "hasn't been read yet" if age_s is None else f"was last read {age_s:.1f} s ago"
    trouble = switchboard.trouble()
    return [f"the store {read}{trouble and f': it {trouble}'}"]
