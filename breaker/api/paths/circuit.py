"""What an administrator does by hand: /circuit/open, /circuit/close and /circuit/release."""

from typing import Annotated, Self, TypeVar

from fastapi import APIRouter, Query, Request
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.responses import Response

from breaker.api import bodies, problems, shapes, shaping
from breaker.api.replies import as_json
from breaker.switchboard import Switchboard

DEFAULT_FOR_S = 600.0
MAX_FOR_S = 30 * 86_400.0


def _printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("must be printable characters, and not blank")
    return text


Body = TypeVar("Body", bound=BaseModel)
Words = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]


class Release(BaseModel):
    """Who ends a hold by hand, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    who: Words
    why: Words


class Hold(Release):
    """Who holds a circuit, why, and for how long: `for_s` seconds or `until` a moment; ten minutes if neither."""

    for_s: Annotated[float, Field(gt=0, le=MAX_FOR_S, allow_inf_nan=False)] | None = None
    until: AwareDatetime | None = None

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.for_s is not None and self.until is not None:
            raise ValueError("say for_s or until, not both")
        return self

    def seconds(self, now: float) -> float:
        """How long the hold is to last from `now`. Raises ProblemError for an end that has passed or is too far."""
        if self.until is None:
            return DEFAULT_FOR_S if self.for_s is None else self.for_s
        for_s = self.until.timestamp() - now
        if not 0 < for_s <= MAX_FOR_S:
            raise problems.bad_fields([{"loc": ("until",), "msg": "must be in the future, at most 30 days away"}])
        return for_s


def router(switchboard: Switchboard) -> APIRouter:
    """The paths that move circuits by hand."""
    paths = APIRouter(prefix="/circuit", tags=["by hand"])
    named = Annotated[str, Query()]

    @paths.post("/open", name="open", response_model=shapes.TargetShape, openapi_extra=_body(Hold))
    async def open_(request: Request, target: named) -> Response:
        """Hold a circuit open: no agent is sent to this target until the hold ends."""
        return await _hold(switchboard, request, target, opened=True)

    @paths.post("/close", response_model=shapes.TargetShape, openapi_extra=_body(Hold))
    async def close(request: Request, target: named) -> Response:
        """Hold a circuit closed: agents are sent to this target whatever is measured, until the hold ends."""
        return await _hold(switchboard, request, target, opened=False)

    @paths.post("/release", response_model=shapes.TargetShape, openapi_extra=_body(Release))
    async def release(request: Request, target: named) -> Response:
        """End a hold by hand; what the measurements say counts again. Does nothing where there is no hold."""
        switchboard.standing(target)
        words = _read(Release, await bodies.read(request))
        await switchboard.release(target, who=words.who, why=words.why)
        return _standing(switchboard, target)

    return paths


async def _hold(switchboard: Switchboard, request: Request, target: str, *, opened: bool) -> Response:
    switchboard.standing(target)
    words = _read(Hold, await bodies.read(request))
    for_s = words.seconds(switchboard.now())
    await switchboard.hold(target, opened=opened, who=words.who, why=words.why, for_s=for_s)
    return _standing(switchboard, target)


def _read(kind: type[Body], body: bytes) -> Body:
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise problems.bad_fields(error.errors(include_input=False, include_url=False)) from None


def _standing(switchboard: Switchboard, target: str) -> Response:
    routes = shaping.by_target(switchboard.routes)
    return as_json(shaping.of_standing(switchboard.standing(target), routes, switchboard.now()))


def _body(kind: type[BaseModel]) -> dict[str, object]:
    content = {"application/json": {"schema": kind.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}
