"""Answers rebuilt from what a real Prometheus has stored."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from breaker.verdict import Verdict
from monitor.backtest import Step
from monitor.backtest.faults import PrometheusError, TraceError
from monitor.backtest.history import Rebuilt, history, targets_of
from monitor.backtest.prometheus import Prometheus as Asked
from monitor.cli import main
from tests.backtest.world import Exporter, Prometheus, exporting, prometheus
from tests.probes.raw_server import Exchange, raw_server
from tests.processes import free_port

# One for each test, since one Prometheus serves them all: it takes five seconds to begin.
TARGET, FAILING, LOSING, ONE, OTHER = "zai/glm-5.3", "zai/failing", "zai/losing", "one/m", "open.router/a/b:free"

in_one_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Exporter, Prometheus]]:
    """An exporter that is being scraped."""
    with exporting(TARGET, FAILING, LOSING, ONE, OTHER) as exporter:
        async with prometheus(exporter, tmp_path_factory.mktemp("prometheus")) as server:
            await server.scraped()
            yield exporter, server


async def rebuilt(server: Prometheus, target: str = TARGET, since_s: float = 3600) -> Rebuilt:
    """A target's history."""

    def read() -> Rebuilt:
        with Asked(server.url) as asked:
            return history(asked, target, since_s)

    return await asyncio.to_thread(read)


