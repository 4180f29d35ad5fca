"""What machines look at: /livez, /readyz and /metrics."""

from collections.abc import Callable

from fastapi import APIRouter
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from breaker.api.notices import Notice
from breaker.api.problems import ProblemError
from breaker.api.replies import as_json
from breaker.switchboard import Queue, Switchboard

# Answers that wait for longer aren't on their way any more.
LATE_S = 3.0


class HandedIn:
    """An ASGI app under a path of ours; without this a router would take a bare function for a handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        await self._app(scope, receive, send)


def router(switchboard: Switchboard, ready: Callable[[], list[str]], notices: Callable[[], list[Notice]]) -> APIRouter:
    """The paths of supervisors and load balancers."""
    paths = APIRouter(tags=["health"])

    @paths.get("/livez")
    async def livez() -> Response:
        """Whether this process answers; asks nothing else."""
        return as_json({"alive": True})

    @paths.get("/readyz")
    async def readyz() -> Response:
        """Whether decisions rest on what the store says now and answers come into it; 503 with the reasons if not.

        `notices` are what else people should know, and no reason to send anybody elsewhere.
        """
        queue = switchboard.queue()
        answers = {"waiting": queue.waiting, "dropped": sum(queue.dropped.values())}
        more = [notice.text for notice in notices()]
        reasons = [*_stale(switchboard), *_late(queue), *ready()]
        if reasons:
            detail, later = "; ".join(reasons), {"Retry-After": "1"}
            raise ProblemError(503, "not-ready", detail, headers=later, reasons=reasons, answers=answers, notices=more)
        return as_json({"ready": True, "answers": answers, "notices": more})

    return paths


def _late(queue: Queue) -> list[str]:
    """A store that is read may take no answers all the same."""
    if queue.full:
        return [f"{queue.waiting} answers wait for the store, and the oldest are dropped"]
    if queue.oldest_s > LATE_S:
        trouble = f": it {queue.trouble}" if queue.trouble else ""
        return [f"{queue.waiting} answers wait for the store, the oldest for {queue.oldest_s:.0f} s{trouble}"]
    return []


def _stale(switchboard: Switchboard) -> list[str]:
    if not switchboard.stale():
        return []
    silent = switchboard.silent()
    age_s = switchboard.age_s(() if silent else None)
    read = "hasn't been read yet" if age_s is None else f"was last read {age_s:.1f} s ago"
    trouble, behind = switchboard.trouble(), 0 if silent else len(switchboard.behind())
    which = f"a part of the store, with {behind} of {len(switchboard.targets())} circuits," if behind else "the store"
    return [f"{which} {read}{trouble and f': it {trouble}'}"]
