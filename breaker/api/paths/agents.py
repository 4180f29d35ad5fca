"""What an agent says after a step: /reports."""

from collections.abc import Collection

from fastapi import APIRouter, Request
from starlette.responses import Response

from breaker.answer import Answer
from breaker.api import bodies, problems, reports, shapes, shaping
from breaker.api.problems import ProblemError
from breaker.api.replies import as_json
from breaker.errors import BadFactError, UnknownNameError
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
    """The path of reports; `phrases` are the ids of the gateway phrases that a report may name."""
    paths = APIRouter(tags=["agents"])

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
