"""Says every error as problem+json (RFC 9457), without a word that came from outside unless it is a name."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from breaker.api.replies import NO_STORE, as_json
from breaker.errors import DamagedStoreError, StoreError, UnknownNameError

# A name that nobody configured may be of any length; this much of it is said again.
MAX_NAME = 80

# How the API's own description tells of problems.
DOCUMENTED: dict[str, Any] = {  # Any: FastAPI's own type for it
    "description": "A problem (RFC 9457).",
    "content": {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "properties": {
                    "type": {"type": "string"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "detail": {"type": "string"},
                },
                "required": ["type", "title", "status", "detail"],
            }
        }
    },
}


class ProblemError(Exception):
    """An error as the door says it.

    `kind` ends the problem's type and says by itself what is wrong; `members` are further members of the body.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **members: object,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = members

    def response(self) -> Response:
        """The problem as a response."""
        body = {
            "type": f"urn:firstbyte:problem:{self.kind}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **self.members,
        }
        headers = {**NO_STORE, **self.headers}
        return as_json(body, status=self.status, headers=headers, media_type="application/problem+json")


def unknown_name(error: UnknownNameError) -> ProblemError:
    """The problem of a route or target that isn't configured, with the names there are."""
    name = None if error.name is None else shortened(error.name)
    detail = str(UnknownNameError(error.kind, name, error.known))
    return ProblemError(404, f"unknown-{error.kind}", detail, known=list(error.known))


def of_store(error: StoreError) -> ProblemError:
    """The problem of a store that couldn't do what was asked; its own words may name addresses, and stay in the log."""
    if isinstance(error, DamagedStoreError):
        return _damaged(error)
    detail = "the store doesn't answer or takes no changes just now; try again in a moment"
    return ProblemError(503, "store-gone", detail, headers={"Retry-After": "1"})


def bad_fields(errors: Sequence[Mapping[str, object]]) -> ProblemError:
    """The problem of fields that are missing or wrong, each by its name; `errors` as pydantic tells them."""
    fields = [{"field": _field(error), "wrong": str(error["msg"]).removeprefix("Value error, ")} for error in errors]
    detail = "; ".join(f"{field['field']}: {field['wrong']}" for field in fields)
    return ProblemError(422, "bad-field", detail, fields=fields)


def shortened(name: str) -> str:
    """A name as an error may say it again: never long, since it came from outside."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


def install(app: FastAPI) -> None:
    """Let the app say all its errors as problems."""
    app.add_exception_handler(ProblemError, _problem)
    app.add_exception_handler(UnknownNameError, _unknown_name)
    app.add_exception_handler(StoreError, _store)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


def _field(error: Mapping[str, object]) -> str:
    """The name of the field alone: where a query's parameter stands is told by the request itself."""
    place = error["loc"]
    assert isinstance(place, tuple)
    parts = [str(part) for part in place if part not in ("query", "body")]
    return shortened(".".join(parts)) or "body"


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return error.response()


async def _unknown_name(_: Request, error: Exception) -> Response:
    assert isinstance(error, UnknownNameError)
    return unknown_name(error).response()


async def _store(_: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    return of_store(error).response()


def _damaged(error: DamagedStoreError) -> ProblemError:
    which = f"{', '.join(error.keys)} in the store" if error.keys else "a key of ours in the store"
    detail = (
        f"{which} holds something else than Firstbyte keeps there, and nothing was done; delete it and try again. "
        "Until then this circuit doesn't move and its answers are dropped; routes go by what was last known"
    )
    return ProblemError(503, "store-damaged", detail, keys=list(error.keys))


async def _validation(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return bad_fields(error.errors()).response()


async def _http(request: Request, error: Exception) -> Response:
    """What the router itself refuses: an unknown path, a method that a path doesn't have."""
    assert isinstance(error, HTTPException)
    elsewhere = getattr(request.app.state, "elsewhere", "/openapi.json lists what there is")
    details = {
        404: ("unknown-path", f"there is nothing at {shortened(request.url.path)!r}; {elsewhere}"),
        405: ("wrong-method", f"{shortened(request.url.path)!r} doesn't take {shortened(request.method)}"),
    }
    kind, detail = details.get(error.status_code, ("refused", HTTPStatus(error.status_code).phrase))
    return ProblemError(error.status_code, kind, detail, headers=_truly(error.headers)).response()


def _truly(headers: Mapping[str, str] | None) -> dict[str, str]:
    """The router knows nothing of HEAD, which comes to it as GET."""
    made = dict(headers or {})
    if (allowed := made.get("Allow")) is not None:
        methods = {method.strip() for method in allowed.split(",")}
        made["Allow"] = ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))
    return made


async def _unforeseen(_: Request, __: Exception) -> Response:
    """The exception itself goes to the log, never to the caller."""
    return ProblemError(500, "fault", "a fault of Firstbyte's own; its log says more").response()
