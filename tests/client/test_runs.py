"""A task as its agent holds it: with a service, and with none."""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from breaker.client import AsyncFirstbyte, DecidedBy, Done, Firstbyte, NotStartedError
from breaker.client.run.journal import KNOWN_S
from breaker.client.run.run import BlockingRun
from breaker.errors import BadFactError
from breaker.run import Effect, State
from breaker.run.results import Rule
from tests.api.world import good
from tests.client.serving import Process, eventually, nobody
from tests.processes import free_port
from tests.store_server import StoreServer

CALLING: dict[str, Any] = {**good("a"), "finish": "tool_calls", "tool_calls": 1, "tools": True}
FINAL: dict[str, Any] = {**good("b"), "finish": "stop", "tool_calls": 0, "tools": True}


@pytest.fixture(params=["service", "nobody"])
def firstbyte(request: pytest.FixtureRequest) -> Iterator[Firstbyte]:
    """A client that has a service, and one that has none."""
    address = request.getfixturevalue("url") if request.param == "service" else nobody()
    with Firstbyte(address) as made:
        yield made


def settled(run: BlockingRun) -> Done:
    """The service's own word, however slow this machine is."""
    for _ in range(30):
        if (done := run.done()).source is DecidedBy.SERVICE:
            return done
    raise AssertionError("the service doesn't say whether it is done")


