"""Measures how long steps through the transport wait for us while the service is in trouble, a thousand at once.

Run it as `python -m benchmarks.steps`; it takes two minutes, with `--quick` half of one, since answers then take two
seconds instead of five, and two troubles are all. The provider streams each answer, in a process of its own; what a
step waits for us is all the time that its transport spends with its guide: to hear where to go, and to report.
"""

import asyncio
import contextlib
import logging
import statistics
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from contextvars import ContextVar

import httpx

from benchmarks import _client_service as serving
from benchmarks._machine import cores, machine, pin
from breaker.answer import Answer
from breaker.client import AsyncFirstbyte, Decision, Spot
from breaker.client.transport import AsyncTransport

AT_ONCE, TURNS = 1_000, 2
# Of an answer, one a second.
CHUNKS, QUICK = 5, 2
TROUBLES = ("well", "frozen", "killed and restarted", "killed", "replaced by rubble")
QUICK_TROUBLES = ("frozen", "killed and restarted")
# A pool of connections looks at all of them for each request.
CLIENTS = 20
# The bar.
MOST_MS = 50.0

# How long this step has waited for us so far.
_waited: ContextVar[list[float]] = ContextVar("waited")


class Guide:
    """A client that says how long its answers take."""

    def __init__(self, firstbyte: AsyncFirstbyte) -> None:
        self._firstbyte = firstbyte

    async def route(self, name: str | None = None) -> Decision:
        """Where the next step goes."""
        began = time.perf_counter()
        try:
            return await self._firstbyte.route(name)
        finally:
            _count(began)

    def besides(self, tried: Collection[str], name: str | None = None) -> Decision | None:
        """Another target."""
        began = time.perf_counter()
        found = self._firstbyte.besides(tried, name)
        _count(began)
        return found

    def report(self, answer: Answer) -> None:
        """How it went."""
        began = time.perf_counter()
        self._firstbyte.report(answer)
        _count(began)


def _count(began: float) -> None:
    _waited.get().append(time.perf_counter() - began)


def _client(firstbyte: AsyncFirstbyte) -> httpx.AsyncClient:
    inner = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=None), verify=False)
    return httpx.AsyncClient(transport=AsyncTransport(inner, guide=Guide(firstbyte), route="coder"), timeout=None)


def _model(chunks: int) -> str:
    return f"drip/{chunks}"


async def _agent(client: httpx.AsyncClient, taken: list[float], failed: list[str], share: float, chunks: int) -> None:
    """An agent's steps, one after another; it begins at its own moment."""
    question = [{"role": "user", "content": "How many ravens are there?"}]
    body = {"model": _model(chunks), "stream": True, "messages": question}
    await asyncio.sleep(chunks * share)
    for _ in range(TURNS):
        waited: list[float] = []
        _waited.set(waited)
        try:
            async with client.stream("POST", "http://nowhere.invalid/v1/chat/completions", json=body) as response:
                said = b"".join([data async for data in response.aiter_bytes()])
                if response.status_code != 200 or not said.endswith(b"data: [DONE]\n\n"):
                    failed.append(f"{response.status_code} {response.headers.get('x-firstbyte-verdicts')}")
        except Exception as error:  # noqa: BLE001 # that none comes is what is to be shown
            failed.append(repr(error))
        taken.append(sum(waited))


async def _crowd(service: serving.Service, provider: str, what: str, chunks: int) -> tuple[list[float], list[str]]:
    taken, failed = list[float](), list[str]()
    spots: list[Spot] = [{"target": f"first/{_model(chunks)}", "base_url": provider, "wire": "openai-chat"}]
    async with AsyncFirstbyte(service.url, fallback=spots) as firstbyte:
        async with asyncio.timeout(20):
            while (await firstbyte.route("coder")).source != "service":  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.01)
        async with contextlib.AsyncExitStack() as open_ones:
            clients = [await open_ones.enter_async_context(_client(firstbyte)) for _ in range(CLIENTS)]
            crowd = [
                asyncio.create_task(_agent(clients[i % CLIENTS], taken, failed, i / AT_ONCE, chunks))
                for i in range(AT_ONCE)
            ]
            await asyncio.sleep(chunks)
            await asyncio.to_thread(service.suffer, what)
            await asyncio.gather(*crowd)
    return taken, failed


def main(words: Sequence[str]) -> int:
    """Measure and tell; 1 where the bar is missed."""
    chunks = QUICK if "--quick" in words else CHUNKS
    server, asking = cores()
    print(f"{machine()}; service and provider on core {server}, the agents on {asking}\n")
    print(f"{AT_ONCE} steps at once; the service {'':14} steps  failed  waited for us, p99 ms  the longest ms")
    logging.disable()  # the client says that it goes on without the service
    command = [sys.executable, "-m", "benchmarks._transport_provider"]
    good = True
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as provider:
        assert provider.stdout is not None
        url = f"http://127.0.0.1:{int(provider.stdout.readline())}/v1"
        pin(asking)
        for what in QUICK_TROUBLES if "--quick" in words else TROUBLES:
            with serving.Service(server, base_url=url, model=_model(chunks)) as service:
                good = _row(what, *asyncio.run(_crowd(service, url, what, chunks))) and good
        provider.kill()
    print(f"\nthe bar: {MOST_MS:g} ms for each, and none failed: {'kept' if good else 'missed'}")
    return int(not good)


def _row(what: str, taken: Sequence[float], failed: Sequence[str]) -> bool:
    p99 = statistics.quantiles(taken, n=100, method="inclusive")[98] * 1000
    longest = max(taken) * 1000
    print(f"{what:41} {len(taken):7}  {len(failed):6}  {p99:21.2f}  {longest:14.1f}", *failed[:1], flush=True)
    return not failed and longest <= MOST_MS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
