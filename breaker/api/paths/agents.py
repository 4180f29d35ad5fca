"""What an agent says after a step: /reports."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence

from fastapi import APIRouter, Request
from starlette.responses import Response

from breaker.answer import Answer
from breaker.api import bodies, reports, shapes, shaping
from breaker.api.problems import ProblemError
from breaker.api.replies import as_json
from breaker.api.reports import Reader
from breaker.switchboard import Switchboard

_REPORTS_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        reports.schema(),
                        {
                            "type": "array",
                            "items": reports.schema(),
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


Report = Callable[[Request], Awaitable[Response]]


def reporting(switchboard: Switchboard, phrases: Collection[str]) -> Report:
    """What answers a request with reports; `phrases` are the ids of the gateway phrases that a report may name."""
    reader = Reader([standing.target.name for standing in switchboard.standings()], phrases)
    turns = asyncio.Lock()

    def take(items: Sequence[object], first: int, said: shapes.ReportsShape) -> None:
        for index, item in enumerate(items, first):
            read = reader.read(index, item)
            if isinstance(read, Answer):
                said["answers"].append(shaping.of_verdict(read, switchboard.take_in(read)))
            else:
                said["problems"].append(read)

    async def report(request: Request) -> Response:
        """Take the facts of one finished attempt or of several, and say what each was; the store hears of it next."""
        items = reports.items(bodies.parsed(await bodies.read(request)))
        said: shapes.ReportsShape = {"accepted": 0, "problems": [], "answers": []}
        take(items[:_ABREAST], 0, said)
        if len(items) > _ABREAST:
            async with turns:
                for first in range(_ABREAST, len(items), _ABREAST):
                    await asyncio.sleep(0)
                    take(items[first : first + _ABREAST], first, said)
        if not said["answers"]:
            flaws = said["problems"]
            raise ProblemError(400, "bad-report", flaws[0]["wrong"], accepted=0, problems=flaws)
        said["accepted"] = len(said["answers"])
        return as_json(said, status=202)

    return report


def router(report: Report) -> APIRouter:
    """The path of reports."""
    paths = APIRouter(tags=["agents"])
    described = paths.post("/reports", status_code=202, response_model=shapes.ReportsShape, openapi_extra=_REPORTS_BODY)
    described(report)
    return paths
