"""What an agent asks before a step and says after it: /route and /reports."""

import hashlib
from collections.abc import Collection
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from breaker.answer import Answer
from breaker.api import bodies, problems, reports, shapes, shaping
from breaker.api.problems import ProblemError
from breaker.api.replies import BASE_HEADERS, as_json
from breaker.errors import BadFactError, UnknownNameError
from breaker.route import Decision
from breaker.switchboard import Switchboard
from breaker.verdict import judge

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


def router(switchboard: Switchboard, phrases: Collection[str]) -> APIRouter:
    """The paths of agents; `phrases` are the ids of the gateway phrases that a report may name."""
    paths = APIRouter(tags=["agents"])

    @paths.get("/route", response_model=shapes.DecisionShape)
    async def route(request: Request, route: Annotated[str | None, Query()] = None) -> Response:
        """Where the next step of a route should go; read from memory."""
        decision = switchboard.route(route)
        headers = {"ETag": etag(decision), "Cache-Control": f"max-age={int(decision.valid_for_s)}"}
        if _matches(request.headers.get("if-none-match", ""), headers["ETag"]):
            return Response(status_code=304, headers={**BASE_HEADERS, **headers})
        return as_json(shaping.of_decision(decision), headers=headers)

    @paths.post("/reports", status_code=202, response_model=shapes.ReportsShape, openapi_extra=_REPORTS_BODY)
    async def report(request: Request) -> Response:
        """Take the facts of one finished attempt or of several, and say what each was."""
        items = reports.items(bodies.parsed(await bodies.read(request)))
        answers, flaws = _sort(switchboard, items, phrases)
        if not answers:
            detail = "; ".join(flaw["wrong"] for flaw in flaws[:1])
            raise ProblemError(400, "bad-report", detail, accepted=0, problems=flaws)
        for answer in answers:
            await switchboard.report(answer)
        taken: shapes.ReportsShape = {
            "accepted": len(answers),
            "problems": flaws,
            "answers": [shaping.of_verdict(answer, judge(answer)) for answer in answers],
        }
        return as_json(taken, status=202)

    return paths


def etag(decision: Decision) -> str:
    """The same as long as an agent would do the same; weak, since the seconds in the body run on."""
    what = (decision.route.name, decision.target, decision.role, decision.state, decision.reason)
    parts = (*what, decision.generation, decision.stale)
    return f'W/"{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"'


def _matches(condition: str, tag: str) -> bool:
    known = [part.strip().removeprefix("W/") for part in condition.split(",")]
    return "*" in known or tag.removeprefix("W/") in known


def _sort(
    switchboard: Switchboard, items: list[object], phrases: Collection[str]
) -> tuple[list[Answer], list[shapes.FlawShape]]:
    """The answers that can count, and what is wrong with the others."""
    targets = [standing.target.name for standing in switchboard.standings()]
    answers: list[Answer] = []
    flaws: list[shapes.FlawShape] = []
    for index, item in enumerate(items):
        try:
            answers.append(reports.answer(item, targets, phrases))
        except BadFactError as error:
            flaws.append({"index": index, "wrong": str(error)})
        except UnknownNameError as error:
            flaws.append({"index": index, "wrong": problems.unknown_name(error).detail})
    return answers, flaws
