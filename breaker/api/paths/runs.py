"""What an agent tells of its task, and whether that is done: /runs."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from breaker.api import bodies, reports, run_schema, run_shapes, run_shaping, shapes
from breaker.api.problems import ProblemError
from breaker.api.replies import as_json
from breaker.done import DEFAULT_BOUNDS, Bounds, decide
from breaker.errors import BadFactError
from breaker.run import Check, Stage, reading
from breaker.switchboard import Switchboard

# Reports of steps, those of one run where its name is given.
StepsReport = Callable[[Request, str | None], Awaitable[Response]]

MAX_LAST = 100
MAX_STEPS, MAX_HAND_BACKS = 1_000, 20

_Run = Annotated[str, Path(pattern=f"^{reading.RUN.pattern}$", max_length=reading.MAX_RUN)]


def router(switchboard: Switchboard, report: StepsReport) -> APIRouter:
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

    @paths.get("/runs/{run}/done", response_model=run_shapes.DoneShape)
    async def done(
        run: _Run,
        steps: Annotated[int, Query(ge=1, le=MAX_STEPS)] = DEFAULT_BOUNDS.steps,
        hand_backs: Annotated[int, Query(ge=0, le=MAX_HAND_BACKS)] = DEFAULT_BOUNDS.hand_backs,
    ) -> Response:
        """Whether a run's task may be called done, and on what that rests."""
        decision = await runs.done(run, Bounds(steps=steps, hand_backs=hand_backs))
        return as_json(run_shaping.of_decision(run, decision))

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
            problems.append({"index": index, "id": reports.id_of(item), "field": error.field, "wrong": str(error)})
    if not facts:
        raise ProblemError(400, "bad-report", problems[0]["wrong"], accepted=0, problems=problems)
    whole = await switchboard.runs.add(run, facts)
    return as_json({"accepted": len(facts), "problems": problems, "overfull": not whole}, status=202)