async def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code of a backtest and what it printed."""
    code = await asyncio.to_thread(main, ["backtest", *words])
    return code, "".join(capsys.readouterr())


@in_one_loop
async def test_good_answers_come_back_with_their_times(world: tuple[Exporter, Prometheus]) -> None:
    exporter, server = world
    steps = [
        Step(began_at_s=0, seconds=8, first_byte_s=3.25),
        Step(began_at_s=0, seconds=50.5, first_byte_s=45, verdict=Verdict.TOOL_CALL),
        Step(began_at_s=0, seconds=1, first_byte_s=1),
    ]
    ended = []
    for step in steps:
        exporter.probed(TARGET, step)
        ended.append(time.time())
        await server.scraped()

    found = await rebuilt(server)

    assert [(step.seconds, step.first_byte_s) for step in found.steps] == [(8, 3.25), (50.5, 45), (1, 1)]
    assert [step.done_at_s for step in found.steps] == pytest.approx(ended, abs=0.1)
    assert found.lost == 0


@in_one_loop
async def test_failures_come_back_with_their_verdicts(world: tuple[Exporter, Prometheus]) -> None:
    exporter, server = world
    verdicts = [Verdict.HTTP_ERROR, Verdict.TIMEOUT_FIRST_BYTE, Verdict.HTTP_ERROR, Verdict.LENGTH, Verdict.OK]
    for verdict in verdicts:
        exporter.started(FAILING)
        await server.scraped()
        seconds = 120 if verdict is Verdict.TIMEOUT_FIRST_BYTE else 0.5
        exporter.probed(FAILING, Step(began_at_s=0, seconds=seconds, verdict=verdict))
        await server.scraped()

    found = await rebuilt(server, FAILING)

    assert [step.verdict for step in found.steps] == verdicts
    assert [step.late(40) for step in found.steps] == [False, True, False, False, False]
    assert all(step.seconds < 10 for step in found.steps if not step.late(40))


@in_one_loop
async def test_probes_that_ended_between_two_scrapes_or_say_nothing_are_counted_as_lost(
    world: tuple[Exporter, Prometheus],
) -> None:
    exporter, server = world
    for seconds in (1, 2, 3):
        exporter.probed(LOSING, Step(began_at_s=0, seconds=seconds))
    await server.scraped()
    exporter.probed(LOSING, Step(began_at_s=0, seconds=4), stalled=True)
    await server.scraped()
    exporter.probed(LOSING, Step(began_at_s=0, seconds=5))
    await server.scraped()

    found = await rebuilt(server, LOSING)

    assert found.steps[-1].seconds == 5
    assert len(found.steps) + found.lost == 5
    assert found.lost >= 1


@in_one_loop
async def test_a_backtest_over_its_targets(
    world: tuple[Exporter, Prometheus], capsys: pytest.CaptureFixture[str]
) -> None:
    exporter, server = world
    for target in (ONE, OTHER):
        exporter.probed(target, Step(began_at_s=0, seconds=2, first_byte_s=1))
    await server.scraped()

    code, text = await said(capsys, server.url, "--since", "2d", "--json")
    found: dict[str, dict[str, Any]] = {each["trace"]: each for each in json.loads(text)}
    _, one = await said(capsys, server.url, "--target", OTHER, "--json")

    assert code == 0
    assert [(found[f"{name} ({server.url})"]["good"]) for name in (ONE, OTHER)] == [1, 1]
    assert [(found[f"{name} ({server.url})"]["lost"]) for name in (ONE, OTHER)] == [0, 0]
    assert json.loads(one)["trace"] == f"{OTHER} ({server.url})"


@in_one_loop
async def test_a_target_that_is_not_there_is_named_with_those_that_are(
    world: tuple[Exporter, Prometheus], capsys: pytest.CaptureFixture[str]
) -> None:
    exporter, server = world
    exporter.probed(ONE, Step(began_at_s=0, seconds=1))
    await server.scraped()

    code, text = await said(capsys, server.url, "--target", "no/such")

    assert (code, text.count("\n")) == (2, 1)
    assert "has no probes of no/such in that time; those that it has: " in text
    assert ONE in text


async def test_a_prometheus_that_scrapes_something_else(capsys: pytest.CaptureFixture[str]) -> None:
    async def answer(exchange: Exchange) -> bool:
        await exchange.whole(b'{"status":"success","data":{"resultType":"vector","result":[]}}')
        return True

    async with raw_server(answer) as server:
        found, text = await said(capsys, server.url)

    assert (found, text.count("\n")) == (2, 1)
    assert "has seen no probes of Firstbyte's in that time; is it the one that scrapes it?" in text


async def test_a_proxy_that_can_not_be_used_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://me:sesame@127.0.0.1:1")

    with pytest.raises(TraceError, match=r"^the proxy ALL_PROXY=gopher://127\.0\.0\.1:1 can't be used"):
        Asked("http://prometheus.invalid")


@pytest.mark.parametrize("target", ["glm", 'a/b"} or vector(1)#', "", "A/b"])
async def test_no_target(target: str) -> None:
    with Asked("http://127.0.0.1:1") as asked, pytest.raises(TraceError, match="is no target; write provider/model"):
        history(asked, target, 60)


@pytest.mark.parametrize(
    ("since", "line"),
    [("0", "--since 0 is too little; choose 1m to 400d"), ("401d", "is too much"), ("soon", "is no length of time")],
)
async def test_no_such_time(since: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = await said(capsys, "http://127.0.0.1:1", "--since", since)

    assert (code, line in text) == (2, True)


# What isn't a Prometheus


async def test_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()

    code, text = await said(capsys, f"http://me:secret@127.0.0.1:{port}", "--target", TARGET)

    assert (code, text.count("\n")) == (3, 1)
    assert f"nothing answers at http://127.0.0.1:{port}; is that Prometheus's address?" in text


async def test_what_is_no_prometheus_is_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    with exporting(TARGET) as exporter:
        code, text = await said(capsys, f"http://{exporter.address}", "--target", TARGET)

    assert (code, text.count("\n")) == (3, 1)
    assert f"what answers at http://{exporter.address} is not Prometheus (HTTP status 405)" in text


@pytest.mark.parametrize(
    ("body", "status", "code", "line"),
    [
        pytest.param(
            b'{"status":"error","error":"too\\nmany"}', "422 No", 2, "refuses the question: too many", id="error"
        ),
        pytest.param(b"", "401 Unauthorized", 2, "wants a login; write it into the address", id="no login"),
        pytest.param(b"[1]", "200 OK", 3, "is not Prometheus (HTTP status 200)", id="other JSON"),
        pytest.param(b'{"status":"success"}', "200 OK", 3, "is not Prometheus", id="no data"),
        pytest.param(b'{"status":"success","data":{"result":[7]}}', "200 OK", 3, "is not Prometheus", id="no series"),
        pytest.param(b"[" * 100_000, "200 OK", 3, "is not Prometheus", id="too deep"),
        pytest.param(b"<html>", "502 Bad Gateway", 3, "is not Prometheus (HTTP status 502)", id="a gateway"),
    ],
)
async def test_odd_answers_are_told(
    body: bytes, status: str, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(exchange: Exchange) -> bool:
        await exchange.whole(body, status=status)
        return True

    async with raw_server(answer) as server:
        found, text = await said(capsys, server.url, "--target", TARGET)

    assert (found, text.count("\n")) == (code, 1)
    assert line in text


@pytest.mark.parametrize("silent", [True, False], ids=["silence", "an answer without end"])
async def test_what_never_comes_to_an_end_is_given_up(silent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.backtest.prometheus.ANSWER_S", 0.3)

    async def answer(exchange: Exchange) -> None:
        if not silent:
            await exchange.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            while True:
                await exchange.send(b"1\r\n[\r\n")
                await asyncio.sleep(0.02)
        await exchange.gone.wait()

    async with raw_server(answer) as server:

        def ask() -> None:
            with Asked(server.url) as asked:
                targets_of(asked, 60)

        with pytest.raises(PrometheusError, match="gives no whole answer in time"):
            await asyncio.to_thread(ask)
        for exchange in server.requests:
            exchange.gone.set()


async def test_more_than_can_be_held_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.backtest.prometheus.MAX_BYTES", 1000)

    async def answer(exchange: Exchange) -> bool:
        await exchange.whole(b"[" * 2000)
        return True

    async with raw_server(answer) as server:

        def ask() -> None:
            with Asked(server.url) as asked:
                targets_of(asked, 60)

        with pytest.raises(TraceError, match="sends more than can be held; choose a shorter --since"):
            await asyncio.to_thread(ask)
