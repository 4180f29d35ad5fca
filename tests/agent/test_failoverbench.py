"""Each situation comes out as its best outcome says, through the real SDKs in all of their ways."""

import pytest

from tests.agent.faces import FACES, Face
from tests.agent.failoverbench import SITUATIONS, Situation
from tests.agent.playing import play


@pytest.mark.parametrize("face", FACES, ids=str)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.id)
async def test_the_best_outcome_comes(situation: Situation, face: Face) -> None:
    outcome, world = await play(situation, face)

    told = (outcome.came, world.verdicts, {target: asked.count for target, asked in outcome.asked.items()})
    assert situation.best(outcome), told
    assert not (situation.lies and outcome.whole and outcome.came.done["target"] == "a/m"), told
