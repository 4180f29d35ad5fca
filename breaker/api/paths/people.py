"""What people and their tools look at: the page, /targets and /moves."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from breaker.api import page, shapes, shaping
from breaker.api.looking import Looking
from breaker.api.recent import READ
from breaker.api.replies import as_json
from breaker.switchboard import Switchboard

MAX_MOVES = READ[-1]


def router(switchboard: Switchboard, looking: Looking) -> APIRouter:
    """The paths of those who look."""
    paths = APIRouter(tags=["people"])

    @paths.get("/", name="page", response_class=HTMLResponse)
    async def page_(request: Request) -> Response:
        """One page that shows how things stand."""
        drawn = await looking.page()
        headers = {**page.HEADERS, "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return HTMLResponse(drawn.packed, headers={**headers, "Content-Encoding": "gzip"})
        return HTMLResponse(drawn.plain, headers=headers)

    @paths.get("/targets", response_model=shapes.TargetsShape)
    async def targets(target: Annotated[str | None, Query()] = None) -> Response:
        """How each target stands, or only one."""
        await switchboard.look_again()
        standings = switchboard.standings() if target is None else [switchboard.standing(target)]
        age_s = switchboard.age_s([standing.target.name for standing in standings])
        routes, now, suspect_s = switchboard.routes, switchboard.now(), switchboard.self_suspect_s()

        def said() -> Response:
            inside = shaping.by_target(routes)
            shape: shapes.TargetsShape = {
                "stale": any(standing.stale for standing in standings),
                "age_s": shaping.ms(age_s),
                "self_suspect_s": shaping.ms(suspect_s),
                "targets": [shaping.of_standing(one, inside, now) for one in standings],
            }
            return as_json(shape)

        return await asyncio.to_thread(said)  # with many targets it takes long

    @paths.get("/moves", response_model=shapes.MovesShape)
    async def moves(
        target: Annotated[str | None, Query()] = None, limit: Annotated[int, Query(ge=1, le=MAX_MOVES)] = 50
    ) -> Response:
        """The newest moves of a target, or of all, with what was compared and the answers behind each, newest first."""
        if target is None:
            found = await looking.recent.moves(limit)
        else:
            found = [(target, move) for move in await switchboard.moves(target, limit)]
        now = switchboard.now()
        shape: shapes.MovesShape = {
            "target": target,
            "moves": [shaping.of_move(name, move, now) for name, move in found],
        }
        return as_json(shape)

    return paths
