"""What fails before anything was shown, met by the real SDKs: nothing of it is shown, and another answer comes."""

import anthropic
import openai
import pytest

from breaker.client.transport import Limits
from monitor.simulator import Simulator
from tests.agent.faces import FACES, OTHERS, STREAMS, Face
from tests.agent.world import FINE, PATIENT, QUICK, World, ask
from tests.cases.wires import CHAT

FAST = "first_byte_s=0.02,spread=0,tokens_per_s=2000"
EVERY_FACE = pytest.mark.parametrize("face", FACES, ids=str)
EVERY_STREAM = pytest.mark.parametrize("face", STREAMS, ids=str)


@pytest.mark.parametrize("face", [*FACES, *OTHERS], ids=str)
async def test_a_good_answer_comes_as_it_is(face: Face) -> None:
    async with Simulator({"a/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world)

    assert came.error is None
    assert len(came.text) > 300
    assert came.finish in ("stop", "end_turn", "completed")
    assert (came.done["target"], came.done["role"], came.done["attempts"]) == ("a/m", "primary", "1")
    assert world.verdicts == ["ok"]


@pytest.mark.parametrize(
    ("behaviour", "verdicts"),
    [
        pytest.param(f"gateway_text,{FAST}", {"gateway_text"}, id="a gateway's words"),
        pytest.param(f"empty,{FAST}", {"empty"}, id="a good end and nothing before it"),
        pytest.param(f"empty_unended,{FAST}", {"empty"}, id="no event at all"),
        pytest.param(f"error_first,{FAST}", {"error_event"}, id="an error in a 200"),
        pytest.param(f"error_after_text,tokens=5,{FAST}", {"error_event"}, id="an error after a few words"),
        pytest.param(f"cut,tokens=5,{FAST}", {"cut", "malformed"}, id="a cut after a few words"),
        pytest.param(f"html,{FAST}", {"malformed"}, id="a web page"),
        pytest.param("reset", {"connect_error"}, id="a reset"),
        pytest.param("refused", {"connect_error"}, id="a closed port"),
        pytest.param("http_error,status=500", {"http_error"}, id="a 500"),
        pytest.param("http_error,status=503", {"overloaded"}, id="a 503"),
        pytest.param("http_error,status=429,retry_after_s=60", {"rate_limited"}, id="a 429"),
        pytest.param("http_error,status=401", {"auth"}, id="a refused key"),
    ],
)
@EVERY_FACE
async def test_what_fails_unseen_is_asked_of_the_backup_at_once(face: Face, behaviour: str, verdicts: set[str]) -> None:
    async with Simulator({"a/m": behaviour, "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        await simulator.set("a/m", behaviour)
        came = await ask(face, world)

    assert came.error is None
    assert len(came.text) > 300
    assert (came.done["target"], came.done["role"], came.done["attempts"]) == ("b/m", "backup", "2")
    assert came.done["verdicts"].split(",")[0] in verdicts
    assert world.verdicts[1:] == ["ok"]
    assert world.verdicts[0] in verdicts


@pytest.mark.parametrize("behaviour", ["headers_only", "comments_only,every_s=0.05", "never_answers"])
@EVERY_STREAM
async def test_a_late_first_byte_is_asked_of_the_backup(face: Face, behaviour: str) -> None:
    async with Simulator({"a/m": behaviour, "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, QUICK)

    assert came.error is None
    assert came.done["target"] == "b/m"
    assert world.verdicts == ["timeout_first_byte", "ok"]
    assert world.reports[0].seconds >= QUICK.first_byte_s


@EVERY_STREAM
async def test_silence_after_a_few_words_is_asked_of_the_backup(face: Face) -> None:
    async with Simulator({"a/m": f"stall,tokens=5,{FAST}", "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, Limits(first_byte_s=30.0, silence_s=0.5))

    assert came.error is None
    assert world.verdicts[-2:] == ["timeout_silence", "ok"]


@EVERY_FACE
async def test_without_a_backup_the_same_target_is_asked_again(face: Face) -> None:
    async with Simulator({"a/m": "http_error,status=503"}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world)

        assert simulator.asked("a/m").count == PATIENT.attempts

    assert came.done["attempts"] == str(PATIENT.attempts)
    assert isinstance(came.error, openai.InternalServerError | anthropic.APIStatusError)
    assert world.verdicts == ["overloaded"] * PATIENT.attempts


@EVERY_FACE
async def test_what_the_backup_alone_refuses_is_never_seen(face: Face) -> None:
    """It may be the other's signed thoughts, or too long for a smaller window."""
    async with Simulator({"a/m": "http_error,status=503", "b/m": "http_error,status=400"}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world)

        assert (simulator.asked("a/m").count, simulator.asked("b/m").count) == (2, 1)

    assert isinstance(came.error, openai.InternalServerError | anthropic.APIStatusError)
    assert came.error.status_code == 503
    assert world.verdicts == ["overloaded", "bad_request", "overloaded"]


@pytest.mark.parametrize("face", OTHERS, ids=str)
async def test_what_is_kept_at_one_provider_is_asked_of_no_other(face: Face) -> None:
    async with Simulator({"a/m": "http_error,status=503", "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, previous_response_id="r-1")

        assert (simulator.asked("a/m").count, simulator.asked("b/m").count) == (PATIENT.attempts, 0)

    assert isinstance(came.error, openai.InternalServerError)


@EVERY_FACE
async def test_where_no_answer_came_the_sdk_is_told_so_once(face: Face) -> None:
    async with Simulator({"a/m": f"empty,{FAST}", "b/m": f"gateway_text,{FAST}"}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, Limits(attempts=2))

        assert [simulator.asked(target).count for target in ("a/m", "b/m")] == [1, 1]

    assert isinstance(came.error, openai.InternalServerError | anthropic.InternalServerError)
    assert came.error.status_code == 502
    assert "a/m (empty), then b/m (gateway_text)" in str(came.error)


@pytest.mark.parametrize("status", [400, 413])
@EVERY_FACE
async def test_what_the_caller_did_wrong_is_the_callers_to_see_and_is_asked_once(face: Face, status: int) -> None:
    async with Simulator({"a/m": f"http_error,status={status}", "b/m": FINE}) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world)

        assert (simulator.asked("a/m").count, simulator.asked("b/m").count) == (1, 0)

    assert isinstance(came.error, openai.APIStatusError | anthropic.APIStatusError)
    assert came.error.status_code == status
    assert f"told to answer with {status}" in str(came.error)


@EVERY_FACE
async def test_a_provider_is_left_alone_for_as_long_as_it_asks(face: Face) -> None:
    """The simulator's Retry-After is a whole second at least."""
    async with Simulator({"a/m": "http_error,status=429,retry_after_s=1"}) as simulator:
        world = World(simulator, wire=face.wire)
        await ask(face, world, Limits(attempts=2, pause_s=0.0))
        first, second = simulator.asked("a/m").attempts

    assert second.asked_at - first.asked_at >= 1.0


async def test_a_wait_beyond_the_budget_is_not_begun() -> None:
    async with Simulator({"a/m": "http_error,status=429,retry_after_s=100"}) as simulator:
        world = World(simulator)
        came = await ask(Face(CHAT, True, True), world, Limits(budget_s=10.0))

        assert simulator.asked("a/m").count == 1

    assert isinstance(came.error, openai.RateLimitError)


@EVERY_STREAM
async def test_the_last_attempt_waits_on_and_says_that_its_first_byte_is_late(face: Face) -> None:
    behaviour = "first_byte_after,after_s=1.5,tokens_per_s=2000"
    async with Simulator({"a/m": behaviour}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, Limits(attempts=1, first_byte_s=0.5, silence_s=60.0))

    assert came.error is None
    assert world.verdicts == ["pending", "ok"]
    assert world.reports[0].id == world.reports[1].id
