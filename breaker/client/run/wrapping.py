"""Makes functions tell of their calls."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from breaker.client.run.tool import Tool

_P = ParamSpec("_P")
_R = TypeVar("_R")


def wrapped(tool: Tool, function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The same function, each call of which is told; one that is awaited stays so."""
    if inspect.iscoroutinefunction(function):
        return cast("Callable[_P, _R]", _awaited(tool, function))
    return _called(tool, function)


def _called(tool: Tool, function: Callable[..., _R]) -> Callable[..., _R]:
    @functools.wraps(function)
    def called(*args: Any, **given: Any) -> _R:
        tool.run.wait_known(tool.effect)
        call = tool.begin(args, given)
        while True:
            try:
                result = function(*args, **{**given, **call.more})
            except BaseException as error:
                if not call.raised(error):
                    raise
            else:
                if not call.returned(result):
                    return result

    return called


def _awaited(tool: Tool, function: Callable[..., Awaitable[_R]]) -> Callable[..., Awaitable[_R]]:
    @functools.wraps(function)
    async def awaited(*args: Any, **given: Any) -> _R:
        await tool.run.until_known(tool.effect)
        call = tool.begin(args, given)
        while True:
            try:
                result = await function(*args, **{**given, **call.more})
            except BaseException as error:
                if not call.raised(error):
                    raise
            else:
                if not call.returned(result):
                    return result

    return awaited
