"""Every behaviour over a real socket, in every wire."""

import asyncio
import math
import random
import statistics
from dataclasses import dataclass
from time import monotonic

import httpx
import pytest

from monitor.simulator import STATUSES, Behaviour, BehaviourName, End, Simulator
from monitor.simulator.question import Question, Reply
from monitor.simulator.script import script
from monitor.simulator.steps import Body, Scene
from monitor.simulator.wire import WIRES as WIRE_OF
from tests.simulator.asking import (
    ANTHROPIC,
    GEMINI,
    GOOD_END,
    MARKS,
    OPENAI,
    RESPONSES,
    TARGET,
    WIRES,
    Heard,
    ask,
    body_for,
    client_of,
    simulated,
    url_of,
)

SHORT_S = 1.0
ENDS = tuple(GOOD_END.values())

_CARRIES = {
    OPENAI: b'"delta":{"content":',
    RESPONSES: b'"response.output_text.delta","',
    ANTHROPIC: b'"text_delta"',
    GEMINI: b'"parts":[{"text":',
}

every_wire = pytest.mark.parametrize("wire", WIRES)
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "plain"])


@dataclass
class Broken:
    """What came of an answer before an error ended it."""

    status: int | None = None
    body: bytes = b""
    error: httpx.HTTPError | None = None


async def broken(simulator: Simulator, wire: str, *, stream: bool, limit_s: float = SHORT_S) -> Broken:
    """Ask for an answer that must not end well."""
    came = Broken()
    try:
        async with client_of(limit_s) as client:
            body, headers = body_for(wire, stream=stream), {"anthropic-version": "1"}
            url = url_of(simulator, wire, stream=stream)
            async with client.stream("POST", url, json=body, headers=headers) as answer:
                came.status = answer.status_code
                async for data in answer.aiter_raw():
                    came.body += data
    except httpx.HTTPError as error:
        came.error = error
    assert came.error is not None
    return came


def tokens_in(wire: str, body: bytes) -> int:
    """Count the deltas of a stream that carry text."""
    return body.count(_CARRIES[wire])


async def test_every_behaviour_can_be_told_and_has_a_test() -> None:
    tested = set(globals())

    assert [name for name in BehaviourName if not any(name.value in test for test in tested)] == []


def test_healthy_answers_are_spread_log_normally_around_their_median() -> None:
    chance = random.Random(1)
    firsts_s = sorted(_first_byte_of("healthy,first_byte_s=2,spread=0.5", chance) for _ in range(2001))
    logs = [math.log(first_s / 2) for first_s in firsts_s]

    assert firsts_s[1000] == pytest.approx(2, rel=0.05)
    assert statistics.stdev(logs) == pytest.approx(0.5, rel=0.05)


def test_a_healthy_answer_without_spread_has_its_median() -> None:
    assert _first_byte_of("healthy,first_byte_s=2,spread=0", random.Random(1)) == 2


def _first_byte_of(line: str, chance: random.Random) -> float:
    question = Question(model="glm", stream=True, prompt="", prompt_tokens=1, max_tokens=None)
    reply = Reply(serial="1", created=0, question=question)
    steps = script(Scene(behaviour=Behaviour.parse(line), reply=reply, wire=WIRE_OF[OPENAI], chance=chance))
    return next(step.at_s for step in steps if isinstance(step, Body) and step.carries)


@every_wire
@both_ways
async def test_first_byte_after_keeps_its_time_to_the_first_token(wire: str, stream: bool) -> None:
    async with simulated(Behaviour(name=BehaviourName.FIRST_BYTE_AFTER, after_s=10.0)) as simulator:
        began = monotonic()
        heard = await ask(simulator, wire, stream=stream)
        took_s = monotonic() - began
        (attempt,) = simulator.asked(TARGET).attempts

    assert heard.text.startswith(MARKS[0])
    assert attempt.first_byte_s is not None
    assert 0.1 <= attempt.first_byte_s <= took_s


async def test_headers_and_role_come_long_before_the_first_byte() -> None:
    async with simulated("first_byte_after,after_s=50") as simulator:
        await ask(simulator, OPENAI, stream=True)
        (attempt,) = simulator.asked(TARGET).attempts

    assert attempt.headers_s is not None
    assert attempt.first_event_s is not None
    assert attempt.first_byte_s is not None
    assert attempt.headers_s <= attempt.first_event_s < attempt.first_byte_s - 0.01


