"""A real provider's hours, replayed to the whole service."""

from pathlib import Path

import pytest

from breaker.circuit import Cause
from breaker.policy import Policy
from monitor.simulator import Replay
from tests.flows.replay import TRACE, Played, misrouted, moves_over, play
from tests.service import faster


def agrees(played: Played) -> None:
    """The moves are those of the rule over the recorded answers, and every route asked for agrees with them."""
    ruled = moves_over(played.judged, played.policy, until=played.routed[-1][0])
    assert [(m.cause, m.before, m.after) for m in played.moves] == [(m.cause, m.before, m.after) for m in ruled]
    assert [m.at for m in played.moves] == pytest.approx([m.at for m in ruled], abs=0.1)
    assert misrouted(played, leeway_s=0.15) == []


async def test_the_service_makes_the_moves_of_the_rule_and_routes_by_them(tmp_path: Path) -> None:
    """Twenty minutes in which the provider is silent twice, two hundred times faster."""
    whole = Replay.from_csv(TRACE)
    rows = tuple(row for row in whole.rows if 7_000 <= row.at_s <= 9_000)
    part = Replay(tuple(type(row)(at_s=row.at_s - 7_000, first_byte_s=row.first_byte_s) for row in rows))

    played = await play(part, speed=100, for_s=2_000, data=tmp_path)

    assert Cause.SLOW in {move.cause for move in played.moves}
    agrees(played)


@pytest.mark.soak
async def test_six_recorded_hours_sixty_times_faster(tmp_path: Path) -> None:
    """It opens, holds and closes as the rule says, all the way."""
    replay = Replay.from_csv(TRACE)

    played = await play(replay, speed=60, for_s=replay.end_s + 60, data=tmp_path)

    assert played.policy == faster(Policy(), 60)
    assert len([move for move in played.moves if move.cause is Cause.SLOW]) >= 3
    assert Cause.RECOVERED in {move.cause for move in played.moves}
    agrees(played)
