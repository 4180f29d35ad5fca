import asyncio
import dataclasses
import gzip
import logging
import time
import zlib
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from breaker.answer import Answer, Body, Ended, Part, Source
from breaker.policy import Policy
from breaker.target import Ability
from breaker.verdict import Blame, Verdict
from breaker.wire.signs import Phrase
from monitor.exchange.phases import Phase
from monitor.lag import LoopLag
from monitor.probe.connections import Connections
from monitor.settings import ProbeShape
from monitor.simulator import End, Simulator
from tests.probes.probing import QUICK, plan_at, probed
from tests.probes.raw_server import Exchange, raw_server

SSE = "content-type: text/event-stream"
HELLO = b'data: {"choices":[{"delta":{"content":"hello"}}]}\n\n'
DONE = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
OWN = Phrase(id="own-1", text="The pump house is closed", tail=40)
LATE_KINDS = ("never_answers", "headers_only", "comments_only,every_s=0.05")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Found(NamedTuple):
    verdict: Verdict
    ended: Ended
    late: bool = False


BEHAVIOURS = {
    "healthy": Found(Verdict.OK, Ended.COMPLETE),
    "flow,seconds=1": Found(Verdict.OK, Ended.COMPLETE),
    "first_byte_after,after_s=0.8": Found(Verdict.OK, Ended.COMPLETE, late=True),
    "headers_only": Found(Verdict.TIMEOUT_FIRST_BYTE, Ended.SILENCE, late=True),
    "comments_only,every_s=0.05": Found(Verdict.TIMEOUT_FIRST_BYTE, Ended.SILENCE, late=True),
    "never_answers": Found(Verdict.TIMEOUT_FIRST_BYTE, Ended.SILENCE, late=True),
    "refused": Found(Verdict.CONNECT_ERROR, Ended.UNREACHABLE),
    "reset": Found(Verdict.CONNECT_ERROR, Ended.UNREACHABLE),
    "cut": Found(Verdict.CUT, Ended.RESET),
    "stall": Found(Verdict.TIMEOUT_SILENCE, Ended.SILENCE),
    "empty": Found(Verdict.EMPTY, Ended.COMPLETE),
    "empty_unended": Found(Verdict.EMPTY, Ended.COMPLETE),
    "truncated_prompt": Found(Verdict.UNPROCESSED, Ended.COMPLETE),
    "error_first": Found(Verdict.ERROR_EVENT, Ended.COMPLETE),
    "error_after_text": Found(Verdict.ERROR_EVENT, Ended.COMPLETE),
    "html": Found(Verdict.MALFORMED, Ended.COMPLETE),
    "http_error,status=401": Found(Verdict.AUTH, Ended.COMPLETE),
    "http_error,status=429": Found(Verdict.RATE_LIMITED, Ended.COMPLETE),
    "http_error,status=500": Found(Verdict.HTTP_ERROR, Ended.COMPLETE),
}


@pytest.mark.parametrize(
    ("phrases", "expected"),
    [
        pytest.param((OWN,), (Verdict.GATEWAY_TEXT, "own-1"), id="told of it"),
        pytest.param((), (Verdict.UNPROCESSED, None), id="not told: no mark came back"),
    ],
)
async def test_a_probe_looks_for_the_phrases_of_its_plan(
    phrases: tuple[Phrase, ...], expected: tuple[Verdict, str | None]
) -> None:
    async with Simulator({"p/m": f"gateway_text,phrase={OWN.text},first_byte_s=0.02,spread=0"}) as simulator:
        plan = dataclasses.replace(plan_at(simulator.base_url("p")), phrases=phrases)
        found = await probed(plan)

    assert (found.judgement.verdict, found.answer.phrase) == expected
    assert found.answer.tools is True


@pytest.mark.parametrize(
    ("can", "offered"),
    [
        pytest.param(None, True, id="not known"),
        pytest.param((Ability.TOOLS, Ability.VISION), True, id="tools among others"),
        pytest.param((Ability.VISION,), False, id="others"),
        pytest.param((), False, id="none"),
    ],
)
async def test_a_probe_offers_tools_only_where_the_model_may_call_some(
    can: tuple[Ability, ...] | None, offered: bool
) -> None:
    async with Simulator(["p/m"]) as simulator:
        plan = plan_at(simulator.base_url("p"))
        plan = dataclasses.replace(plan, target=dataclasses.replace(plan.target, can=can), probe=ProbeShape())
        answer = (await probed(plan)).answer

    assert answer.tools is offered
    assert answer.marks_returned == 3


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic-messages"])
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
async def test_each_behaviour_of_a_provider_is_seen_for_what_it_is(behaviour: str, wire: str) -> None:
    quick = f"{behaviour},first_byte_s=0.02,spread=0,headers_s=0.01,tokens_per_s=500"
    async with Simulator({"p/m": quick}) as simulator:
        found = await probed(plan_at(simulator.base_url("p"), wire=wire))

    assert Found(found.judgement.verdict, found.answer.ended, late=bool(found.lates)) == BEHAVIOURS[behaviour]
    assert found.answer.source is Source.PROBE
    assert found.answer.target == "p/m"