async def test_headers_come_with_the_first_byte_where_they_are_told_to() -> None:
    async with simulated("first_byte_after,after_s=10,headers_s=null") as simulator:
        await ask(simulator, OPENAI, stream=True)
        (attempt,) = simulator.asked(TARGET).attempts

    assert attempt.headers_s is not None
    assert attempt.headers_s >= 0.1


@every_wire
@both_ways
async def test_headers_only_sends_no_event(wire: str, stream: bool) -> None:
    async with simulated("headers_only") as simulator:
        came = await broken(simulator, wire, stream=stream)

    assert (came.status, came.body) == (200, b"")
    assert isinstance(came.error, httpx.ReadTimeout)


@every_wire
async def test_comments_only_sends_nothing_but_comments(wire: str) -> None:
    async with simulated("comments_only,every_s=8,silence_s=48") as simulator:
        heard = await ask(simulator, wire, stream=True)
        (attempt,) = simulator.asked(TARGET).attempts

    assert heard.body.startswith(": keep-alive\n\n" * 6)
    assert heard.body.count(": keep-alive") == 6
    assert attempt.first_event_s is not None
    assert attempt.first_byte_s is not None
    assert attempt.first_event_s + 0.05 < attempt.first_byte_s


async def test_comments_only_goes_on_for_ever_without_an_end_to_the_silence() -> None:
    async with simulated("comments_only,every_s=1") as simulator, client_of() as client:
        request = client.stream("POST", url_of(simulator, OPENAI), json=body_for(OPENAI, stream=True))
        async with request as answer:
            lines = answer.aiter_lines()
            got = [await anext(lines) for _ in range(40)]
        ended = await asyncio.wait_for(simulator.until(TARGET, lambda asked: bool(asked.attempts[0].end)), 60)

    assert set(got) == {": keep-alive", ""}
    assert ended.attempts[0].end is End.CLIENT_GONE


@every_wire
async def test_a_plain_answer_is_kept_awake_by_blank_lines_in_comments_only(wire: str) -> None:
    async with simulated("comments_only,every_s=3,silence_s=10") as simulator:
        heard = await ask(simulator, wire, stream=False)

    assert heard.body.startswith("\n\n\n\n{")
    assert heard.text.startswith(MARKS[0])


@every_wire
@both_ways
async def test_never_answers_takes_the_request_and_sends_nothing(wire: str, stream: bool) -> None:
    async with simulated("never_answers") as simulator:
        came = await broken(simulator, wire, stream=stream)
        asked = await asyncio.wait_for(simulator.until(TARGET, lambda asked: bool(asked.attempts[0].end)), 60)

    assert came.status is None
    assert isinstance(came.error, httpx.ReadTimeout)
    assert (asked.count, asked.attempts[0].end, asked.attempts[0].headers_s) == (1, End.CLIENT_GONE, None)


@pytest.mark.parametrize("name", ["never_answers", "headers_only"])
@both_ways
async def test_a_good_answer_follows_a_silence_that_ends(name: str, stream: bool) -> None:
    async with simulated(f"{name},silence_s=10") as simulator:
        heard = await ask(simulator, OPENAI, stream=stream)
        (attempt,) = simulator.asked(TARGET).attempts

    assert heard.text.startswith(MARKS[0])
    assert attempt.first_byte_s is not None
    assert attempt.first_byte_s >= 0.1


async def test_refused_refuses_connections_until_it_is_switched_back() -> None:
    async with simulated() as simulator, client_of() as client:
        kept = client.post(url_of(simulator, OPENAI), json=body_for(OPENAI, stream=False))
        assert (await kept).status_code == 200
        await simulator.set(TARGET, "refused")
        with pytest.raises(httpx.ConnectError):
            await client.post(url_of(simulator, OPENAI), json=body_for(OPENAI, stream=False))
        await simulator.set(TARGET, "healthy")
        again = await ask(simulator, OPENAI, stream=True)

        assert again.text.startswith(MARKS[0])


async def test_a_provider_can_be_refused_from_its_start() -> None:
    async with simulated("refused") as simulator:
        with pytest.raises(httpx.ConnectError):
            await ask(simulator, OPENAI, stream=True)


