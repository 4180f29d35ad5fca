import gzip
import json

import pytest

from breaker.answer import Body, Ended, Part
from breaker.attempt import Attempt, Limits, Stand
from breaker.attempt.attempt import ERROR_BODY_S, MAX_HELD
from breaker.attempt.loops import LOOP_RUN
from breaker.verdict import Blame, Verdict
from tests.attempt.made import DONE, ERROR, LIMITS, PROSE, ROLE, asked, attempt, place, said, stop, thought

OK = {"Content-Type": "text/event-stream"}
LONG = "ravens " * 28 + "fly."


def begun(limits: Limits = LIMITS, *, leaves: bool = True, streamed: bool = True) -> Attempt:
    """An attempt whose headers have come a second after its begin."""
    made = attempt(limits, leaves=leaves, streamed=streamed)
    made.headers(200, OK, 101.0)
    return made


def verdict(made: Attempt) -> Verdict:
    return made.ended.judgement.verdict


def stand(made: Attempt) -> Stand:
    return made.stand


# Holding back


def test_from_its_end_on_little_is_waited_for() -> None:
    made = begun()
    made.feed(said(LONG), 102.0)
    assert not made.is_ending
    made.feed(stop(), 103.0)

    assert made.is_ending


def test_text_is_held_back_until_there_is_enough() -> None:
    made = begun()
    made.feed(ROLE, 101.0)
    made.feed(said(LONG[:159]), 102.0)
    assert stand(made) is Stand.HELD
    made.feed(said(LONG[159]), 103.0)

    assert made.stand is Stand.GOOD
    assert made.take() == [ROLE, said(LONG[:159]), said(LONG[159])]
    assert made.take() == []


def test_reasoning_and_arguments_of_calls_count_like_text() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "write", "arguments": '{"text": "' + "x" * 80}}
    made = begun()
    made.feed(thought(LONG[:80]), 102.0)
    made.feed(b"data: " + json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).encode() + b"\n\n", 103.0)

    assert made.stand is Stand.GOOD


def test_an_image_is_shown_at_once() -> None:
    made = begun()
    made.feed(b'data: {"choices": [{"delta": {"images": [{"image_url": {}}]}}]}\n\n', 102.0)

    assert made.stand is Stand.GOOD


def test_what_comes_in_drops_is_not_held_for_ever() -> None:
    made = begun(Limits(hold_s=5.0))
    made.feed(said("One"), 102.0)
    made.feed(said(" two"), 106.9)
    assert stand(made) is Stand.HELD
    made.feed(said(" three"), 107.0)

    assert made.stand is Stand.GOOD


def test_text_that_sounds_like_a_gateway_is_held_on() -> None:
    made = begun()
    made.feed(
        said("[Proxy Error] The upstream API returned an empty response. Please retry the request. " + "." * 90), 102
    )
    assert stand(made) is Stand.HELD
    made.feed(stop() + DONE, 103.0)
    made.end(Ended.COMPLETE, 103.0)

    assert (made.stand, verdict(made)) == (Stand.BAD, Verdict.GATEWAY_TEXT)


def test_a_short_answer_is_shown_at_its_end() -> None:
    made = begun()
    made.feed(said("Yes.") + stop() + DONE, 102.0)
    assert stand(made) is Stand.HELD
    made.end(Ended.COMPLETE, 102.0)

    assert (made.stand, verdict(made)) == (Stand.GOOD, Verdict.OK)


def test_what_comes_with_the_end_is_held_back_until_it_is_known_what_the_answer_was() -> None:
    made = begun()
    made.feed(said(LONG), 102.0)
    assert made.take() == [said(LONG)]
    made.feed(stop(), 103.0)
    made.feed(DONE, 104.0)
    assert made.take() == []
    made.end(Ended.COMPLETE, 104.0)

    assert made.take() == [stop(), DONE]


def test_after_an_end_that_was_none_all_is_shown() -> None:
    made = begun()
    made.feed(said(LONG) + stop(), 102.0)
    assert made.take() == []
    made.feed(said(" more"), 103.0)

    assert made.take() == [said(LONG) + stop(), said(" more")]


GATEWAYS = "Error: internal error"


@pytest.mark.parametrize(
    ("doubts", "text", "found"),
    [
        pytest.param(True, GATEWAYS, Stand.BAD, id="while there is another attempt"),
        pytest.param(False, GATEWAYS, Stand.GOOD, id="when there is none, or it has said so before"),
        pytest.param(True, "All is well.\n\n" + GATEWAYS, Stand.GOOD, id="where a model's words stand before it"),
    ],
)
def test_what_may_be_a_gateways_words_or_a_models_is_doubted_once(doubts: bool, text: str, found: Stand) -> None:
    made = Attempt(asked(), place(), LIMITS, id="a1", began=100.0, leaves=True, doubts=doubts)
    made.headers(200, OK, 101.0)
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}\n\n'
    for data in (ROLE, *(said(f"{word} ") for word in text.split(" ")), stop(), usage, DONE):
        made.feed(data, 102.0)
    made.end(Ended.COMPLETE, 103.0)

    assert verdict(made) is Verdict.GATEWAY_TEXT
    assert made.stand is found


