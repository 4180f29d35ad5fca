"""Which row of a recorded day is in force, and a replay over a real socket."""

from pathlib import Path
from time import monotonic

import pytest

from monitor.simulator import Behaviour, BehaviourName, Replay, Row, pick
from monitor.simulator.replay import Replaying
from tests.simulator.asking import OPENAI, TARGET, ask, simulated

ROWS = (
    Row(at_s=0.0, first_byte_s=1.0),
    Row(at_s=10.0, first_byte_s=2.0),
    Row(at_s=10.0, first_byte_s=3.0),
    Row(at_s=20.0, first_byte_s=4.0),
)


@pytest.mark.parametrize(
    ("at_s", "turn", "first_byte_s"),
    [
        pytest.param(-5.0, 0, 1.0, id="before the first row"),
        pytest.param(0.0, 0, 1.0, id="at the first row"),
        pytest.param(9.9, 7, 1.0, id="until the next row"),
        pytest.param(10.0, 0, 2.0, id="first of two"),
        pytest.param(12.0, 1, 3.0, id="second of two"),
        pytest.param(12.0, 2, 2.0, id="around again"),
        pytest.param(1e6, 0, 4.0, id="after the last row"),
    ],
)
def test_the_latest_row_is_in_force(at_s: float, turn: int, first_byte_s: float) -> None:
    assert pick(ROWS, at_s, turn).first_byte_s == first_byte_s


def test_a_running_replay_takes_turns_within_a_moment_and_begins_anew_in_the_next() -> None:
    running = Replaying(Replay(ROWS))
    met = [running.next(at_s).first_byte_s for at_s in (1.0, 10.0, 11.0, 12.0, 25.0, 26.0, 10.0)]

    assert met == [1.0, 2.0, 3.0, 2.0, 4.0, 4.0, 2.0]


def test_rows_are_put_in_the_order_of_their_times() -> None:
    assert Replay(ROWS[::-1]).rows[0] == ROWS[0]
    assert Replay(ROWS[::-1]).end_s == 20.0


def written(folder: Path, text: str) -> Path:
    path = folder / "day.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_with_a_start_are_read(tmp_path: Path) -> None:
    replay = Replay.from_csv(written(tmp_path, 'at_s,first_byte_s,behaviour\n0,1.5,\n60,45,"stall,tokens=2"\n'))

    assert replay.rows == (
        Row(at_s=0.0, first_byte_s=1.5),
        Row(at_s=60.0, first_byte_s=45.0, behaviour=Behaviour(name=BehaviourName.STALL, tokens=2)),
    )


def test_rows_that_were_done_together_began_together(tmp_path: Path) -> None:
    text = "done_at_s,kind,seconds,attempts\n0,burst,5.5,1\n0,burst,3.5,1\n0,burst,4.5,1\n16,single,15.0,1\n"
    replay = Replay.from_csv(written(tmp_path, text))

    assert [(row.at_s, row.first_byte_s) for row in replay.rows] == [(-5.5, 5.5), (-5.5, 3.5), (-5.5, 4.5), (1.0, 15.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("at_s,first_byte_s\n", "a replay needs at least one row", id="empty"),
        pytest.param("when,first_byte_s\n1,2\n", "line 2: needs at_s and first_byte_s or seconds", id="no time"),
        pytest.param("at_s\n1\n", "line 2: needs at_s and first_byte_s or seconds", id="no latency"),
        pytest.param("done_at_s,first_byte_s\n1,2\n", "line 2: needs at_s", id="no start"),
        pytest.param("at_s,seconds\n1,2\n2,soon\n", "line 3: could not convert", id="no number"),
        pytest.param("at_s,seconds\nnan,2\n", "line 2: at_s must be a finite number, not 'nan'", id="nan"),
        pytest.param("at_s,seconds\n1,-2\n", "line 2: first_byte_s must be from 0", id="negative"),
        pytest.param("at_s,seconds,behaviour\n1,2,staal\n", "line 2: unknown behaviour 'staal'", id="behaviour"),
        pytest.param("at_s,seconds,behaviour\n1,2,refused\n", "a row can't refuse connections", id="refused"),
    ],
)
def test_a_file_that_can_t_be_replayed_says_why(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Replay.from_csv(written(tmp_path, text))


async def test_speed_divides_the_recorded_time_and_the_latencies() -> None:
    replay = Replay((Row(at_s=0.0, first_byte_s=200.0), Row(at_s=5000.0, first_byte_s=6000.0)))
    async with simulated(replay, speed=10_000.0) as simulator:
        began = monotonic()
        while monotonic() < began + 0.51:
            await ask(simulator, OPENAI, stream=True)
        await ask(simulator, OPENAI, stream=True)
        attempts = simulator.asked(TARGET).attempts
    firsts_s = [attempt.first_byte_s or 0.0 for attempt in attempts]

    assert 0.02 <= min(firsts_s) < 0.6 <= firsts_s[-1] < 60


async def test_a_replay_begins_when_it_is_set() -> None:
    rows = Row(at_s=0.0, first_byte_s=0.0, behaviour=Behaviour.parse("empty")), Row(at_s=1000.0, first_byte_s=0.0)
    async with simulated() as simulator:
        await ask(simulator, OPENAI, stream=True)
        await simulator.set(TARGET, Replay(rows))
        heard = await ask(simulator, OPENAI, stream=True)

    assert heard.text == ""
