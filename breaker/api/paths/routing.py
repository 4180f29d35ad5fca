"""Where to, before a step, and what has moved: /route and /events."""

import time
from collections.abc import Collection
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from breaker.api import problems, shapes
from breaker.api.access import ONLY_HEAD
from breaker.api.feed import MOST_STREAMS
from breaker.api.problems import ProblemError
from breaker.api.reader import Cursor, Reader
from breaker.api.replies import BASE_HEADERS, NO_STORE
from breaker.api.route import asked as asking
from breaker.api.route.asked import MAX_INPUT_TOKENS, MAX_SESSION, Asked
from breaker.api.route.desk import Desk
from breaker.api.route.waiting import MAX_WAIT_S
from breaker.switchboard import Switchboard
from breaker.target import Ability

_STREAM: dict[int | str, dict[str, Any]] = {  # Any: FastAPI's own type for it
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


def router(switchboard: Switchboard, desk: Desk) -> APIRouter:
    """The paths of those who want to know at once."""
    paths = APIRouter(tags=["agents"])
    prepared = desk.prepared

    @paths.get("/route", response_model=shapes.DecisionShape)
    async def route(
        request: Request,
        route: Annotated[str | None, Query()] = None,
        needs: Annotated[tuple[str, ...], Query(description=f"with commas, or one each: {', '.join(Ability)}")] = (),
        input_tokens: Annotated[int, Query(ge=0, le=MAX_INPUT_TOKENS)] = 0,
        session: Annotated[str | None, Query(min_length=1, max_length=MAX_SESSION)] = None,
        wait: Annotated[float | None, Query(gt=0, le=MAX_WAIT_S)] = None,
    ) -> Response:
        """Where the next step of a route should go; read from memory.

        With `needs` and `input_tokens`: to a target that can take it. With `session`: back to a target that takes
        requests again at this session's turn within a minute, which is found by the name and not kept. With `wait`
        and the ETag of an earlier answer in If-None-Match: as soon as that is another, 304 if it isn't within so many
        seconds.
        """

        def asked() -> Asked:  # made anew after a wait: the routes may be others by then
            name = (route if route is not None else prepared.default) or switchboard.route(route).route.name
            return prepared.asked(name, asking.needs(",".join(needs)), input_tokens, session)

        began = time.perf_counter()
        said, condition = prepared.answer(asked()), request.headers.get("if-none-match", "")
        if wait is not None and said.known_to(condition):
            await desk.waiting.wait(said, wait, request.scope, request.receive)
            said = prepared.answer(asked())
        else:
            desk.times.add(time.perf_counter() - began)
        said.count.times += 1
        return said.answering(condition)

    @paths.get("/events", response_class=StreamingResponse, responses=_STREAM)
    async def events(
        target: Annotated[str | None, Query()] = None,
        route: Annotated[str | None, Query()] = None,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> Response:
        """The moves of all targets, of one, or of a route's, as server-sent events; resumes after Last-Event-ID."""
        cursor = _cursor(last_event_id)

        def targets() -> Collection[str]:
            return _targets(switchboard, target, route)

        if len(desk.feed) >= MOST_STREAMS:
            detail = f"{MOST_STREAMS} streams are open; try again in a moment"
            raise ProblemError(503, "busy", detail, headers={"Retry-After": "1"})
        return _Stream(await desk.feed.reader(targets, cursor))

    return paths


class _Stream(StreamingResponse):
    """A reader's stream; the reader leaves however it ends, also before it began."""

    def __init__(self, reader: Reader) -> None:
        headers = {**BASE_HEADERS, **NO_STORE, "X-Accel-Buffering": "no"}
        super().__init__(reader.stream(), headers=headers, media_type="text/event-stream")
        self._reader = reader

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            if scope.get(ONLY_HEAD):
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                await send({"type": "http.response.body"})
            else:
                await super().__call__(scope, receive, send)
        finally:
            self._reader.leave()


def _targets(switchboard: Switchboard, target: str | None, route: str | None) -> Collection[str]:
    """The targets that are asked for. Raises UnknownNameError, and ProblemError where the target isn't the route's."""
    if target is not None:
        switchboard.standing(target)
    names = list(switchboard.targets())
    if route is not None:
        names = [one.name for one in switchboard.route(route).route.targets]
    if target is None:
        return names
    if target not in names:
        detail = f"{target} is no target of the route {route}, so nothing would ever come; its are: {', '.join(names)}"
        raise ProblemError(400, "not-of-route", detail, known=names)
    return [target]


def _cursor(last_event_id: str | None) -> Cursor | None:
    if not last_event_id:
        return None
    cursor = Cursor.read(last_event_id)
    if cursor is None:
        raise problems.bad_fields([{"loc": ("last-event-id",), "msg": "is no id of an event of ours"}])
    return cursor