async def test_a_good_answer_brings_all_marks_back_and_counts_the_whole_prompt() -> None:
    async with Simulator(["p/m"]) as simulator:
        answer = (await probed(plan_at(simulator.base_url("p"), policy=Policy()))).answer
        asked = simulator.asked("p/m").attempts[0]

    assert (answer.marks_sent, answer.marks_returned) == (3, 3)
    assert answer.prompt_tokens == asked.prompt_tokens == pytest.approx(9_000, rel=0.1)
    assert answer.prompt_bytes == pytest.approx(36_000, rel=0.01)
    assert answer.max_tokens == ProbeShape().max_tokens
    assert answer.streamed is asked.stream is True


# Times


async def test_times_are_those_at_which_the_provider_sent() -> None:
    told = "first_byte_after,after_s=1.2,headers_s=0.4,tokens_per_s=20"
    async with Simulator({"p/m": told}) as simulator:
        found = await probed(plan_at(simulator.base_url("p"), policy=Policy()))
        sent = simulator.asked("p/m").attempts[0]
    answer = found.answer

    assert sent.headers_s is not None
    assert sent.first_byte_s is not None
    assert sent.end_s is not None
    assert answer.first_byte_s is not None
    assert sent.headers_s - 0.01 < (answer.headers_s or 0.0) < sent.first_byte_s
    assert sent.first_byte_s - 0.01 < answer.first_byte_s < sent.end_s
    assert sent.end_s - 0.01 < answer.seconds < sent.end_s + sent.headers_s
    assert set(found.phases) == {Phase.CONNECT, Phase.SEND, Phase.WAIT}
    assert found.phases[Phase.SEND] + found.phases[Phase.WAIT] == pytest.approx(answer.headers_s)


async def test_what_was_read_late_says_how_long_ago_its_request_began() -> None:
    """Else it would seem to have begun after what came meanwhile."""
    async with Simulator({"p/m": "healthy,first_byte_s=0.02,spread=0"}) as simulator:
        answer = (await probed(plan_at(simulator.base_url("p")))).answer

    assert answer.age_s is not None
    assert answer.age_s > answer.seconds


async def test_a_phase_that_is_not_reached_has_no_time() -> None:
    async with Simulator({"p/m": "refused", "q/m": "never_answers"}) as simulator:
        refused = await probed(plan_at(simulator.base_url("p")))
        silent = await probed(plan_at(simulator.base_url("q")))

    assert refused.phases == {}
    assert set(silent.phases) == {Phase.CONNECT, Phase.SEND}


@pytest.mark.parametrize("behaviour", LATE_KINDS)
async def test_the_late_part_comes_when_the_slow_limit_passes_while_the_attempt_goes_on(behaviour: str) -> None:
    seen: list[tuple[float, Answer]] = []
    began = time.monotonic()

    async def late(answer: Answer) -> None:
        seen.append((time.monotonic() - began, answer))

    async with Simulator({"p/m": f"{behaviour},silence_s=3"}) as simulator:
        plan = plan_at(simulator.base_url("p"), policy=Policy(slow_s=0.6, silence_s=60.0))
        answer = (await probed(plan, late=late, confirms="one")).answer

    [(at_s, part)] = seen
    assert 0.6 <= part.seconds < 2.9
    assert part.seconds <= at_s < 2.9
    assert (part.part, part.ended, part.id, part.confirms) == (Part.LATE, Ended.PENDING, answer.id, "one")
    assert (part.headers_s is None) == behaviour.startswith("never")
    assert (answer.part, answer.confirms) == (Part.FINAL, "one")
    assert answer.first_byte_s is not None
    assert answer.first_byte_s > 1.2
    assert not answer.suspect_timing


@pytest.mark.soak
@pytest.mark.parametrize("behaviour", LATE_KINDS)
async def test_with_the_real_limits_silence_is_late_after_40_s_and_over_after_120(behaviour: str) -> None:
    async with Simulator({"p/m": behaviour}) as simulator:
        found = await probed(plan_at(simulator.base_url("p"), policy=Policy()))

    assert found.lates[0].seconds == pytest.approx(40.0, abs=0.1)
    assert found.answer.seconds == pytest.approx(120.0 + (found.answer.headers_s or 0.0), abs=0.5)


