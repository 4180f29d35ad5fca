"""The control interface over HTTP."""

import pytest

from monitor.simulator import Behaviour, BehaviourName, Replay, Row, Simulator
from tests.simulator.asking import OPENAI, TARGET, ask, client_of, simulated

SWITCH = {"behaviour": "first_byte_after", "after_s": 3.0}


@pytest.mark.parametrize("own", [False, True], ids=["control port", "provider's port"])
async def test_a_target_is_switched(own: bool) -> None:
    async with simulated() as simulator, client_of() as client:
        url = f"{simulator.address('zai')}/_sim" if own else simulator.control_url
        answer = await client.post(f"{url}/targets", params={"target": TARGET}, json=SWITCH)

        assert (answer.status_code, answer.json()["after_s"]) == (200, 3.0)
        assert simulator.behaviour(TARGET) == Behaviour(name=BehaviourName.FIRST_BYTE_AFTER, after_s=3.0)


async def test_a_refused_provider_is_switched_back_at_the_control_port() -> None:
    async with simulated("refused") as simulator, client_of() as client:
        url = f"{simulator.control_url}/targets"
        await client.post(url, params={"target": TARGET}, json={"behaviour": "healthy"})

        assert (await ask(simulator, OPENAI, stream=True)).status == 200


async def test_targets_tell_their_behaviour_and_their_counts() -> None:
    async with simulated("empty") as simulator, client_of() as client:
        await ask(simulator, OPENAI, stream=True)
        (told,) = (await client.get(f"{simulator.control_url}/targets")).json()

        assert told["target"] == TARGET
        assert told["base_url"] == simulator.base_url("zai")
        assert told["behaviour"] == "empty"
        assert told["asked"] == {"count": 1, "behaviours": {"empty": 1}}


async def test_one_target_tells_its_attempts() -> None:
    async with simulated() as simulator, client_of() as client:
        await ask(simulator, OPENAI, stream=True)
        told = (await client.get(f"{simulator.control_url}/targets", params={"target": TARGET})).json()
        (attempt,) = told["asked"]["attempts"]

    assert 0 < attempt["headers_s"] <= attempt["first_event_s"] <= attempt["first_byte_s"] <= attempt["end_s"]
    assert attempt["end"] == "complete"


async def test_a_replay_is_told_as_one() -> None:
    async with simulated(Replay((Row(at_s=7.0, first_byte_s=1.0),))) as simulator, client_of() as client:
        (told,) = (await client.get(f"{simulator.control_url}/targets")).json()

    assert (told["behaviour"], told["end_s"]) == ("replay", 7.0)


async def test_behaviours_are_listed_with_their_meanings_and_parameters() -> None:
    async with simulated() as simulator, client_of() as client:
        told = (await client.get(f"{simulator.control_url}/behaviours")).json()

    assert list(told["behaviours"]) == list(BehaviourName)
    assert told["parameters"]["after_s"] == 45.0


@pytest.mark.parametrize(
    ("target", "body", "status", "detail"),
    [
        pytest.param(TARGET, '{"behaviour": "x"}', 400, "unknown behaviour 'x'; there are: healthy, ", id="behaviour"),
        pytest.param(TARGET, '{"after_s": 1}', 400, "unknown behaviour None; there are: healthy, ", id="none"),
        pytest.param(TARGET, '{"behaviour": ["x"]}', 400, "unknown behaviour", id="a list"),
        pytest.param(TARGET, '{"behaviour": "stall", "x": 1}', 400, "unknown parameter 'x'", id="parameter"),
        pytest.param(TARGET, f'{{"behaviour": "stall", "after_s": 1{"0" * 400}}}', 400, "after_s must be", id="huge"),
        pytest.param(TARGET, "[]", 400, "must be an object", id="no object"),
        pytest.param(TARGET, "{", 400, "Expecting", id="no JSON"),
        pytest.param("zai/other", '{"behaviour": "stall"}', 404, "there are: zai/glm", id="target"),
    ],
)
async def test_what_can_t_be_switched_is_a_problem(target: str, body: str, status: int, detail: str) -> None:
    async with simulated() as simulator, client_of() as client:
        url = f"{simulator.control_url}/targets"
        answer = await client.post(url, params={"target": target}, content=body)

        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, answer.json()["status"]) == (status, status)
        assert detail in answer.json()["detail"]
        assert simulator.behaviour(TARGET) == Behaviour()


async def test_an_unknown_path_is_a_problem() -> None:
    async with simulated() as simulator, client_of() as client:
        answer = await client.get(f"{simulator.control_url}/other")

    assert answer.status_code == 404
    assert "/_sim/targets" in answer.json()["detail"]


async def test_switching_is_repeated_without_losing_the_port() -> None:
    async with Simulator([TARGET]) as simulator:
        port = simulator.address("zai")
        for behaviour in ("refused", "refused", "healthy", "healthy", "refused", "healthy"):
            await simulator.set(TARGET, behaviour)

        assert simulator.address("zai") == port
        assert (await ask(simulator, OPENAI, stream=False, model="glm#healthy,first_byte_s=0")).status == 200