class Shop:
    """What the tools do, and how often they were called; `refund` is sent and never answered."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.keys: list[str] = []
        self.silent = 1

    def update(self, name: str) -> str:
        self.calls.append("update")
        return f"customer {name} updated"

    def refund(self, order: int) -> str:
        self.calls.append("refund")
        raise httpx.ReadTimeout("nothing came")

    def keyed(self, order: int, idempotency_key: str = "") -> str:
        self.calls.append("refund")
        self.keys.append(idempotency_key)
        if len(self.keys) <= self.silent:
            raise TimeoutError
        return f"order {order} refunded"

    def mail(self, to: str) -> str:
        self.calls.append("mail")
        return "sent"


def test_the_story_of_a_refund(firstbyte: Firstbyte) -> None:
    """Sent, and nothing came back: no blind retry, the mail never starts, and the message names both."""
    shop = Shop()
    with firstbyte.run("goal-17") as run:
        update = run.tool(shop.update, effect="write", name="update_customer")
        refund = run.tool(shop.refund, effect="write", name="refund", needs=["update_customer"])
        mail = run.tool(shop.mail, effect="write", name="send_email", needs=["refund"])
        run.report(**CALLING)
        update("Anna")
        with pytest.raises(httpx.ReadTimeout):
            refund(7)
        with pytest.raises(NotStartedError, match="nobody knows whether it happened") as blind:
            refund(7)
        with pytest.raises(NotStartedError, match="needs refund") as blocked:
            mail("anna@example.org")
        run.report(**FINAL, text="I have refunded the order and sent the e-mail. The task is complete.")
        done = run.done()

    assert shop.calls == ["update", "refund"]
    assert (blind.value.why, blocked.value.why) == ("nobody_knows", "needs")
    assert not done
    assert (done.decision, done.reasons) == ("partially_completed", ("operation_unknown", "operation_blocked"))
    assert (done.succeeded, done.unknown, done.never_started) == (("update_customer",), ("refund",), ("send_email",))
    assert "`refund`" in done.message
    assert "`send_email`" in done.message


def test_with_an_idempotency_key_it_is_tried_once_more_and_no_oftener(firstbyte: Firstbyte) -> None:
    shop, silent = Shop(), Shop()
    silent.silent = 9
    with firstbyte.run("goal-17") as run:
        assert run.tool(shop.keyed, effect="write", name="refund")(7) == "order 7 refunded"
        mail = run.tool(shop.mail, effect="write", name="send_email", needs=["refund"])
        assert mail("anna@example.org") == "sent"
        run.report(**FINAL, text="Done.")
        assert run.done()
    with firstbyte.run("goal-18") as other:
        with pytest.raises(TimeoutError):
            other.tool(silent.keyed, effect="write", name="refund")(7)
        unknown = other.decide().unknown

    assert shop.calls == ["refund", "refund", "mail"]
    assert len(set(shop.keys)) == 1
    assert silent.calls == ["refund", "refund"]
    assert set(silent.keys).isdisjoint(shop.keys)
    assert unknown == ("refund",)


def test_a_callers_own_key_is_used() -> None:
    shop = Shop()
    with Firstbyte(nobody()) as firstbyte, firstbyte.run() as run:
        run.tool(shop.keyed, effect="write", name="refund")(7, idempotency_key="own key")
        run.tool(shop.keyed, effect="write", name="refund")(8, "own-key")

    assert shop.keys == ["own key", "own key", "own-key"]


def test_what_somebody_found_out_counts(firstbyte: Firstbyte) -> None:
    shop = Shop()
    with firstbyte.run("goal-17") as run:
        refund = run.tool(shop.refund, effect="write", name="refund")
        for happened in (False, True):
            with pytest.raises(httpx.ReadTimeout):
                refund(7)
            run.found("refund", happened=happened)
        run.found("no such tool", happened=True)
        run.report(**FINAL)
        done = run.done()

    assert shop.calls == ["refund"] * 2
    assert done.succeeded == ("refund",)
    assert done.completion_allowed


@pytest.mark.parametrize(
    ("result", "error", "rules"),
    [
        pytest.param('{"success": false}', "success_false", (), id="an error in disguise"),
        pytest.param("Error: no such order", "error_as_text", (), id="an error as text"),
        pytest.param("", "empty", (), id="nothing"),
        pytest.param(
            {"verdict": "no"}, "refused", [{"members": ["verdict"], "values": ["no"], "error": "refused"}], id="a rule"
        ),
    ],
)
def test_a_result_that_is_an_error_is_a_failure_and_is_given_as_it_is(
    result: object, error: str, rules: list[dict[str, object]]
) -> None:
    with Firstbyte(nobody()) as firstbyte, firstbyte.run(rules=[Rule.read(rule) for rule in rules]) as run:
        given = run.tool(lambda: result, effect="write", name="refund")()
        run.report(**FINAL, text="Task Complete")
        done = run.done()
        operation = run.journal.known().operations[0]

    assert given == result
    assert (done.decision, done.reason, done.failed) == ("failed", "operation_failed", ("refund",))
    assert operation.error == error
    assert error in done.message


def test_a_tool_that_was_never_reached_is_tried_once_more() -> None:
    calls = []

    def refund() -> str:
        calls.append(1)
        if len(calls) < 2:
            raise httpx.ConnectError("refused")
        return "ok"

    with Firstbyte(nobody()) as firstbyte, firstbyte.run() as run:
        assert run.tool(refund, effect="write")() == "ok"
        assert run.journal.known().operations[0].attempts == 2


def test_a_tool_that_failed_is_not_tried_again_with_the_same_arguments() -> None:
    def edit(path: str, text: str) -> str:
        if text == "wrong":
            raise ValueError(text)
        return "ok"

    with Firstbyte(nobody()) as firstbyte, firstbyte.run() as run:
        told = run.tool(edit, effect="write", about="path")
        with pytest.raises(ValueError, match="wrong"):
            told("a.py", "wrong")
        with pytest.raises(NotStartedError, match="nothing says that nothing happened") as again:
            told("a.py", "wrong")
        run.report(**FINAL)
        before = run.decide()
        told("b.py", "right")
        elsewhere = run.decide()
        told("a.py", text="right")
        run.report(**{**FINAL, "id": "c"}, text="Done.")
        after = run.decide()

    assert again.value.why == "not_again"
    assert (before.reason, elsewhere.decision) == ("operation_failed", "partially_completed")
    assert after.completion_allowed


def test_one_that_only_reads_may_be_called_at_will() -> None:
    found = iter(["Error: busy", "", "3 orders", "3 orders"])
    with Firstbyte(nobody()) as firstbyte, firstbyte.run() as run:

        @run.tool
        def look(customer: str) -> str:
            """Look for orders."""
            return next(found)

        results = [look("Anna") for _ in range(4)]
        run.report(**FINAL)

        assert results == ["Error: busy", "", "3 orders", "3 orders"]
        assert look.__doc__ == "Look for orders."
        assert run.decide().completion_allowed


def test_an_operation_that_is_no_call_here_and_a_check_are_told(firstbyte: Firstbyte) -> None:
    with firstbyte.run("goal-17") as run:
        run.operation("deploy", "executing", effect="write", id="deploy-1")
        run.operation("deploy", "succeeded", effect="write", id="deploy-1", reference="d/17")
        run.check("tests", passed=False)
        run.report(**FINAL)
        failed = run.done()
        run.check("tests", passed=True)
        passed = run.done()
        run.check("lint", passed=None)
        with pytest.raises(BadFactError, match="state is one of"):
            run.operation("deploy", "finished")

    assert (failed.decision, failed.reason) == ("partially_completed", "check_failed")
    assert passed.completion_allowed
    assert run.decide().reason == "check_unknown"


def test_a_process_that_goes_on_with_a_run_knows_what_was_begun(url: str) -> None:
    """The first one died while it refunded: nobody knows whether that happened."""
    shop = Shop()
    with Firstbyte(url) as first, first.run("goal-17") as run:
        run.operation("refund", "executing", effect="write", id=_id_of_refund())
        assert not settled(run)
    with Firstbyte(url) as second, second.run("goal-17") as again:
        eventually(lambda: again.journal.box.known.come, "the service has told what it knows")
        refund = again.tool(shop.refund, effect="write", name="refund")
        with pytest.raises(NotStartedError, match="nobody knows"):
            refund(7)

    assert shop.calls == []


def test_a_process_that_goes_on_with_a_run_comes_after_it_whatever_its_clock_says(url: str) -> None:
    """The first one's clock is an hour ahead; its last answer was whole, and the second one's is empty."""
    with Firstbyte(url) as first, first.run("goal-17") as run:
        run.journal.box.behind(run.journal.box.seq() + 3_600_000)
        run.check("tests", passed=False)
        run.report(**FINAL)
        assert run.done().reason == "check_failed"
    with Firstbyte(url) as second, second.run("goal-17") as again:
        again.journal.wait_known(Effect.WRITE)
        own = again.decide().reasons
        again.check("tests", passed=True)
        again.report(**{**FINAL, "id": "x", "text_chars": 0})
        done = again.done()

    assert own == ("no_answer", "check_failed")
    assert (done.source, done.verdict, done.reasons) == (DecidedBy.SERVICE, "empty", ("not_an_answer",))


def _id_of_refund() -> str:
    with Firstbyte(nobody()) as firstbyte, firstbyte.run("goal-17") as run:
        with pytest.raises(httpx.ReadTimeout):
            run.tool(Shop().refund, effect="write", name="refund")(7)
        return run.journal.known().operations[0].id


async def test_it_is_the_same_for_those_who_await(url: str) -> None:
    calls = []

    async def refund(order: int, idempotency_key: str = "") -> str:
        calls.append(idempotency_key)
        await asyncio.sleep(0)
        if len(calls) == 1:
            raise TimeoutError
        return "ok"

    async def mail() -> str:
        return '{"ok": false}'

    async with AsyncFirstbyte(url) as firstbyte, firstbyte.run("goal-17") as run:
        assert await run.tool(refund, effect="write")(7) == "ok"
        await run.tool(mail, effect="write", needs=["refund"])()
        with pytest.raises(NotStartedError):
            await run.tool(mail, effect="write", needs=["refund"])()
        run.report(**FINAL, text="Done.")
        done = await run.done()
        while done.source is not DecidedBy.SERVICE:  # however slow this machine is
            done = await run.done()

    assert len(calls) == 2
    assert (done.source, done.decision, done.failed) == (DecidedBy.SERVICE, "partially_completed", ("mail",))


async def test_a_cancelled_call_is_one_of_which_nobody_knows() -> None:
    begun = asyncio.Event()

    async def refund() -> None:
        begun.set()
        await asyncio.Event().wait()

    async with AsyncFirstbyte(nobody()) as firstbyte, firstbyte.run() as run:
        task = asyncio.create_task(run.tool(refund, effect="write")())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        done = await run.done()

    assert (done.source, done.unknown) == (DecidedBy.LOCAL, ("refund",))


def test_a_service_that_dies_in_the_middle_changes_nothing_but_the_source(start: Callable[[int], Process]) -> None:
    service = start(free_port())
    with Firstbyte(service.url) as firstbyte, firstbyte.run("goal-17") as run:
        run.tool(lambda: "ok", effect="write", name="refund")()
        run.report(**FINAL, text="Done.")
        before = settled(run)
        service.kill()
        after = run.done()

    assert (before.source, after.source) == (DecidedBy.SERVICE, DecidedBy.LOCAL)
    assert before.completion_allowed
    assert after.completion_allowed
    assert before.message == after.message


def test_what_one_run_has_waited_in_vain_no_other_run_waits_again(start: Callable[[int], Process]) -> None:
    service = start(free_port())
    made: list[int] = []
    with Firstbyte(service.url) as firstbyte:
        with firstbyte.run("goal-0") as first:
            settled(first)
        service.freeze()
        began = time.monotonic()
        for number in range(30):
            with firstbyte.run(f"goal-{number + 1}") as run:
                run.tool(made.append, effect="write", name="refund")(number)
        took_s = time.monotonic() - began
        service.thaw()
        eventually(lambda: not firstbyte.is_silent(), "it is heard again")
        done = settled(run)

    assert made == list(range(30))
    assert took_s < 30 * KNOWN_S / 2
    assert done.succeeded == ("refund",)


async def test_the_same_holds_for_those_who_await(start: Callable[[int], Process]) -> None:
    service = await asyncio.to_thread(start, free_port())
    made: list[int] = []

    async def refund(order: int) -> None:
        made.append(order)

    async with AsyncFirstbyte(service.url) as firstbyte:
        await firstbyte.known("coder")
        service.freeze()
        began = time.monotonic()
        for number in range(30):
            async with firstbyte.run(f"goal-{number}") as run:
                await run.tool(refund, effect="write")(number)
        took_s = time.monotonic() - began
        service.thaw()

    assert made == list(range(30))
    assert took_s < 30 * KNOWN_S / 2


def test_a_run_that_did_not_wait_hears_of_what_was_begun_once_the_service_is_back(
    start: Callable[[int], Process],
) -> None:
    """Its first write is made while the service is silent; the second one was begun by a process that died."""
    service = start(free_port())
    made: list[int] = []
    with Firstbyte(service.url) as died, died.run("goal-17") as run:
        run.operation("refund", "executing", effect="write", id=_id_of_refund())
        settled(run)
    with Firstbyte(service.url) as firstbyte:
        service.freeze()
        with firstbyte.run("goal-16") as first:
            first.tool(made.append, effect="write", name="update")(16)
        eventually(firstbyte.is_silent, "it is known to be silent")
        with firstbyte.run("goal-17") as again:
            again.tool(made.append, effect="write", name="update")(17)
            service.thaw()
            eventually(lambda: again.journal.box.known.come, "the service has told what it knows")
            with pytest.raises(NotStartedError, match="nobody knows"):
                again.tool(Shop().refund, effect="write", name="refund")(7)

    assert made == [16, 17]


def test_a_store_that_lost_what_it_was_told_is_told_again(url: str, server: StoreServer) -> None:
    """What it still had, a good last answer, would have been done."""
    with Firstbyte(url) as firstbyte, firstbyte.run("goal-17") as run:
        run.tool(lambda: "Error: closed", effect="write", name="refund")()
        run.report(**{**FINAL, "id": "x"})
        before = settled(run)
        server.fresh()
        run.report(**FINAL, text="Done.")
        after = settled(run)

    assert (before.source, before.reason) == (DecidedBy.SERVICE, "operation_failed")
    assert (after.source, after.reason) == (DecidedBy.SERVICE, "operation_failed")


def test_a_service_that_wont_take_a_step_is_not_believed(url: str) -> None:
    """It doesn't know the last answer's target, and all that it knows would be done."""
    with Firstbyte(url) as firstbyte, firstbyte.run("goal-17") as run:
        run.report(**FINAL)
        first = settled(run)
        run.report(**{**FINAL, "id": "x", "target": "un/known", "text_chars": 0})
        seen = [run.done(), run.done()]

    assert first.completion_allowed
    assert [(done.source, done.reason, done.verdict) for done in seen] == [
        (DecidedBy.LOCAL, "not_an_answer", "empty")
    ] * 2


@pytest.mark.parametrize("name", ["a b", "", "a/b"])
def test_a_name_that_can_be_none_is_refused(name: str) -> None:
    with Firstbyte(nobody()) as firstbyte, pytest.raises(BadFactError):
        firstbyte.run(name)


def test_a_tool_needs_a_name_that_can_be_told() -> None:
    with (
        Firstbyte(nobody()) as firstbyte,
        firstbyte.run() as run,
        pytest.raises(ValueError, match="give one as `name`"),
    ):
        run.tool(lambda: None)


def test_facts_that_are_none_are_no_step() -> None:
    with Firstbyte(nobody()) as firstbyte, firstbyte.run() as run:
        assert run.report(target="x") is None
        assert run.decide().reason == "no_answer"


FORKED = """
import os, signal, sys, warnings
from breaker.client import Firstbyte
warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside a thread
with Firstbyte(sys.argv[1]) as firstbyte, firstbyte.run() as run:
    look = run.tool(lambda: "ok", name="look")
    with run.journal.beginning:  # as another thread may, which the child hasn't
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            look()
            os._exit(0)
    _, ended = os.waitpid(child, 0)