@pytest.mark.parametrize(
    ("pieces", "read", "stand"),
    [
        pytest.param(1, 10_000, Stand.BAD, id="in one piece"),
        pytest.param(9, 5_000, Stand.BAD, id="with too few tokens counted"),
        pytest.param(9, 10_000, Stand.GOOD, id="streamed and counted as models' answers are"),
    ],
)
def test_what_only_sounds_like_a_gateways_words_is_doubted_where_it_comes_like_them(
    pieces: int, read: int, stand: Stand
) -> None:
    words = "The upstream did not answer in time.".split(" ", pieces - 1)
    question = asked(messages=[{"role": "user", "content": "word" * 10_000}])
    made = Attempt(question, place(), LIMITS, id="a1", began=100.0, leaves=True, doubts=True)
    made.headers(200, OK, 101.0)
    usage = f'data: {{"choices": [], "usage": {{"prompt_tokens": {read}, "completion_tokens": 9}}}}\n\n'.encode()
    for data in (ROLE, *(said(f"{word} ") for word in words), stop(), usage, DONE):
        made.feed(data, 102.0)
    made.end(Ended.COMPLETE, 103.0)

    assert made.stand is stand
    assert made.verdict is (Verdict.GATEWAY_TEXT if stand is Stand.BAD else Verdict.OK)
    assert verdict(made) is Verdict.OK


def test_a_plain_answer_is_held_to_its_end() -> None:
    made = begun(streamed=False)
    body = json.dumps({"choices": [{"message": {"content": LONG}, "finish_reason": "stop"}]}).encode()
    made.feed(body, 102.0)
    assert stand(made) is Stand.HELD
    made.end(Ended.COMPLETE, 102.0)

    assert made.stand is Stand.GOOD


def test_a_body_of_any_size_is_not_held() -> None:
    made = begun(streamed=False)
    made.feed(b" " * MAX_HELD, 102.0)
    assert stand(made) is Stand.HELD
    made.feed(b" ", 102.0)

    assert made.stand is Stand.GOOD


def test_an_encoded_body_is_read_and_handed_on_as_it_came() -> None:
    made = attempt()
    made.headers(200, {"content-encoding": "gzip"}, 101.0)
    packed = gzip.compress(said(LONG) + stop() + DONE)
    made.feed(packed, 102.0)
    made.end(Ended.COMPLETE, 103.0)

    assert (made.stand, made.take()) == (Stand.GOOD, [packed])


PACKED = b"\x0b\x02\x80"


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    ("ended", "stand", "found", "blame"),
    [
        pytest.param(Ended.COMPLETE, Stand.GOOD, Verdict.MALFORMED, Blame.INCONCLUSIVE, id="whole"),
        pytest.param(Ended.CANCELLED, Stand.GOOD, Verdict.CANCELLED, Blame.INCONCLUSIVE, id="left by its caller"),
        pytest.param(Ended.RESET, Stand.BAD, Verdict.CUT, Blame.PROVIDER_FAILURE, id="broken off"),
        pytest.param(Ended.SILENCE, Stand.BAD, Verdict.TIMEOUT_SILENCE, Blame.PROVIDER_FAILURE, id="fallen silent"),
    ],
)
def test_a_body_that_nobody_can_read_is_handed_on_and_only_its_end_is_judged(
    streamed: bool, ended: Ended, stand: Stand, found: Verdict, blame: Blame
) -> None:
    made = attempt(streamed=streamed)
    made.headers(200, {"Content-Encoding": "br"}, 101.0)
    made.feed(PACKED, 150.0)
    shown = made.take()

    assert (made.stand, made.until, shown) == (Stand.GOOD, 150.0 + LIMITS.silence_s, [PACKED])
    made.end(ended, 151.0)
    judgement = made.ended.judgement
    assert (made.stand, judgement.verdict, judgement.blame) == (stand, found, blame)
    assert (made.ended.answer.body, made.ended.answer.text_chars) == (Body.PACKED, None)


def test_an_error_whose_body_nobody_can_read_is_held_back_and_judged_by_its_status() -> None:
    made = attempt()
    made.headers(502, {"content-encoding": "br"}, 101.0)
    for at in (102.0, 103.0):
        made.feed(PACKED, at)

    assert (made.stand, made.take(), made.until) == (Stand.HELD, [], 102.0 + ERROR_BODY_S)
    made.end(Ended.COMPLETE, 104.0)
    assert (made.stand, verdict(made), made.rest()) == (Stand.BAD, Verdict.HTTP_ERROR, [PACKED, PACKED])


