"""What other pages and readers take of the status page: /status.json, Statuspage's shape, a feed and badges."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from breaker.api import problems
from breaker.api.looking import Looking
from breaker.api.replies import BASE_HEADERS, NO_STORE, as_json
from breaker.api.status import atom, badge, shapes, shaping, statuspage
from breaker.switchboard import Switchboard

# The newest moves that the feed tells.
TOLD = 50
_INERT = {"Content-Security-Policy": "default-src 'none'"}


class _Atom(Response):
    media_type = "application/atom+xml"


class _Svg(Response):
    media_type = "image/svg+xml"


def router(switchboard: Switchboard, looking: Looking) -> APIRouter:
    """The paths of those who show it elsewhere."""
    paths = APIRouter(tags=["people"])

    @paths.get("/status.json", name="status", response_model=shapes.StatusShape)
    async def status_() -> Response:
        """All that the page shows, with Statuspage's members beside our own."""
        view = await looking.view()
        return await asyncio.to_thread(lambda: as_json(shaping.of_view(view)))  # with many targets it takes long

    @paths.get("/api/v2/summary.json", name="statuspage_summary", response_model=shapes.SummaryShape)
    async def summary() -> Response:
        """How each route and target stands, in Statuspage's shape."""
        return as_json(statuspage.summary(await looking.view()))

    @paths.get("/api/v2/status.json", name="statuspage_status", response_model=shapes.IndicatedShape)
    async def indicated() -> Response:
        """How bad it is, in Statuspage's shape."""
        return as_json(statuspage.indicated(await looking.view()))

    @paths.get("/feed.atom", name="feed", response_class=_Atom)
    async def feed() -> Response:
        """The newest moves of all targets as an Atom feed."""
        moves = await looking.recent.moves(TOLD)
        return _Atom(atom.feed(moves, switchboard.now()), headers={**BASE_HEADERS, **NO_STORE})

    @paths.get("/badge.svg", name="badge", response_class=_Svg)
    async def badge_(
        route: Annotated[str | None, Query()] = None, target: Annotated[str | None, Query()] = None
    ) -> Response:
        """A badge that says how a route or a target stands, or without both, all routes together."""
        if route is not None and target is not None:
            raise problems.bad_fields([{"loc": ("query", "target"), "msg": "stands beside route; name one of both"}])
        view = await looking.view()
        if route is not None:
            named = switchboard.route(route).route
            found = badge.of_route(next(d for d in view.decisions if d.route == named), view)
        elif target is not None:
            found = badge.of_target(view.standing(switchboard.standing(target).target), view)
        else:
            found = badge.of_all(view)
        return _Svg(badge.draw(found), headers={**BASE_HEADERS, **NO_STORE, **_INERT})

    return paths