raise SystemExit(ended != 0)
"""


def test_a_process_that_was_forked_while_a_call_began_begins_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED, nobody()], check=False, timeout=240)

    assert done.returncode == 0


def test_more_facts_than_are_kept_are_never_done() -> None:
    with Firstbyte(nobody()) as firstbyte, firstbyte.run() as run:
        run.report(**FINAL)
        for number in range(1_000):
            run.check(f"c{number}", passed=True)

        assert run.decide().reasons == ("overfull",)


def steps_of(run: BlockingRun) -> list[str]:
    return [step.id for step in run.journal.known().steps]


def test_runs_inside_each_other_keep_their_answers_apart() -> None:
    with Firstbyte(nobody()) as firstbyte, firstbyte.run() as outer:
        with firstbyte.run() as inner:
            inner.report(**FINAL)
        outer.report(**CALLING)

    assert (steps_of(outer), steps_of(inner)) == (["a"], ["b"])


KILLED = """
import os, signal, sys
from breaker.client import Firstbyte
from breaker.client.run import journal
journal.TOLD_S = 60.0
with Firstbyte(sys.argv[1]) as firstbyte, firstbyte.run("goal-17") as run:
    run.operation("ready", "succeeded")
    while not run.done().source == "service":
        pass
    @run.tool(effect="write")
    def refund(order: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)
    refund(7)