@every_wire
async def test_reset_ends_the_connection_by_a_reset(wire: str) -> None:
    async with simulated("reset") as simulator:
        with pytest.raises(httpx.ReadError) as caught:
            await ask(simulator, wire, stream=True)

    assert _reset_below(caught.value)


def _reset_below(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ConnectionResetError):
        error = error.__cause__ or error.__context__
    return error is not None


@every_wire
@both_ways
async def test_cut_ends_inside_the_body(wire: str, stream: bool) -> None:
    async with simulated("cut,tokens=4") as simulator:
        came = await broken(simulator, wire, stream=stream, limit_s=60.0)
        (attempt,) = simulator.asked(TARGET).attempts

    assert attempt.end is End.CUT
    assert isinstance(came.error, httpx.RemoteProtocolError)
    assert came.body.startswith((b"data: ", b"event: ") if stream else b"{")
    assert not came.body.endswith((b"\n\n", b"\r\n", b"}"))


@every_wire
@pytest.mark.parametrize("tokens", [0, 4, 40])
async def test_cut_comes_after_its_tokens(wire: str, tokens: int) -> None:
    async with simulated(f"cut,tokens={tokens}") as simulator:
        came = await broken(simulator, wire, stream=True, limit_s=60.0)
    whole_events, _, rest = came.body.replace(b"\r\n", b"\n").rpartition(b"\n\n")

    assert tokens_in(wire, whole_events) == tokens
    assert rest


@every_wire
@both_ways
async def test_stall_falls_silent_after_its_tokens(wire: str, stream: bool) -> None:
    async with simulated("stall,tokens=3") as simulator:
        came = await broken(simulator, wire, stream=stream)

    assert came.status == 200
    assert isinstance(came.error, httpx.ReadTimeout)
    assert came.body.endswith((b"\n\n", b"\n\r\n")) if stream else came.body.startswith(b"{")
    assert not stream or tokens_in(wire, came.body) == 3


@every_wire
@both_ways
async def test_a_stall_that_ends_brings_the_rest(wire: str, stream: bool) -> None:
    async with simulated("stall,tokens=3,silence_s=10") as simulator:
        heard = await ask(simulator, wire, stream=stream)
        (attempt,) = simulator.asked(TARGET).attempts

    assert heard.text.startswith(" ".join(MARKS))
    assert heard.ended
    assert attempt.end_s is not None
    assert attempt.end_s >= 0.1


@every_wire
@both_ways
async def test_empty_ends_well_without_text(wire: str, stream: bool) -> None:
    async with simulated("empty") as simulator:
        heard = await ask(simulator, wire, stream=stream)
        (attempt,) = simulator.asked(TARGET).attempts

    assert (heard.status, heard.text, heard.ended) == (200, "", True)
    assert heard.finish in ENDS
    assert "content_block_start" not in heard.kinds
    assert attempt.first_byte_s is None


@every_wire
@both_ways
async def test_empty_unended_has_no_body_at_all(wire: str, stream: bool) -> None:
    async with simulated("empty_unended") as simulator:
        heard = await ask(simulator, wire, stream=stream)

    assert (heard.status, heard.body) == (200, "")


@every_wire
@both_ways
async def test_gateway_text_stands_in_place_of_the_answer(wire: str, stream: bool) -> None:
    async with simulated("gateway_text,phrase=No answer from upstream") as simulator:
        heard = await ask(simulator, wire, stream=stream)

    assert (heard.status, heard.text, heard.ended) == (200, "No answer from upstream", True)
    assert heard.finish in ENDS
    assert heard.body.count("No answer from upstream") == (5 if wire == RESPONSES and stream else 1)


@every_wire
@both_ways
async def test_truncated_prompt_counts_less_and_loses_marks(wire: str, stream: bool) -> None:
    async with simulated("truncated_prompt,keep_tokens=100") as simulator:
        heard = await ask(simulator, wire, stream=stream)

    assert heard.text.splitlines()[0] == f"{MARKS[2]} {MARKS[0]}"
    assert heard.in_tokens == 100


