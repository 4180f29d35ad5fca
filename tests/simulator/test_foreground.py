"""The simulator in the foreground."""

import asyncio
from pathlib import Path

import pytest

from monitor.simulator import Behaviour, BehaviourName, Replay, read_target, simulate
from tests.simulator.asking import client_of


def test_a_target_is_read_with_its_behaviour() -> None:
    assert read_target("zai/glm") == ("zai/glm", Behaviour())
    assert read_target("zai/glm=stall,tokens=3") == ("zai/glm", Behaviour(name=BehaviourName.STALL, tokens=3))


def test_a_target_is_read_with_a_file_to_replay(tmp_path: Path) -> None:
    path = tmp_path / "day.csv"
    path.write_text("at_s,seconds\n0,1\n", encoding="utf-8")
    name, replay = read_target(f"zai/glm=replay:{path}")

    assert name == "zai/glm"
    assert replay == Replay.from_csv(path)


async def test_each_address_is_said_and_answers_until_it_is_cancelled() -> None:
    said: asyncio.Queue[str] = asyncio.Queue()
    running = asyncio.create_task(simulate(["a/one=html", "a/two", "b/three"], say=said.put_nowait))
    lines = [await asyncio.wait_for(said.get(), 60) for _ in range(3)]
    async with client_of() as client:
        told = (await client.get(lines[2].split()[-1])).json()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert lines[0].startswith("a answers at http://127.0.0.1:")
    assert lines[0].endswith("/v1 for one, two")
    assert [target["behaviour"] for target in told] == ["html", "healthy", "healthy"]


async def test_what_can_t_be_simulated_is_said_before_anything_opens() -> None:
    said: list[str] = []
    with pytest.raises(ValueError, match="unknown behaviour 'staal'"):
        await simulate(["a/one=staal"], say=said.append)

    assert said == []