"""


def test_what_a_process_was_writing_when_it_was_killed_is_known_to_the_next(url: str) -> None:
    died = subprocess.run([sys.executable, "-c", KILLED, url], check=False, timeout=120)
    known = httpx.get(f"{url}/runs/goal-17", trust_env=False).json()
    with Firstbyte(url) as firstbyte, firstbyte.run("goal-17") as run:
        eventually(lambda: run.journal.box.known.come, "what was known before")
        with pytest.raises(NotStartedError, match="nobody knows"):
            run.tool(lambda order: None, effect="write", name="refund")(order=7)

    assert died.returncode == -signal.SIGKILL
    assert [(one["tool"], one["state"]) for one in known["operations"]] == [
        ("ready", "succeeded"),
        ("refund", "executing"),
    ]


async def test_a_call_that_is_broken_off_before_the_service_knows_of_it_never_happened() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with AsyncFirstbyte(address) as firstbyte, firstbyte.run("goal-17") as run:
            run.journal.box.known.come = True
            made: list[int] = []

            @run.tool(effect="write")
            async def refund(order: int) -> None:
                made.append(order)

            calling = asyncio.create_task(refund(7))
            await asyncio.sleep(0)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            (broken_off,) = run.journal.known().operations
            await refund(7)
            waits_no_more = run.journal.box.away
            await refund(8)

    assert (broken_off.state, broken_off.error, broken_off.retryable) == (State.FAILED, "not_made", True)
    assert waits_no_more
    assert made == [7, 8]