async def test_an_answer_that_flows_is_never_cut() -> None:
    told = "flow,seconds=2.5,first_byte_s=0.05,tokens_per_s=20"
    async with Simulator({"p/m": told}) as simulator:
        policy = Policy(slow_s=0.3, silence_s=0.5)
        found = await probed(plan_at(simulator.base_url("p"), policy=policy))

    assert found.answer.seconds > 2.4
    assert found.judgement.verdict is Verdict.OK


@pytest.mark.soak
async def test_with_the_real_limits_an_answer_that_flows_for_ten_minutes_is_not_cut() -> None:
    async with Simulator({"p/m": "flow,seconds=600,tokens_per_s=60"}) as simulator:
        found = await probed(plan_at(simulator.base_url("p"), policy=Policy()))

    assert found.answer.seconds > 599
    assert found.judgement.verdict is Verdict.OK


async def test_while_our_own_loop_stands_still_nothing_is_late_and_the_timing_is_suspect() -> None:
    lates: list[float] = []

    async def late(answer: Answer) -> None:
        lates.append(answer.seconds)

    async with Simulator({"p/m": "first_byte_after,after_s=0.5"}) as simulator, LoopLag() as lag:
        asking = asyncio.create_task(probed(plan_at(simulator.base_url("p")), lag=lag, late=late))
        await simulator.until_asked("p/m", 1)
        until = time.monotonic() + QUICK.slow_s + 0.2
        while time.monotonic() < until:
            pass  # the loop has other things to do
        answer = (await asking).answer

    assert lates == []
    assert answer.suspect_timing
    assert answer.first_byte_s is not None


async def test_silence_that_goes_on_after_a_stall_of_our_loop_is_late_beyond_doubt() -> None:
    async with Simulator({"p/m": "never_answers"}) as simulator, LoopLag() as lag:
        asking = asyncio.create_task(probed(plan_at(simulator.base_url("p")), lag=lag))
        await simulator.until_asked("p/m", 1)
        until = time.monotonic() + 0.4
        while time.monotonic() < until:
            pass  # the loop has other things to do
        found = await asking

    assert QUICK.slow_s + 0.35 < found.lates[0].seconds < found.answer.seconds
    assert not found.answer.suspect_timing


# Connections


async def test_each_probe_opens_a_connection_of_its_own_and_leaves_none() -> None:
    async with Simulator({"p/m": "healthy,first_byte_s=0.01"}) as simulator:
        for _ in range(3):
            await probed(plan_at(simulator.base_url("p")))

        assert simulator.accepted("p") == 3
        assert {attempt.connection for attempt in simulator.asked("p/m").attempts} == {1, 2, 3}


async def test_a_kept_connection_is_used_again() -> None:
    connections = Connections()
    async with Simulator({"p/m": "healthy,first_byte_s=0.01"}) as simulator:
        plan = plan_at(simulator.base_url("p"), fresh_connection=False)
        phases = [(await probed(plan, connections=connections)).phases for _ in range(3)]
        await connections.aclose()
        await connections.aclose()

        assert simulator.accepted("p") == 1
    assert [Phase.CONNECT in seen for seen in phases] == [True, False, False]


async def test_kept_connections_never_make_a_probe_wait_for_a_place() -> None:
    connections = Connections()
    async with Simulator({"p/m": "first_byte_after,after_s=0.3"}) as simulator:
        plan = plan_at(simulator.base_url("p"), policy=Policy(), fresh_connection=False, prompt_tokens=500)
        await asyncio.gather(*(probed(plan, connections=connections) for _ in range(40)))
        await connections.aclose()

        assert simulator.accepted("p") == 40


async def test_a_kept_connection_that_its_server_closes_unseen_is_no_failure() -> None:
    async def answer(exchange: Exchange) -> bool:
        if exchange.number == 1:
            await exchange.whole(HELLO + DONE, SSE)
            return False
        return True  # a request on an old connection ends it without a word

    connections = Connections()
    async with raw_server(answer) as server:
        plan = plan_at(server.url, fresh_connection=False)
        found = [(await probed(plan, connections=connections)).answer for _ in range(2)]
        await connections.aclose()

    assert [answer.ended for answer in found] == [Ended.COMPLETE, Ended.COMPLETE]
    assert (server.connections, len(server.requests)) == (2, 3)


