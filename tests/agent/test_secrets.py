"""Prompts, replies and keys are in no log, no error, no report and no header of ours."""

import logging

import pytest

from monitor.simulator import Simulator
from tests.agent.faces import FACES, Face, message
from tests.agent.world import PATIENT, World, ask

PROMPT, KEY, REPLY = "the-secret-prompt", "the-secret-key", "Lorem ipsum"
FAST = "first_byte_s=0.02,spread=0,tokens_per_s=2000"


@pytest.mark.parametrize("behaviour", [f"cut,tokens=100,{FAST}", f"gateway_text,phrase={REPLY},{FAST}", "reset"])
@pytest.mark.parametrize("face", FACES, ids=str)
async def test_nothing_of_a_step_is_told(
    face: Face, behaviour: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    caplog.set_level(logging.DEBUG, logger="breaker")
    async with Simulator({"a/m": behaviour}, keys={"a": KEY}, seed=1) as simulator:
        world = World(simulator, wire=face.wire, key_env="SECRET_KEY")
        came = await ask(face, world, PATIENT, messages=[message(PROMPT)])

    ours = [record.getMessage() for record in caplog.records if record.name.startswith("breaker")]
    told = [
        *ours,
        *(repr(error) for error in came.causes),
        *(repr(answer) for answer in world.reports),
        repr(came.done),
    ]
    assert world.reports
    for secret in (PROMPT, KEY, REPLY):
        assert not any(secret in text for text in told), secret
