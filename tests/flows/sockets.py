"""Meets recorded exchanges on real sockets; `python -m tests.flows.sockets FILE …` tells what differs."""

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from breaker.answer import Answer, Ended, Source
from breaker.exchange import PLAYED, Exchange, play
from breaker.verdict import judge
from breaker.wire import READERS
from breaker.wire.inflate import Inflater
from breaker.wire.question import Question
from breaker.wire.reading import Reading
from monitor.simulator import Simulator

# Recorded minutes last a fraction of a second.
SPEED = 1000.0
# Each has seconds for what takes milliseconds, so that a busy machine changes nothing.
LIMIT_S = 120.0

_AT_ONCE = 8
_QUESTION = Question(system="", prompt="Hello", max_tokens=16)
_GIVEN_UP = (Ended.SILENCE, Ended.CANCELLED)
_TIMES = ("seconds", "headers_s", "first_byte_s")

Facts = dict[str, object]


def read(path: Path) -> list[Exchange]:
    """The exchanges of a file."""
    return [Exchange.read(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


async def misses(exchanges: Sequence[Exchange]) -> dict[str, tuple[Facts, Facts]]:
    """What was found on the socket and what the record says, where they differ, by the exchanges' ids."""
    targets = {f"p/m{place}": exchange for place, exchange in enumerate(exchanges)}
    async with Simulator(targets, speed=SPEED) as simulator:
        found = await meet(simulator, targets)
    pairs = {
        exchange.id: (facts_of(answer), facts_of(play(exchange).answer))
        for exchange, answer in zip(exchanges, found, strict=True)
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


async def meet(simulator: Simulator, targets: Mapping[str, Exchange]) -> list[Answer]:
    """What is found where each target plays an exchange and is asked as in it."""
    turns, fresh = asyncio.Semaphore(_AT_ONCE), httpx.Limits(max_keepalive_connections=0)

    async def in_turn(target: str, exchange: Exchange) -> Answer:
        async with turns, asyncio.timeout(LIMIT_S):
            return await _meet(client, simulator, target, exchange)

    async with httpx.AsyncClient(timeout=LIMIT_S, trust_env=False, verify=False, limits=fresh) as client:
        return await asyncio.gather(*(in_turn(target, exchange) for target, exchange in targets.items()))


async def _meet(client: httpx.AsyncClient, simulator: Simulator, target: str, exchange: Exchange) -> Answer:
    reading = Reading(
        exchange.wire,
        streamed=exchange.streamed,
        prompt_bytes=exchange.prompt_bytes,
        max_tokens=exchange.max_tokens,
        tools=exchange.tools,
    )
    provider, _, model = target.partition("/")
    base_url = simulator.base_url(provider)
    asked = READERS[exchange.wire].request(model, _QUESTION, streamed=exchange.streamed, base_url=base_url)
    began = time.monotonic()
    request = client.build_request("POST", base_url + asked.path, headers=asked.headers, json=asked.body)
    listening = asyncio.create_task(_listen(client, request, reading, exchange))
    if exchange.status is None and exchange.ended in _GIVEN_UP:
        await simulator.until_asked(target, 1)
        listening.cancel()
    (ended,) = await asyncio.gather(listening, return_exceptions=True)
    assert isinstance(ended, Ended | asyncio.CancelledError), ended
    ended = ended if isinstance(ended, Ended) else exchange.ended
    return reading.end(ended, time.monotonic() - began, target=PLAYED, id=PLAYED, source=Source.REPORT)


async def _listen(client: httpx.AsyncClient, request: httpx.Request, reading: Reading, exchange: Exchange) -> Ended:
    """Read until the end, or, where the caller gave up, until all has come that came then."""
    began, came, answered = time.monotonic(), 0, False
    due = sum(len(data) for _, data in exchange.chunks) if exchange.ended in _GIVEN_UP else None
    try:
        response = await client.send(request, stream=True)
        answered = True
        reading.headers(response.status_code, response.headers, time.monotonic() - began)
        inflater = Inflater(response.headers.get("content-encoding", ""))
        pieces = response.aiter_raw()
        while came != due and (data := await anext(pieces, None)) is not None:
            came += len(data)
            for piece in inflater.feed(data):
                reading.feed(piece, time.monotonic() - began)
        await response.aclose()
    except httpx.TransportError:
        return Ended.RESET if answered else Ended.UNREACHABLE
    return Ended.COMPLETE if due is None else exchange.ended


def facts_of(answer: Answer) -> Facts:
    """All that is said of an answer but its moments: of those, only whether they came."""
    facts, judgement = answer.facts(), judge(answer)
    moments = {name: name in facts for name in _TIMES}
    said = {"verdict": judgement.verdict, "class": judgement.blame, "cause": judgement.cause}
    return {**facts, **moments, **said}


def main(paths: Sequence[str]) -> int:
    """Print what differs, and how many don't."""
    failed = 0
    for path in paths:
        exchanges = read(Path(path))
        found = asyncio.run(misses(exchanges))
        for name, (socket, record) in found.items():
            names = sorted(key for key in socket.keys() | record.keys() if socket.get(key) != record.get(key))
            told = ", ".join(f"{key}: {socket.get(key)} / {record.get(key)}" for key in names)
            print(f"{name}: {told}")  # noqa: T201 # what the script is for
        print(f"{path}: {len(exchanges) - len(found)} of {len(exchanges)} as recorded")  # noqa: T201
        failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
