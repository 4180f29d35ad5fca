"""One core that probes: prints what each probe measured, and the processor time that it took."""

import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import uvloop

from benchmarks._machine import pin
from breaker.answer import Answer, Ended, Source
from breaker.policy import Policy
from breaker.target import Provider, Target
from breaker.wire import READERS
from breaker.wire.reading import Reading
from monitor.lag import LoopLag
from monitor.probe import probe, prompts
from monitor.probe.connections import Connections
from monitor.schedule.gate import Gate
from monitor.settings import ProbeShape, TargetPlan

Ask = Callable[[TargetPlan], Awaitable[Answer]]


class Ours:
    """What the service does."""

    def __init__(self, lag: LoopLag) -> None:
        self._lag = lag
        self._connections = Connections()

    async def ask(self, plan: TargetPlan) -> Answer:
        """Probe."""

        async def late(_: Answer) -> None:
            pass

        return await probe(plan, None, chance=random.Random(), lag=self._lag, late=late, connections=self._connections)


class Httpx:
    """The same question and the same reader around a new httpx client for each probe, which share one TLS context.

    It stamps as well as httpx lets one: from the trace's first moment of sending to a chunk's being handed over.
    """

    def __init__(self, lag: LoopLag) -> None:
        self._trust = httpx.create_ssl_context()

    async def ask(self, plan: TargetPlan) -> Answer:
        """Probe."""
        asked = prompts.build(plan.probe, random.Random())
        request = READERS["openai-chat"].request(plan.target.model, asked.question, streamed=True)
        reading = Reading(
            "openai-chat", streamed=True, prompt_bytes=asked.question.prompt_bytes, marks=asked.marks, max_tokens=2048
        )
        began = time.monotonic()

        async def trace(moment: str, _: dict[str, Any]) -> None:
            nonlocal began
            if moment == "http11.send_request_headers.started":
                began = time.monotonic()

        url = plan.target.provider.base_url + request.path
        async with (
            httpx.AsyncClient(verify=self._trust, timeout=None) as client,
            client.stream("POST", url, json=request.body, extensions={"trace": trace}) as response,
        ):
            reading.headers(response.status_code, response.headers, time.monotonic() - began)
            async for data in response.aiter_raw():
                reading.feed(data, time.monotonic() - began)
        return reading.end(Ended.COMPLETE, time.monotonic() - began, target=plan.name, id="1", source=Source.PROBE)


async def _run(kind: str, address: str, shape: str, every_s: float, count: int, warm: int) -> None:
    """`count` probes, one each `every_s` seconds (0: all at once; less than 0: one after the other)."""
    told: dict[str, tuple[float | None, bool]] = {}
    gate = Gate()
    async with LoopLag() as lag:
        client = Ours(lag) if kind == "ours" else Httpx(lag)

        async def one(number: int, shape: str = shape) -> None:
            permit = await gate.enter()
            try:
                answer = await client.ask(_plan(f"{address}/{shape}", number))
            finally:
                permit.leave()
            told[f"m{number}"] = answer.first_byte_s, answer.suspect_timing

        await one(count, "1x1")  # what is loaded at the first use
        del told[f"m{count}"]
        began, used = time.monotonic(), time.process_time()
        if every_s < 0:
            for number in range(count):
                await one(number)
        else:
            async with asyncio.TaskGroup() as group:
                for number in range(count):
                    group.create_task(one(number))
                    if every_s:
                        await asyncio.sleep(max(0.0, began + (number + 1) * every_s - time.monotonic()))
        used = time.process_time() - used
    counted = {model: fact for model, fact in told.items() if int(model[1:]) >= warm}
    print(json.dumps({"probes": counted, "cpu_ms": used / count * 1000}))


def _plan(base_url: str, number: int) -> TargetPlan:
    target = Target(provider=Provider(name="p", base_url=base_url, wire="openai-chat"), model=f"m{number}")
    return TargetPlan(target=target, policy=Policy(), probe=ProbeShape())


if __name__ == "__main__":
    core, loop, kind, address, shape, every_s, count, warm = sys.argv[1:]
    pin({int(core)})
    work = _run(kind, address, shape, float(every_s), int(count), int(warm))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop if loop == "uvloop" else None) as runner:
        runner.run(work)