def test_a_broken_encoding_is_a_broken_body() -> None:
    made = attempt()
    made.headers(200, {"content-encoding": "gzip"}, 101.0)
    made.feed(b"no gzip", 102.0)

    assert made.stand is Stand.BAD


# Failing


@pytest.mark.parametrize(
    ("pieces", "ended", "found"),
    [
        pytest.param([said("Half"), ERROR], Ended.COMPLETE, Verdict.ERROR_EVENT, id="an error in place of the rest"),
        pytest.param([ROLE, stop(), DONE], Ended.COMPLETE, Verdict.EMPTY, id="a good end and nothing before it"),
        pytest.param([], Ended.COMPLETE, Verdict.EMPTY, id="no event at all"),
        pytest.param([said("Half")], Ended.COMPLETE, Verdict.CUT, id="an end without an end mark"),
        pytest.param([said("Half")], Ended.RESET, Verdict.CUT, id="a broken connection"),
        pytest.param([b"<html></html>"], Ended.COMPLETE, Verdict.MALFORMED, id="a web page"),
    ],
)
def test_what_fails_while_it_is_held_back_is_bad(pieces: list[bytes], ended: Ended, found: Verdict) -> None:
    made = begun()
    for data in pieces:
        made.feed(data, 102.0)
    assert stand(made) is Stand.HELD
    made.end(ended, 103.0)

    assert (made.stand, verdict(made)) == (Stand.BAD, found)


def test_what_fails_after_it_was_shown_is_bad_too() -> None:
    made = begun()
    made.feed(said(LONG), 102.0)
    assert stand(made) is Stand.GOOD
    made.feed(ERROR, 103.0)
    made.end(Ended.COMPLETE, 103.0)

    assert (made.stand, verdict(made), made.shown_chars) == (Stand.BAD, Verdict.ERROR_EVENT, 200)


@pytest.mark.parametrize(
    ("status", "body", "stand", "found"),
    [
        (500, {"error": {"message": "no"}}, Stand.BAD, Verdict.HTTP_ERROR),
        (429, {"error": {"message": "slower"}}, Stand.BAD, Verdict.RATE_LIMITED),
        (400, {"error": {"code": "context_length_exceeded"}}, Stand.GOOD, Verdict.CONTEXT_TOO_LONG),
    ],
)
def test_a_refusal_is_judged_with_its_body(status: int, body: dict[str, object], stand: Stand, found: Verdict) -> None:
    made = attempt()
    made.headers(status, {}, 101.0)
    made.feed(json.dumps(body).encode(), 102.0)
    assert (made.stand, made.until) == (Stand.HELD, 102.0 + ERROR_BODY_S)
    made.end(Ended.COMPLETE, 102.0)

    assert (made.stand, verdict(made)) == (stand, found)


@pytest.mark.parametrize(
    ("status", "words", "crowded"),
    [
        (429, "Too many concurrent requests", True),
        (429, "Too many requests per minute", False),
        (400, "The word 'concurrent' is no parameter", False),
    ],
)
def test_a_refusal_of_one_too_many_is_known(status: int, words: str, crowded: bool) -> None:
    made = attempt()
    made.headers(status, {}, 101.0)
    made.feed(json.dumps({"error": {"message": words}}).encode(), 101.0)
    made.end(Ended.COMPLETE, 101.0)

    assert made.crowded is crowded


def test_what_waited_for_its_turn_began_when_it_had_it() -> None:
    made = attempt()
    made.begin(130.0)

    assert made.until == 130.0 + LIMITS.first_byte_s


def test_an_answer_at_its_callers_limit_is_one() -> None:
    made = begun()
    made.feed(said("And so on") + stop("length") + DONE, 102.0)
    made.end(Ended.COMPLETE, 102.0)

    assert (made.stand, verdict(made)) == (Stand.GOOD, Verdict.LENGTH)


def test_a_request_that_we_made_wrong_is_no_fault_of_its_caller() -> None:
    made = attempt(values={"reasoning_effort": "low"})
    made.headers(400, {}, 101.0)
    made.feed(b'{"error": {"message": "unknown field"}}', 101.0)
    made.end(Ended.COMPLETE, 101.0)

    assert made.stand is Stand.BAD


def test_the_first_end_counts_and_what_comes_after_it_is_nothing() -> None:
    made = begun()
    made.end(Ended.CANCELLED, 102.0)
    made.feed(said(LONG), 103.0)
    made.end(Ended.COMPLETE, 104.0)

    assert made.is_over
    assert (verdict(made), made.ended.answer.seconds) == (Verdict.CANCELLED, 2.0)


