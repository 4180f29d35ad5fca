"""What an agent tells of its task, and whether that is done: /runs."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope

from breaker.api import bodies, reports, shapes
from breaker.api.problems import ProblemError, bad_fields
from breaker.api.replies import BASE_HEADERS, NO_STORE, as_json, encoded
from breaker.api.runs import schema as run_schema
from breaker.api.runs import shapes as run_shapes
from breaker.api.runs import shaping as run_shaping
from breaker.cache import Cache
from breaker.done import DEFAULT_BOUNDS, MAX_HAND_BACKS, MAX_STEPS, Bounds, decide
from breaker.errors import BadFactError
from breaker.run import Check, Stage, reading
from breaker.switchboard import Switchboard

# Reports of steps, those of one run where its name is given.
StepsReport = Callable[[Request, str | None], Awaitable[Response]]

MAX_LAST = 100
# Of answers whether tasks are done; one of fifty steps has some 5 KB.
MOST_BYTES_KEPT = 16_000_000
_ASKED = re.compile(r"/runs/([^/]*)/done")

_Run = Annotated[str, Path(pattern=f"^{reading.RUN.pattern}$", max_length=reading.MAX_RUN)]


class Deciding:
    """Says whether tasks are done; what was said last is kept, and said again while nothing new is known of a task.

    `most_bytes` of answers are kept, the newest.
    """

    def __init__(self, switchboard: Switchboard, most_bytes: int = MOST_BYTES_KEPT) -> None:
        self._runs = switchboard.runs
        self._said = Cache[tuple[str, Bounds], tuple[str, bytes]](most_bytes)

    def straight(self, scope: Scope, receive: Receive) -> Awaitable[Response] | None:
        """Answers `GET /runs/{run}/done` before the framework looks for it, which takes a quarter of the time."""
        asked = _ASKED.fullmatch(scope["path"]) if scope["method"] == "GET" else None
        return self.say(asked[1], QueryParams(scope["query_string"])) if asked else None

    async def done(self, request: Request) -> Response:
        """Whether a run's task may be called done, and on what that rests."""
        return await self.say(request.path_params["run"], request.query_params)

    async def say(self, run: str, asked: Mapping[str, str]) -> Response:
        """The answer to a question with these parameters. Raises ProblemError or StoreError."""
        try:
            reading.run_id(run)
        except BadFactError as error:
            raise bad_fields([{"loc": ("path", "run"), "msg": str(error)}]) from None
        bounds = _bounds(asked)
        stamp, body = self._said.get((run, bounds), ("", b""))
        decided = await self._runs.done(run, bounds, stamp)
        if decided is not None:
            body = encoded(run_shaping.of_ruling(run, decided.ruling))
            self._said.keep((run, bounds), (decided.stamp, body), len(body))
        return Response(body, headers={**BASE_HEADERS, **NO_STORE}, media_type="application/json")


def router(switchboard: Switchboard, report: StepsReport, deciding: Deciding) -> APIRouter:
    """The paths of those who follow a task; `report` takes steps, as it takes all reports."""
    paths, runs = APIRouter(tags=["runs"]), switchboard.runs

    @paths.post(
        "/runs/{run}/steps", status_code=202, response_model=shapes.ReportsShape, openapi_extra=run_schema.STEPS
    )
    async def steps(request: Request, run: _Run) -> Response:
        """Take the facts of one finished attempt or of several as reports and as steps of a run."""
        return await report(request, run)

    @paths.post(
        "/runs/{run}/operations",
        status_code=202,
        response_model=run_shapes.AddedShape,
        openapi_extra=run_schema.OPERATIONS,
    )
    async def operations(request: Request, run: _Run) -> Response:
        """Take how far one or several of a run's operations are."""
        return await _add(switchboard, run, await _items(request), reading.stage)

    @paths.post(
        "/runs/{run}/checks", status_code=202, response_model=run_shapes.AddedShape, openapi_extra=run_schema.CHECKS
    )
    async def checks(request: Request, run: _Run) -> Response:
        """Take what one or several of a task's own checks said."""
        return await _add(switchboard, run, await _items(request), reading.check)

    paths.get("/runs/{run}/done", response_model=run_shapes.DoneShape, openapi_extra=run_schema.DONE)(deciding.done)

    @paths.get("/runs/{run}", response_model=run_shapes.RunShape)
    async def run_(run: _Run) -> Response:
        """All that is known of a run."""
        followed = await runs.read(run)
        if followed.began is None:
            raise ProblemError(404, "unknown-run", "nothing is known of this run; a run is kept for a day")
        return as_json(run_shaping.of_run(run, followed, decide(followed.run)))

    @paths.get("/runs", response_model=run_shapes.RunsShape)
    async def last(limit: Annotated[int, Query(ge=1, le=MAX_LAST)] = 20) -> Response:
        """The last decisions about runs, newest first, and how often a claim of completion was untrue."""
        return as_json(run_shaping.of_last(await runs.last(limit)))

    return paths


def _bounds(asked: Mapping[str, str]) -> Bounds:
    """The bounds that a question names. Raises ProblemError."""
    if not asked:
        return DEFAULT_BOUNDS
    return Bounds(
        steps=_whole(asked, "steps", 1, MAX_STEPS, DEFAULT_BOUNDS.steps),
        hand_backs=_whole(asked, "hand_backs", 0, MAX_HAND_BACKS, DEFAULT_BOUNDS.hand_backs),
    )


def _whole(asked: Mapping[str, str], name: str, least: int, most: int, otherwise: int) -> int:
    text = asked.get(name)
    if text is None:
        return otherwise
    if text.isascii() and text.isdecimal() and len(text) <= 9 and least <= int(text) <= most:
        return int(text)
    raise bad_fields([{"loc": ("query", name), "msg": f"must be a whole number from {least} to {most}"}])


async def _items(request: Request) -> list[object]:
    return reports.items(bodies.parsed(await bodies.read(request)))


async def _add(
    switchboard: Switchboard, run: str, items: list[object], read: Callable[[object], Stage | Check]
) -> Response:
    facts: list[Stage | Check] = []
    problems: list[shapes.FlawShape] = []
    for index, item in enumerate(items):
        try:
            facts.append(read(item))
        except BadFactError as error:
            problems.append({"index": index, "id": _id(item), "field": error.field, "wrong": str(error)})
    if not facts:
        raise ProblemError(400, "bad-report", problems[0]["wrong"], accepted=0, problems=problems)
    whole = await switchboard.runs.add(run, facts)
    return as_json({"accepted": len(facts), "problems": problems, "overfull": not whole}, status=202)


def _id(item: object) -> str | None:
    """A fact's id as it may be said again; None where it has none that can."""
    found = reports.id_of(item)
    return found if found and reading.ID.fullmatch(found) else None
