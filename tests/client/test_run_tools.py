"""Calls of a run's tools: what they give is given on as it is, and none counts before it is over."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Generator, Iterator, Mapping
from concurrent.futures import Future
from typing import Any

import httpx
import pytest

from breaker.client import DecidedBy, Firstbyte, NotStartedError
from breaker.client.run.run import BlockingRun
from breaker.errors import BadFactError
from breaker.run import State
from tests.api.world import good
from tests.client.serving import nobody

FINAL: dict[str, Any] = good("final")


@pytest.fixture
def run() -> Iterator[BlockingRun]:
    """A run of a client that has no service."""
    with Firstbyte(nobody()) as firstbyte, firstbyte.run("goal-17") as made:
        yield made


def states(run: BlockingRun) -> list[State]:
    return [one.state for one in run.journal.known().operations]


class Payments:
    """A tool that is sent and never answered, and how often it was called."""

    def __init__(self) -> None:
        self.keys: list[object] = []

    def refund(self, order: int, note: str = "", idempotency_key: str | None = None) -> str:
        self.keys.append(idempotency_key)
        raise httpx.ReadTimeout("nothing came")

    def unkeyed(self, order: int, note: str = "") -> str:
        self.keys.append(None)
        raise httpx.ReadTimeout("nothing came")


@pytest.mark.parametrize(
    ("args", "given"),
    [
        pytest.param((), {"order": 7}, id="by name"),
        pytest.param((7, ""), {}, id="with its default"),
        pytest.param((), {"note": "", "order": 7}, id="in another order"),
    ],
)
def test_the_same_call_is_the_same_however_it_is_written(
    run: BlockingRun, args: tuple[object, ...], given: dict[str, Any]
) -> None:
    payments = Payments()
    refund: Any = run.tool(payments.unkeyed, effect="write", name="refund")
    with pytest.raises(httpx.ReadTimeout):
        refund(7)
    with pytest.raises(NotStartedError, match="nobody knows"):
        refund(*args, **given)

    assert len(payments.keys) == 1


@pytest.mark.parametrize(
    "again", [pytest.param(lambda refund: refund(7, idempotency_key="b"), id="another"), lambda refund: refund(7)]
)
def test_with_another_key_it_is_no_safe_retry(run: BlockingRun, again: Any) -> None:
    payments = Payments()
    refund = run.tool(payments.refund, effect="write")
    with pytest.raises(httpx.ReadTimeout):
        refund(7, idempotency_key="a")
    with pytest.raises(NotStartedError, match="nobody knows"):
        again(refund)
    with pytest.raises(httpx.ReadTimeout):
        refund(7, idempotency_key="a")

    assert set(payments.keys) == {"a"}


def test_an_empty_key_is_none(run: BlockingRun) -> None:
    named, placed = Payments(), Payments()
    with pytest.raises(httpx.ReadTimeout):
        run.tool(named.refund, effect="write", name="named")(7, idempotency_key="")
    with pytest.raises(httpx.ReadTimeout):
        run.tool(placed.refund, effect="write", name="placed")(7, "", "")

    assert len(named.keys) == 2
    assert all(named.keys)
    assert placed.keys == [""]


def corrected(run: BlockingRun, *, awaited: bool) -> Any:
    """A tool that writes, as a plain function or as one that is awaited."""

    def plain(order: int) -> str:
        if order < 0:
            raise TypeError("not within")
        return "refunded"

    async def slowly(order: int) -> str:
        return plain(order)

    tool: Any = run.tool(slowly if awaited else plain, effect="write", name="refund")
    return (lambda **given: asyncio.run(tool(**given))) if awaited else tool


@pytest.mark.parametrize("awaited", [False, True], ids=["plain", "awaited"])
def test_a_call_with_wrong_arguments_never_began_and_a_right_one_makes_it_good(
    run: BlockingRun, *, awaited: bool
) -> None:
    refund = corrected(run, awaited=awaited)
    for _ in range(2):
        with pytest.raises(TypeError, match="oder"):
            refund(oder=7)
    mistaken = run.journal.known().operations
    before = run.decide()
    refund(order=7)
    run.report(**FINAL)

    assert [(one.state, one.error, one.retryable) for one in mistaken] == [(State.FAILED, "wrong_arguments", True)]
    assert "operation_failed" in before.reasons
    assert run.decide().completion_allowed


@pytest.mark.parametrize("awaited", [False, True], ids=["plain", "awaited"])
def test_what_was_raised_within_a_tool_may_have_come_halfway(run: BlockingRun, *, awaited: bool) -> None:
    refund = corrected(run, awaited=awaited)
    with pytest.raises(TypeError, match="within"):
        refund(order=-1)
    refund(order=7)
    run.report(**FINAL)

    assert next((one.state, one.error) for one in run.journal.known().operations) == (State.FAILED, "TypeError")
    assert run.decide().decision == "partially_completed"


def test_tools_whose_names_begin_alike_are_others(run: BlockingRun) -> None:
    begin = "mcp__a_server_that_has_a_rather_long_name__"

    def failing(issue: int) -> str:
        raise ValueError(issue)

    opened = run.tool(failing, effect="write", name=f"{begin}open")

    def closing(issue: int) -> str:
        return f"{issue} closed"

    closed = run.tool(closing, effect="write", name=f"{begin}close")
    with pytest.raises(ValueError, match="7"):
        opened(7)

    assert closed(7) == "7 closed"


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"steps": 1_001}, {"hand_backs": -1}, {"steps": "9"}, {"run": ".."}])
def test_what_the_service_would_not_take_is_refused_at_once(wrong: dict[str, Any]) -> None:
    with Firstbyte(nobody()) as firstbyte, pytest.raises(BadFactError, match=next(iter(wrong))):
        firstbyte.run(**wrong)


def test_of_two_threads_that_begin_the_same_one_does(run: BlockingRun) -> None:
    begun, goes_on, refused = [], threading.Event(), threading.Semaphore(0)

    @run.tool(effect="write")
    def refund(order: int) -> str:
        begun.append(order)
        goes_on.wait(30)
        return "ok"

    def call() -> None:
        try:
            refund(7)
        except NotStartedError:
            refused.release()

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        assert refused.acquire(timeout=30)
    goes_on.set()
    for thread in threads:
        thread.join()

    assert begun == [7]
    assert states(run) == [State.SUCCEEDED]


class Odd(Mapping[str, object]):
    """A result that breaks wherever it is touched."""

    def __getitem__(self, name: str) -> object:
        raise RuntimeError

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError


def test_a_result_that_cannot_be_looked_at_is_given_on_as_it_is(run: BlockingRun) -> None:
    odd = Odd()

    assert run.tool(lambda: odd, effect="write", name="refund")() is odd
    assert states(run) == [State.SUCCEEDED]


def test_an_exception_that_is_given_back_is_a_failure(run: BlockingRun) -> None:
    error = httpx.ReadTimeout("nothing came")

    assert run.tool(lambda: error, effect="write", name="refund")() is error
    assert states(run) == [State.UNKNOWN]


class OddError(Exception):
    """An error that breaks where it is looked at."""

    @property
    def response(self) -> object:
        """Nothing."""
        raise RuntimeError


def test_an_error_that_cannot_be_looked_at_passes_unchanged(run: BlockingRun) -> None:
    error = OddError("closed")

    def refund() -> None:
        raise error

    with pytest.raises(OddError) as raised:
        run.tool(refund, effect="write")()

    assert raised.value is error
    assert states(run) == [State.FAILED]


def in_a_group() -> None:
    raise ExceptionGroup("tools", [ValueError("x"), httpx.ReadTimeout("nothing came")])


def in_another() -> None:
    try:
        Payments().unkeyed(7)
    except httpx.ReadTimeout as error:
        raise RuntimeError("the refund didn't work") from error


@pytest.mark.parametrize("function", [in_a_group, in_another])
def test_a_time_out_inside_of_another_error_leaves_it_unknown(run: BlockingRun, function: Any) -> None:
    with pytest.raises(Exception, match=r"tools|refund"):
        run.tool(function, effect="write", name="refund")()

    assert states(run) == [State.UNKNOWN]


async def _gives(result: str) -> str:
    await asyncio.sleep(0)
    return result


@pytest.mark.parametrize(("result", "state"), [("ok", State.SUCCEEDED), ("Error: closed", State.FAILED)])
async def test_a_coroutine_that_a_plain_function_gives_counts_when_it_is_over(
    run: BlockingRun, result: str, state: State
) -> None:
    def refund() -> Coroutine[object, object, str]:
        return _gives(result)

    given = run.tool(refund, effect="write")()
    before = states(run)

    assert await given == result
    assert (before, states(run)) == ([State.EXECUTING], [state])


@pytest.mark.parametrize("error", [None, ValueError("closed")])
def test_a_future_counts_when_it_is_over(run: BlockingRun, error: Exception | None) -> None:
    future = Future[str]()

    assert run.tool(lambda: future, effect="write", name="refund")() is future
    before = states(run)
    future.set_exception(error) if error else future.set_result("ok")

    assert (before, states(run)) == ([State.EXECUTING], [State.FAILED if error else State.SUCCEEDED])


@pytest.mark.parametrize(("effect", "state"), [("read", State.SUCCEEDED), ("write", State.UNKNOWN)])
def test_one_that_gives_one_thing_after_another_counts_at_its_end(run: BlockingRun, effect: str, state: State) -> None:
    @run.tool(effect=effect)
    def pages(number: int, *, last: int = 9) -> Generator[int, None, None]:
        for one in range(number):
            if one == last:
                raise ValueError(one)
            yield one

    all_of_it = pages(3)
    before = states(run)

    assert list(all_of_it) == [0, 1, 2]
    broken_off = pages(4)
    next(broken_off)
    broken_off.close()
    with pytest.raises(ValueError, match="1"):
        list(pages(5, last=1))
    assert before == [State.EXECUTING]
    assert states(run) == [State.SUCCEEDED, state, State.FAILED]


async def test_it_is_the_same_for_one_that_is_awaited(run: BlockingRun) -> None:
    @run.tool(effect="write")
    async def pages(number: int) -> AsyncIterator[int]:
        for one in range(number):
            if one == 3:
                raise ValueError(one)
            yield one

    assert [one async for one in pages(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="3"):
        [one async for one in pages(5)]
    assert states(run) == [State.SUCCEEDED, State.FAILED]


def test_what_the_client_knows_too_much_of_is_not_done_whatever_the_service_says(url: str) -> None:
    with Firstbyte(url) as firstbyte, firstbyte.run("goal-17") as run:
        final: dict[str, Any] = {**good("a"), "finish": "stop", "tool_calls": 0}
        run.report(**final)
        for number in range(999):
            run.check(f"c{number}", passed=True)
        full = next(done for _ in range(30) if (done := run.done()).source is DecidedBy.SERVICE)
        run.operation("refund", "failed", effect="write")
        over = run.done()

    assert (full.source, full.reason) == (DecidedBy.SERVICE, "agreed")
    assert over.reason == "overfull"
