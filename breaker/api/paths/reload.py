"""What reads the configuration anew: /-/reload."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter
from starlette.responses import Response

from breaker.api import shapes
from breaker.api.problems import ProblemError
from breaker.api.replies import as_json

# Gives all that is wrong with it; then nothing has changed.
Reload = Callable[[], Awaitable[list[str]]]


def router(reload: Reload) -> APIRouter:
    """The path of those who have changed the configuration."""
    paths = APIRouter(tags=["by hand"])

    @paths.post("/-/reload", name="reload", response_model=shapes.ReloadedShape)
    async def reload_() -> Response:
        """Read the configuration anew and use it from now on; 422 with all its faults, and then nothing changes."""
        if faults := await reload():
            raise ProblemError(422, "bad-configuration", "; ".join(faults), faults=faults)
        return as_json({"reloaded": True})

    return paths
