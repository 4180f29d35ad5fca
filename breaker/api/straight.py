"""Answers some requests before the framework looks for their routes, where that costs more than the answer."""

from collections.abc import Awaitable, Callable, Collection

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from breaker.api.problems import ProblemError, of_store
from breaker.errors import StoreError

# The answer to an HTTP request; None where it is somebody else's to give.
Answering = Callable[[Scope, Receive], Awaitable[Response] | None]


class Straight:
    """Gives the first answer that one of these has; what none of them answers goes on."""

    def __init__(self, app: ASGIApp, answering: Collection[Answering]) -> None:
        self._app = app
        self._answering = answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, errors as problems too, or hand on."""
        answer = self._answer(scope, receive) if scope["type"] == "http" else None
        if answer is None:
            await self._app(scope, receive, send)
            return
        try:
            response = await answer
        except ProblemError as problem:
            response = problem.response()
        except StoreError as error:
            response = of_store(error).response()
        await response(scope, receive, send)

    def _answer(self, scope: Scope, receive: Receive) -> Awaitable[Response] | None:
        for each in self._answering:
            if (answer := each(scope, receive)) is not None:
                return answer
        return None
