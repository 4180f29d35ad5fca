"""Makes functions tell of their calls."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from breaker.run import Effect

if TYPE_CHECKING:
    from breaker.client.run.call import Call
    from breaker.client.run.tool import Tool

_P = ParamSpec("_P")
_R = TypeVar("_R")


def wrapped(tool: Tool, function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The same function, each call of which is told; one that is awaited, or gives things one by one, stays so."""
    if inspect.iscoroutinefunction(function):
        return cast("Callable[_P, _R]", _awaited(tool, function))
    return _called(tool, function)


def _called(tool: Tool, function: Callable[..., _R]) -> Callable[..., _R]:
    @functools.wraps(function)
    def called(*args: Any, **given: Any) -> _R:
        tool.journal.wait_known(tool.terms.effect)
        call = tool.begin(args, given)
        with _not_made(call):
            tool.journal.wait_told(call.begun)
        make = _made(tool, call, function, args, given)
        while True:
            try:
                result = make()
            except BaseException as error:
                if not call.raised(error):
                    raise
            else:
                if (later := _later(call, tool.terms.effect, result, make)) is not None:
                    return cast("_R", later)
                if not call.returned(result):
                    return result

    return called


def _awaited(tool: Tool, function: Callable[..., Awaitable[_R]]) -> Callable[..., Awaitable[_R]]:
    @functools.wraps(function)
    async def awaited(*args: Any, **given: Any) -> _R:
        await tool.journal.until_known(tool.terms.effect)
        call = tool.begin(args, given)
        with _not_made(call):
            await tool.journal.until_told(call.begun)
        return cast("_R", await _followed(call, _made(tool, call, function, args, given)))

    return awaited


@contextlib.contextmanager
def _not_made(call: Call) -> Iterator[None]:
    """Where this is broken off, nothing happened."""
    try:
        yield
    except BaseException:
        call.not_made()
        raise


def _made(
    tool: Tool, call: Call, function: Callable[..., _R], args: Sequence[object], given: Mapping[str, object]
) -> Callable[[], _R]:
    """What makes the call, as often as it is asked to."""
    whole = {**given, **call.more}
    call.fits = tool.fits(args, whole)
    return functools.partial(function, *args, **whole)


def _later(call: Call, effect: Effect, result: object, make: Callable[[], Any]) -> object:
    """What is given back in place of something that has only begun; None for what is over."""
    if inspect.iscoroutine(result):
        return _followed(call, make, result)
    if inspect.isgenerator(result):
        return _yielding(call, effect, result)
    if inspect.isasyncgen(result):
        return _yielding_awaited(call, effect, result)
    if callable(getattr(type(result), "add_done_callback", None)):
        call.only_once()
        cast("Any", result).add_done_callback(functools.partial(_over, call))
        return result
    return None


async def _followed(
    call: Call, make: Callable[[], Awaitable[object]], begun: Awaitable[object] | None = None
) -> object:
    while True:
        try:
            given = await (make() if begun is None else begun)
        except BaseException as error:
            if not call.raised(error):
                raise
        else:
            if not call.returned(given):
                return given
        begun = None


def _yielding(call: Call, effect: Effect, result: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    call.only_once()
    try:
        given = yield from result
    except BaseException as error:
        _broken_off(call, effect, error)
        raise
    call.returned(given)
    return given


async def _yielding_awaited(call: Call, effect: Effect, result: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
    call.only_once()
    try:
        async for given in result:
            yield given
    except BaseException as error:
        _broken_off(call, effect, error)
        raise
    finally:
        await result.aclose()
    call.returned(None)


def _broken_off(call: Call, effect: Effect, error: BaseException) -> None:
    """It ended early; who reads no more than it wants of what only reads has read it."""
    if isinstance(error, GeneratorExit) and effect is Effect.READ:
        call.returned(None)
    else:
        call.raised(error)


def _over(call: Call, future: Any) -> None:  # Any: a future of asyncio, of threads, or of somebody else
    try:
        result = future.result()
    except BaseException as error:  # noqa: BLE001 # whoever waits for it is told
        call.raised(error)
    else:
        call.returned(result)