@pytest.mark.parametrize("shown", [True, False])
def test_an_event_that_can_not_be_read_is_none_to_a_caller(shown: bool) -> None:
    """Its SDK would raise a fault of its own on it. To the provider one such event is no failure."""
    made = begun()
    made.feed(said(LONG if shown else "Half"), 102.0)
    assert stand(made) is (Stand.GOOD if shown else Stand.HELD)
    made.feed(b'data: {"choices": [{"del\n\n', 103.0)

    assert (made.stand, verdict(made), made.verdict) == (Stand.BAD, Verdict.CANCELLED, Verdict.MALFORMED)


# The limits on silence


def test_a_late_first_byte_is_given_up_where_another_attempt_is_left() -> None:
    made = begun()
    made.feed(b": ping\n\n", 130.0)
    made.feed(ROLE, 131.0)

    assert (made.until, made.late_at) == (140.0, float("inf"))
    made.overdue(140.0)
    assert (made.stand, verdict(made)) == (Stand.BAD, Verdict.TIMEOUT_FIRST_BYTE)


def test_the_last_attempt_may_be_silent_longer_and_is_told_to_be_late() -> None:
    made = begun(leaves=False)

    assert (made.until, made.late_at) == (101.0 + LIMITS.silence_s, 140.0)
    late = made.late(140.0)
    assert (late.part, late.seconds, late.id) == (Part.LATE, 40.0, "a1")


def test_after_the_first_byte_only_silence_counts() -> None:
    made = begun()
    made.feed(said("One"), 139.0)
    made.feed(b": ping\n\n", 200.0)

    assert (made.until, made.late_at) == (139.0 + LIMITS.silence_s, float("inf"))
    made.overdue(made.until)
    assert verdict(made) is Verdict.TIMEOUT_SILENCE


def test_while_its_reader_is_busy_a_provider_is_not_silent() -> None:
    made = begun()
    made.feed(said("One"), 110.0)
    made.away(30.0)
    assert made.until == 140.0 + LIMITS.silence_s
    made.feed(said(" two"), 145.0)

    assert made.until == 145.0 + LIMITS.silence_s


def test_a_plain_answer_has_no_first_byte_and_blank_lines_are_silence() -> None:
    made = begun(streamed=False)
    made.feed(b"\n", 150.0)
    assert (made.until, made.late_at) == (101.0 + LIMITS.silence_s, float("inf"))
    made.feed(b'{"choices"', 160.0)

    assert made.until == 160.0 + LIMITS.silence_s


def test_after_its_end_an_answer_is_waited_for_only_a_little() -> None:
    made = begun()
    made.feed(said("Yes."), 102.0)
    made.feed(stop(), 103.0)
    made.feed(b": ping\n\n", 104.0)
    assert made.until == 103.0 + LIMITS.grace_s
    made.overdue(made.until)

    assert (made.stand, verdict(made), made.ended.answer.ended) == (Stand.GOOD, Verdict.OK, Ended.COMPLETE)


def test_an_end_that_was_none_is_forgotten() -> None:
    made = begun()
    made.feed(said("One") + stop(), 103.0)
    made.feed(said(" two"), 104.0)

    assert made.until == 104.0 + LIMITS.silence_s


def test_an_error_is_waited_for_only_a_little() -> None:
    made = begun()
    made.feed(ERROR, 103.0)

    assert made.until == 103.0 + LIMITS.grace_s


# Answers without an end


def fed(made: Attempt, text: str) -> None:
    for start in range(0, len(text), 4_000):
        made.feed(said(text[start : start + 4_000]), 102.0 + start / 1e6)


def test_what_repeats_itself_is_broken_off() -> None:
    made = begun()
    fed(made, PROSE[:20_000] + "I will now look at the file again. " * 600)
    assert not made.is_over
    fed(made, "I will now look at the file again. " * 1_000)

    assert (made.stand, made.looped, verdict(made)) == (Stand.BAD, True, Verdict.LOOP)


def test_a_table_in_an_answer_is_no_loop() -> None:
    made = begun()
    fed(made, PROSE[:40_000] + "| 0 | 0 |\n" * (LOOP_RUN // 20) + PROSE[40_000:80_000])

    assert not made.is_over


def test_an_answer_beyond_all_measure_is_broken_off_and_its_provider_not_blamed() -> None:
    made = begun()
    fed(made, PROSE[:200_000])

    assert (made.stand, made.looped, verdict(made)) == (Stand.BAD, True, Verdict.CANCELLED)
    assert made.verdict is Verdict.LOOP


def test_reasoning_that_repeated_itself_says_nothing_of_the_text_after_it() -> None:
    made = begun()
    made.feed(thought("Wait, again. " * 900), 102.0)
    fed(made, PROSE[:100_000])

    assert not made.is_over