async def test_cancelling_closes_the_connection_and_gives_no_answer() -> None:
    async with Simulator({"p/m": "stall,first_byte_s=0.01"}) as simulator:
        asking = asyncio.create_task(probed(plan_at(simulator.base_url("p"), policy=Policy())))
        await simulator.until_asked("p/m", 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        async with asyncio.timeout(60):
            asked = await simulator.until("p/m", lambda asked: asked.attempts[-1].end is not None)

    assert asked.attempts[0].end is End.CLIENT_GONE


async def test_a_fault_of_ours_in_taking_the_late_part_is_raised_and_closes_the_connection() -> None:
    async def late(_: Answer) -> None:
        raise ZeroDivisionError

    async with Simulator({"p/m": "never_answers"}) as simulator:
        with pytest.raises(ExceptionGroup) as caught:
            await probed(plan_at(simulator.base_url("p"), policy=Policy(slow_s=0.1, silence_s=30)), late=late)
        async with asyncio.timeout(60):
            await simulator.until("p/m", lambda asked: asked.attempts[-1].end is End.CLIENT_GONE)

    assert caught.group_contains(ZeroDivisionError)


# What comes back


async def test_a_redirect_is_not_followed() -> None:
    async def answer(exchange: Exchange) -> bool:
        await exchange.whole(b"", f"location: {server.url}/elsewhere", status="307 Temporary Redirect")
        return True

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url))

    assert (found.answer.status, found.judgement.verdict) == (307, Verdict.HTTP_ERROR)
    assert len(server.requests) == 1


async def test_an_answer_is_over_soon_after_its_end_even_if_the_connection_stays_open() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(CHUNKED_HEAD, chunk(HELLO), chunk(DONE))
        await exchange.gone.wait()

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url))

    assert (found.answer.ended, found.answer.end_mark) == (Ended.COMPLETE, True)
    assert found.answer.seconds < QUICK.silence_s + 0.5


async def test_an_end_that_comes_too_early_ends_nothing() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(CHUNKED_HEAD, chunk(HELLO), chunk(DONE))
        for _ in range(12):  # longer than the grace after an end
            await asyncio.sleep(0.05)
            await exchange.send(chunk(HELLO))
        await exchange.send(chunk(DONE), chunk(b""))

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url, policy=Policy(slow_s=0.2, silence_s=0.3)))

    assert (found.answer.ended, found.answer.text_chars) == (Ended.COMPLETE, 13 * len("hello"))


async def test_an_error_status_whose_body_never_comes_is_still_that_error() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 500 Oh\r\ncontent-length: 99\r\n\r\n")
        await exchange.gone.wait()

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url, policy=Policy(slow_s=0.2, silence_s=0.4)))

    assert (found.answer.status, found.judgement.verdict) == (500, Verdict.HTTP_ERROR)


@pytest.mark.parametrize("text", ["data: ", ": keep-alive\n\n" * 20 + "data: "], ids=["events", "after comments"])
async def test_a_compressed_stream_is_read(text: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.whole(gzip.compress(text.encode() + HELLO[6:] + DONE), SSE, "content-encoding: gzip")

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url))

    assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"
    assert (found.answer.text_chars, found.answer.end_mark) == (5, True)


async def test_a_body_that_is_not_compressed_as_it_says_is_broken() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.whole(HELLO + DONE, SSE, "content-encoding: gzip")

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url))

    assert found.answer.ended is Ended.RESET


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br", "its-own"])
async def test_a_body_in_an_encoding_that_nobody_asked_for_is_unread_and_blames_nobody(encoding: str) -> None:
    """As in an agent's report: what looks like an answer in it may be one by chance alone."""

    async def answer(exchange: Exchange) -> None:
        await exchange.whole(HELLO + DONE, SSE, f"content-encoding: {encoding}")

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url))

    assert (found.answer.body, found.answer.ended, found.answer.text_chars) == (Body.PACKED, Ended.COMPLETE, None)
    assert (found.judgement.verdict, found.judgement.blame) == (Verdict.MALFORMED, Blame.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        pytest.param(500, Verdict.HTTP_ERROR, id="an error"),
        pytest.param(401, Verdict.AUTH, id="a key that is none"),
        pytest.param(429, Verdict.RATE_LIMITED, id="too many"),
    ],
)
async def test_the_status_of_a_body_that_cannot_be_read_counts_as_ever(status: int, verdict: Verdict) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 %d Oh\r\ncontent-length: 4\r\ncontent-encoding: br\r\n\r\nabcd" % status)

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url))

    assert found.judgement.verdict == verdict


