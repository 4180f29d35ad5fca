"""Answers that are made ahead of the question."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.api.route.asked import Asked
from breaker.api.route.desk import Desk
from breaker.api.route.prepared import LASTS_S, SHARP_S, Prepared, Said, render
from breaker.circuit import Cause, Circuit
from breaker.errors import UnknownNameError
from breaker.route import VALID_FOR_S, Decision, choose
from breaker.switchboard import Switchboard
from tests.api.scenes import NOW, circuit
from tests.api.world import PRIMARY, ROUTES

CODER = ROUTES[0]


def decided(primary: Circuit, now: float = NOW, *, stale: bool = False) -> Decision:
    return choose(CODER, {PRIMARY.name: primary}, now, stale=stale)


def open_for(left_s: float) -> Circuit:
    return circuit(cause=Cause.ERRORS, moved_s=100, left_s=left_s)


def valid_for_s(said: Said) -> float:
    return float(json.loads(bytes(said.full.body))["valid_for_s"])


@pytest.mark.parametrize(
    ("decision", "fresh_s", "lasts_s", "changes_s"),
    [
        pytest.param(decided(Circuit()), 2.4, LASTS_S, 2.4, id="healthy"),
        pytest.param(decided(Circuit()), 0.4, 0.4, 0.4, id="until it would be stale"),
        pytest.param(decided(Circuit(), stale=True), 0.0, LASTS_S, LASTS_S, id="stale"),
        pytest.param(decided(open_for(300)), 2.4, LASTS_S, 2.4, id="long out"),
        pytest.param(decided(open_for(5.5)), 2.4, SHARP_S, 2.4, id="a hold that will end"),
        pytest.param(decided(open_for(0.004)), 2.4, 0.004, 0.004, id="a hold that ends now"),
    ],
)
def test_an_answer_lasts_as_long_as_it_is_true(
    decision: Decision, fresh_s: float, lasts_s: float, changes_s: float
) -> None:
    said = render(Asked("coder"), decision, 50.0, fresh_s)

    assert said.lasts_until - 50 == pytest.approx(lasts_s, abs=1e-5)
    assert said.changes_at - 50 == pytest.approx(changes_s, abs=1e-5)


@given(st.floats(0.001, 20))
def test_nobody_who_gets_an_answer_goes_on_with_it_beyond_the_hold(left_s: float) -> None:
    said = render(Asked("coder"), decided(open_for(left_s)), 0.0, 2.5)

    assert said.lasts_until + valid_for_s(said) <= left_s + 0.0006  # it is said in whole milliseconds
    assert valid_for_s(said) >= min(VALID_FOR_S, left_s - LASTS_S - 0.001)


@pytest.mark.parametrize(
    ("condition", "known"),
    [
        pytest.param("", False, id="none"),
        pytest.param("{tag}", True, id="the tag"),
        pytest.param('"a", {tag}', True, id="among others"),
        pytest.param("{strong}", True, id="without its W/"),
        pytest.param("*", True, id="any"),
        pytest.param('"a"', False, id="another"),
    ],
)
def test_an_answer_is_known_to_who_names_its_tag(condition: str, known: bool) -> None:
    said = render(Asked("coder"), decided(Circuit()), 0.0, 2.5)
    sent = condition.format(tag=said.etag, strong=said.etag.removeprefix("W/"))

    assert said.known_to(sent) is known
    assert said.answering(sent) is (said.unchanged if known else said.full)


async def test_an_answer_is_made_once_until_its_circuit_moves(switchboard: Switchboard) -> None:
    prepared = Prepared(switchboard)
    coder, reviewer = prepared.answer(Asked("coder")), prepared.answer(Asked("reviewer"))
    assert prepared.answer(Asked("coder")) is coder

    await switchboard.hold(PRIMARY.name, opened=True, who="anna", why="test", for_s=60)

    assert prepared.answer(Asked("coder")).etag != coder.etag
    assert prepared.answer(Asked("reviewer")) is reviewer


async def test_an_answer_is_made_anew_when_its_time_is_over(switchboard: Switchboard) -> None:
    prepared = Prepared(switchboard)
    await switchboard.hold(PRIMARY.name, opened=True, who="anna", why="test", for_s=0.05)
    out = prepared.answer(Asked("coder"))

    async with asyncio.timeout(60):
        while prepared.answer(Asked("coder")).etag == out.etag:  # noqa: ASYNC110 # it is the clock that is waited for
            await asyncio.sleep(0.005)

    assert b'"role": "primary"' in bytes(prepared.answer(Asked("coder")).full.body)


async def test_an_unknown_route_is_no_answer(switchboard: Switchboard) -> None:
    prepared = Prepared(switchboard)

    with pytest.raises(UnknownNameError):
        prepared.asked("codr")
    assert prepared.default is None
    assert prepared.names == ["coder", "reviewer"]
    assert len(Desk.over(switchboard).waiting) == 0
