"""The situations that need more than a provider come out as their best outcome says, through the real SDKs."""

from pathlib import Path

import pytest

from tests.agent.faces import FACES, Face
from tests.agent.serviced import SERVICED, Serviced, whole


@pytest.mark.parametrize("face", FACES, ids=str)
@pytest.mark.parametrize("situation", SERVICED, ids=lambda one: one.id)
async def test_the_best_outcome_comes(situation: Serviced, face: Face, tmp_path: Path) -> None:
    course = await situation.helped(face, tmp_path)

    assert course.best, (course.word, [(one.error, one.done) for one in course.came])


@pytest.mark.parametrize("face", [face for face in FACES if face.awaits], ids=str)
async def test_without_the_transport_a_provider_that_flaps_is_tried_again_and_again(face: Face) -> None:
    course = await next(one for one in SERVICED if one.id == "S15").alone(face)

    assert not course.best
    assert sum(map(whole, course.came)) == 10