async def test_silence_in_a_body_that_cannot_be_read_counts_and_what_comes_of_it_ends_that() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\ncontent-encoding: br\r\n\r\n")
        for _ in range(3):
            await asyncio.sleep(0.1)
            await exchange.send(b"a")
        await exchange.gone.wait()

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url, policy=Policy(slow_s=0.5, silence_s=2.0)))

    assert (found.answer.ended, found.judgement.verdict) == (Ended.SILENCE, Verdict.TIMEOUT_SILENCE)
    assert found.answer.seconds >= 2.2
    assert found.lates == []


async def test_a_bomb_is_broken_off() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.whole(gzip.compress(bytes(80 * 1024 * 1024), 1), SSE, "content-encoding: gzip")

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url, policy=Policy()))

    assert found.answer.ended is Ended.RESET


async def test_a_flood_of_line_ends_is_given_up_at_the_limit_and_leaves_the_loop_its_turns() -> None:
    async def answer(exchange: Exchange) -> None:
        flood = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        body = flood.compress(b": \n") + flood.compress(b":\n" * 4_000_000) + flood.flush()
        await exchange.whole(body, SSE, "content-encoding: gzip")

    async with raw_server(answer) as server, LoopLag() as lag:
        found = await probed(plan_at(server.url), lag=lag)

    assert (found.answer.ended, found.judgement.verdict) == (Ended.SILENCE, Verdict.TIMEOUT_FIRST_BYTE)


async def test_an_error_in_a_stream_that_goes_on_ends_the_answer() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(CHUNKED_HEAD, chunk(b'data: {"error": {"message": "Overloaded"}}\n\n'))
        await exchange.gone.wait()

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url))

    assert (found.answer.ended, found.judgement.verdict) == (Ended.COMPLETE, Verdict.ERROR_EVENT)
    assert found.lates == []


async def test_a_connection_whose_tls_never_comes_about_is_closed() -> None:
    closed = asyncio.Event()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.read(4096):
                pass
        finally:
            closed.set()
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        found = await probed(plan_at(url, policy=Policy(slow_s=0.1, silence_s=0.3)))
        async with asyncio.timeout(60):
            await closed.wait()

    assert found.judgement.verdict is Verdict.TIMEOUT_FIRST_BYTE
    assert set(found.phases) == {Phase.CONNECT}


@pytest.mark.parametrize(
    "sent",
    [b"", b"\x16\x03\x01 no http at all\r\n\r\n", b"HTTP/1.1 200 OK\r\nbroken header\r\n\r\n"],
    ids=["closed", "not http", "a header without a colon"],
)
async def test_what_comes_before_any_headers_and_is_none_is_no_connection(sent: bytes) -> None:
    async def answer(exchange: Exchange) -> bool:
        await exchange.send(sent)
        return True

    async with raw_server(answer) as server:
        found = await probed(plan_at(server.url))

    assert (found.answer.ended, found.answer.status) == (Ended.UNREACHABLE, None)


async def test_a_port_that_speaks_no_tls_is_no_connection() -> None:
    async def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 some other service\r\n")
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        found = await probed(plan_at(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"))

    assert found.answer.ended is Ended.UNREACHABLE


# The key


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic-messages"])
async def test_the_key_is_sent_as_the_wire_wants_it(wire: str) -> None:
    async with Simulator({"p/m": "healthy,first_byte_s=0.01"}, keys={"p": "secret"}) as simulator:
        plan = plan_at(simulator.base_url("p"), wire=wire)
        verdicts = [(await probed(plan, key)).judgement.verdict for key in ("secret", "wrong", None)]

    assert verdicts == [Verdict.OK, Verdict.AUTH, Verdict.AUTH]


@pytest.mark.parametrize("key", ["sesame\nsesame", "sésame"], ids=["a newline", "no ascii"])
async def test_a_key_that_no_header_can_carry_is_a_failure_that_no_log_shows(
    key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with Simulator(["p/m"]) as simulator:
        answer = (await probed(plan_at(simulator.base_url("p")), key)).answer

    assert answer.ended is Ended.UNREACHABLE
    assert "sesame" not in caplog.text
    assert "sésame" not in caplog.text


@pytest.fixture
async def busy_line() -> AsyncIterator[str]:
    """An address where everything is said by one event a byte."""

    async def answer(exchange: Exchange) -> None:
        body = HELLO + DONE
        await exchange.send(CHUNKED_HEAD, *(chunk(body[at : at + 1]) for at in range(len(body))), chunk(b""))

    async with raw_server(answer) as server:
        yield server.url


async def test_neither_prompt_nor_reply_is_in_the_answer_or_a_log(
    busy_line: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    found = await probed(plan_at(busy_line), "sesame")

    told = f"{found.answer.facts()} {caplog.text}"
    assert found.answer.text_chars == 5
    assert not [word for word in ("hello", "checkmark", "FB-", "sesame") if word in told]
