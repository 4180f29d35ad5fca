"""What an agent says after a step: /reports."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope

from breaker.answer import Answer
from breaker.api import bodies, reports, shapes, shaping
from breaker.api.problems import ProblemError
from breaker.api.replies import as_json
from breaker.api.reports import steps
from breaker.api.reports.steps import Place, apart
from breaker.api.rules import Rules
from breaker.errors import BadFactError, StoreError
from breaker.logged import STORE_TROUBLE
from breaker.run import Step, reading
from breaker.switchboard import Switchboard

_log = logging.getLogger(__name__)

PATH = "/reports"
_RUN = {"type": "string", "pattern": f"^{reading.RUN.pattern}$", "maxLength": reading.MAX_RUN}
_SCHEMA = reports.schema({"run": _RUN, **steps.schema()})
_REPORTS_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        _SCHEMA,
                        {
                            "type": "array",
                            "items": _SCHEMA,
                            "minItems": 1,
                            "maxItems": reports.MAX_REPORTS,
                        },
                    ]
                }
            }
        },
    }
}


# Reports in one turn of the loop: what they take is a millisecond, and others wait for their own turns meanwhile.
_ABREAST = 25
_NOT_KEPT = "the store doesn't answer just now, so this isn't among the run's steps yet; send it again"
_FULL = "the run holds as many facts as one may, so this isn't among its steps"


Report = Callable[[Request], Awaitable[Response]]


class Reporting:
    """Answers requests with reports, which it reads by the rules."""

    def __init__(self, switchboard: Switchboard, rules: Rules) -> None:
        self._switchboard = switchboard
        self._rules = rules
        self._turns = asyncio.Lock()

    def straight(self, scope: Scope, receive: Receive) -> Awaitable[Response] | None:
        """Answers `POST /reports` before the framework looks for it: that costs more than all that is done here."""
        ours = scope["path"] == PATH and scope["method"] == "POST"
        return self.report(Request(scope, receive)) if ours else None

    async def report(self, request: Request) -> Response:
        """Take the facts of one finished attempt or of several, and say what each was; the store hears of it next."""
        return await self.steps(request, None)

    async def steps(self, request: Request, run: str | None) -> Response:
        """The same, of one run where its name is given; what belongs to a run is in the store when this is answered."""
        body = await bodies.read(request)
        sound = self._rules.sound.read(body) if run is None else None
        items: Sequence[object] = sound or reports.items(bodies.parsed(body))
        taken = _Taken()
        self._take(items[:_ABREAST], 0, run, taken)
        if len(items) > _ABREAST:
            async with self._turns:
                for first in range(_ABREAST, len(items), _ABREAST):
                    await asyncio.sleep(0)
                    self._take(items[first : first + _ABREAST], first, run, taken)
        said = taken.said
        if not said["answers"]:
            flaws = said["problems"]
            raise ProblemError(400, "bad-report", flaws[0]["wrong"], accepted=0, problems=flaws)
        if taken.steps:
            await self._follow(taken)
        said["accepted"] = len(said["answers"])
        return as_json(said, status=202)

    def _take(self, items: Sequence[object], first: int, run: str | None, taken: "_Taken") -> None:
        for index, item in enumerate(items, first):
            read, place = self._read(index, item, run)
            if not isinstance(read, Answer):
                taken.said["problems"].append(read)
                continue
            judgement = self._switchboard.take_in(read)
            taken.said["answers"].append(shaping.of_verdict(read, judgement))
            step = place and place.step(read, judgement)
            if place is not None and step is not None:
                taken.steps[place.run].append((index, step))

    def _read(self, index: int, item: object, run: str | None) -> tuple[Answer | shapes.FlawShape, Place | None]:
        if isinstance(item, Answer):
            return self._rules.reader.known(index, item), None
        try:
            facts, place = apart(item, run)
        except BadFactError as error:
            return {"index": index, "id": reports.id_of(item), "field": error.field, "wrong": str(error)}, None
        return self._rules.reader.read(index, facts), place

    async def _follow(self, taken: "_Taken") -> None:
        """Add the steps to their runs; what can't be added is a problem, though the report itself is taken."""
        runs = list(taken.steps)
        added = await asyncio.gather(*(self._add(run, taken.steps[run]) for run in runs))
        for run, wrong in zip(runs, added, strict=True):
            for index, step in taken.steps[run] if wrong else ():
                taken.said["problems"].append({"index": index, "id": step.id, "field": "run", "wrong": wrong})

    async def _add(self, run: str, steps: Sequence[tuple[int, Step]]) -> str:
        try:
            whole = await self._switchboard.runs.add(run, [step for _, step in steps])
        except StoreError as error:
            _log.warning("steps of a run aren't kept: %s", error, extra=STORE_TROUBLE())
            return _NOT_KEPT
        return "" if whole else _FULL


class _Taken:
    """What became of the reports of one request."""

    def __init__(self) -> None:
        self.said: shapes.ReportsShape = {"accepted": 0, "problems": [], "answers": []}
        self.steps = defaultdict[str, list[tuple[int, Step]]](list)


def router(report: Report) -> APIRouter:
    """The path of reports, as the documentation has it; `Straight` comes before it."""
    paths = APIRouter(tags=["agents"])
    described = paths.post(PATH, status_code=202, response_model=shapes.ReportsShape, openapi_extra=_REPORTS_BODY)
    described(report)
    return paths