@every_wire
@both_ways
async def test_error_first_is_an_error_in_a_200(wire: str, stream: bool) -> None:
    async with simulated("error_first,phrase=Provider gave up") as simulator:
        heard = await ask(simulator, wire, stream=stream)

    assert (heard.status, heard.text, heard.ended) == (200, "", False)
    assert heard.error is not None
    assert heard.error["message"] == "Provider gave up"


@every_wire
async def test_error_after_text_is_an_error_behind_tokens(wire: str) -> None:
    async with simulated("error_after_text,tokens=2") as simulator:
        heard = await ask(simulator, wire, stream=True)

    assert (heard.status, heard.text, heard.ended) == (200, "FB-00000", False)
    assert heard.error is not None


@every_wire
async def test_error_after_text_is_an_error_body_where_the_answer_is_plain(wire: str) -> None:
    async with simulated("error_after_text") as simulator:
        heard = await ask(simulator, wire, stream=False)

    assert heard.status == 200
    assert heard.error is not None


@every_wire
@both_ways
async def test_html_is_a_page_with_200(wire: str, stream: bool) -> None:
    async with simulated("html") as simulator:
        heard = await ask(simulator, wire, stream=stream)

    assert heard.status == 200
    assert heard.headers["content-type"].startswith("text/html")
    assert heard.body.startswith("<!doctype html>")


@every_wire
@both_ways
async def test_loop_repeats_one_sentence_beyond_the_limit_that_was_asked_for(wire: str, stream: bool) -> None:
    async with simulated("loop,seconds=5") as simulator:
        heard = await ask(simulator, wire, stream=stream, limit=5)

    sentence = heard.text[:35]
    assert heard.text == (sentence * 100)[: len(heard.text)]
    assert len(heard.text) > 30 * len(sentence)


@every_wire
@both_ways
async def test_flow_goes_on_for_its_time_without_repeating(wire: str, stream: bool) -> None:
    async with simulated("flow,seconds=10") as simulator:
        heard = await ask(simulator, wire, stream=stream)
        (attempt,) = simulator.asked(TARGET).attempts

    assert heard.text.startswith(" ".join(MARKS))
    assert heard.finish in ENDS
    assert attempt.end_s is not None
    assert attempt.end_s >= 0.1
    assert heard.text.count(heard.text[100:160]) == 1


@every_wire
async def test_loop_ends_when_the_client_goes(wire: str) -> None:
    async with simulated("loop") as simulator, client_of() as client:
        body, headers = body_for(wire, stream=True), {"anthropic-version": "1"}
        async with client.stream("POST", url_of(simulator, wire), json=body, headers=headers) as answer:
            async for _ in answer.aiter_raw():
                break
        asked = await asyncio.wait_for(simulator.until(TARGET, lambda asked: bool(asked.attempts[0].end)), 60)

    assert asked.attempts[0].end is End.CLIENT_GONE


@every_wire
@pytest.mark.parametrize("status", STATUSES)
async def test_http_error_has_the_wire_s_own_shape(wire: str, status: int) -> None:
    async with simulated(f"http_error,status={status},phrase=because") as simulator:
        heard = await ask(simulator, wire, stream=True)

    assert heard.status == status
    assert "retry-after" not in heard.headers
    assert heard.error == _error(wire, heard)


def _error(wire: str, heard: Heard) -> dict[str, object]:
    assert heard.error is not None
    told = {"message": "because"}
    match wire:
        case "gemini":
            return {**told, "code": heard.status, "status": heard.error["status"]}
        case "anthropic-messages":
            return {**told, "type": heard.error["type"]}
        case _:
            return {**told, "type": heard.error["type"], "param": None, "code": heard.error["code"]}


@pytest.mark.parametrize(("speed", "seconds"), [(1.0, "20"), (10.0, "2"), (100.0, "1")])
async def test_a_retry_after_is_divided_by_the_speed_to_a_whole_second(speed: float, seconds: str) -> None:
    async with simulated("http_error,status=429,retry_after_s=20,headers_s=0", speed=speed) as simulator:
        heard = await ask(simulator, OPENAI, stream=True)

    assert heard.headers["retry-after"] == seconds


async def test_a_model_s_name_can_ask_for_a_behaviour() -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, ANTHROPIC, stream=True, model="glm#http_error,status=529")
        asked = simulator.asked(TARGET)

    assert heard.status == 529
    assert asked.behaviours == {BehaviourName.HTTP_ERROR: 1}
