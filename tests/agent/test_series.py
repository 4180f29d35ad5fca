"""An agent of many steps never says "done" with work left, where its SDK alone does so seven times."""

import asyncio

import pytest

from tests.agent.series import play_of, played
from tests.cases.wires import CHAT, MESSAGES

STEPS, SPEED = 12, 50.0


@pytest.mark.parametrize("wire", [CHAT, MESSAGES])
async def test_a_series_is_gone_through_without_a_false_done(wire: str) -> None:
    play = play_of(wire, STEPS, loops=1)
    alone, helped = await asyncio.gather(*(played(play, helped=helped, speed=SPEED) for helped in (False, True)))

    assert (alone.steps, alone.false_done, alone.cut) == (STEPS, 7, 1)
    assert (helped.steps, helped.false_done, helped.cut) == (STEPS, 0, 0)
    assert helped.unseen >= 7
