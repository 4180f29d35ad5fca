"""The real limits, unscaled, against providers that hang: these wait for minutes, side by side."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from breaker.answer import Part
from breaker.circuit import Cause, Move
from breaker.policy import Policy
from breaker.switchboard import Judged
from monitor.daemon import Ears
from monitor.simulator import Simulator
from tests.service import Running, plan, running, settings, until

HANGING = {"mute/m": "never_answers", "polite/m": "headers_only", "chatty/m": "comments_only"}


async def test_silence_opens_41_s_after_the_second_request_began_whatever_keeps_it_company(tmp_path: Path) -> None:
    """No headers, headers alone, comments alone: all are silence, and none of them waits for its time-out."""
    moves: dict[str, tuple[float, Move]] = {}
    judged: list[Judged] = []

    def moved(target: str, move: Move) -> None:
        moves.setdefault(target, (time.monotonic(), move))

    ears = Ears(judged=(judged.append,), moved=(moved,))
    async with Simulator({**HANGING, "well/m": "healthy"}) as providers:
        plans = [plan(providers, name, Policy()) for name in (*HANGING, "well/m")]
        async with running(settings(plans, tmp_path), ears=ears) as service:
            await until(lambda: len(moves) == len(HANGING), within_s=240, what="all three are open")
            asked = {name: [a.asked_at for a in providers.asked(name).attempts] for name in HANGING}
            said = await service.route()

    for name in HANGING:
        when, move = moves[name]
        assert move.cause is Cause.SLOW
        assert 39.9 <= when - asked[name][1] <= 100.0  # a busy machine is late; the time-out would come after 120 s
    assert said["target"] == "well/m"
    late = [j for j in judged if j.answer.part is Part.LATE]
    assert all(39.8 < j.answer.seconds < 100.0 for j in late)


async def test_one_hanging_one_slow_and_one_refusing_target_delay_no_other_probe(tmp_path: Path) -> None:
    """Twenty targets, each asked every five seconds: the metrics say that five probes of each start within 2.5 s; the
    hanging one takes 20 s, the slow one 4 s. What a busy machine makes late is made up for by one more.
    """
    policy = Policy(interval_s=5, jitter_s=0.5, slow_s=3, silence_s=20, confirm_s=0.5, half_open_s=2, hold_s=30)
    names = [f"p{i}/m" for i in range(20)]
    told = {**dict.fromkeys(names, "healthy"), "p0/m": "never_answers", "p1/m": "first_byte_after,after_s=4"}
    told["p2/m"] = "refused"
    async with Simulator(told) as providers:
        plans = [plan(providers, name, policy) for name in names]
        async with running(settings(plans, tmp_path)) as service:
            async with asyncio.timeout(240):
                while not await _in_time(service, names[3:], 5):  # noqa: ASYNC110 # another's count has no event
                    await asyncio.sleep(0.1)


async def _in_time(service: Running, names: Sequence[str], many: int) -> bool:
    """Whether so many probes of each target began within 2.5 s of their plan."""
    metrics = (await service.client.get("/metrics")).text
    return all(_began_in_time(metrics, name) >= many for name in names)


def _began_in_time(metrics: str, name: str) -> float:
    counted = f'firstbyte_probe_start_delay_seconds_bucket{{le="2.5",model="m",provider="{name.partition("/")[0]}"}} '
    return sum(float(line.removeprefix(counted)) for line in metrics.splitlines() if line.startswith(counted))
