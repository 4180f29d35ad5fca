"""What a stranger sees who starts Firstbyte with nothing at all."""

import signal
from pathlib import Path

from tests.processes import environment, started, using


async def test_without_a_configuration_it_tells_the_whole_story_and_stays_up(tmp_path: Path) -> None:
    """A healthy primary, two silences, the backup with the reason, the end of the hold, and the primary again."""
    async with started("run", env=environment(tmp_path), cwd=tmp_path) as demo:
        await demo.line("one second stands for twenty")
        for line in (
            r"GET /route\?route=coder → aurora/swift-1 \(primary, healthy\)",
            r"aurora/swift-1 turns slow",
            r"aurora/swift-1: closed → open, because two first bytes in a row came later than 2 s",
            r"GET /route\?route=coder → borealis/swift-1 \(backup; aurora/swift-1: slow, for 3?\d s more\)",
            r"aurora/swift-1 is well again",
            r"aurora/swift-1: half-open → closed, because the hold is over and (\w+) good probes came in a row",
            r"That was the story",
        ):
            await demo.line(line, within_s=240)
        demo.send(signal.SIGINT)
        assert await demo.end() == 130

    assert using(tmp_path) == []
