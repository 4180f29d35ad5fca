"""Compares a streamed answer of 256 chunks through the transport with the same through the plain client.

Run it as `python -m benchmarks.transport`; it takes two minutes, with `--quick` a third of one. The processor's time is
that of the client's own thread, the provider runs in a process of its own; rounds of both are taken in turns. The bars
are for the OpenAI SDK, which reads what comes as agents do; beside it stands bare httpx, which reads nothing.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import httpx
import httpx2
import openai

from benchmarks._machine import awake, cores, machine, pin
from breaker.answer import Answer
from breaker.client import Decision
from breaker.client.transport import AsyncTransport, Transport

CHUNKS = 256
# The bars.
MOST_CPU, MOST_LATER_S = 1.25, 0.002
# About 9,000 tokens.
PROMPT = "The quick brown fox jumps over the lazy dog. " * 800


class Rounds(NamedTuple):
    """How often a long stream is asked for, and one moment."""

    streams: int
    moments: int


WHOLE, QUICK = Rounds(12, 150), Rounds(5, 60)


class Guide:
    """Says from memory that all goes to one provider."""

    def __init__(self, base_url: str, model: str) -> None:
        self.decision = Decision(
            route="r",
            target=f"p/{model}",
            provider="p",
            model=model,
            base_url=base_url,
            wire="openai-chat",
            api_key_env=None,
            role="primary",
            primary=f"p/{model}",
            reason="healthy",
            since_s=None,
            until_s=None,
            generation=0,
            valid_for_s=5.0,
            stale=False,
        )

    def route(self, name: str | None = None) -> Decision:
        """The one."""
        return self.decision

    def besides(self, tried: Collection[str], name: str | None = None) -> Decision | None:
        """None."""
        return None

    def report(self, answer: Answer) -> None:
        """Nothing."""


def main(words: Sequence[str]) -> int:
    """Measure and tell; 1 where a bar is missed."""
    rounds = QUICK if "--quick" in words else WHOLE
    _, client = cores()
    command = [sys.executable, "-m", "benchmarks._transport_provider"]
    with awake(), subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as provider:
        assert provider.stdout is not None
        url = f"http://127.0.0.1:{int(provider.stdout.readline())}/v1"
        pin(client)
        rows = [
            _blocking("openai, blocking", httpx2, url, _sdk, rounds),
            asyncio.run(_awaiting("openai, awaited", httpx2, url, _async_sdk, rounds)),
            *(_blocking(f"{family.__name__}, blocking", family, url, _bare, rounds) for family in (httpx, httpx2)),
            *(
                asyncio.run(_awaiting(f"{family.__name__}, awaited", family, url, _async_bare, rounds))
                for family in (httpx, httpx2)
            ),
        ]
        provider.kill()
    return _told(rows, rounds)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured of one client: pairs of the plain one and the one with the transport, in seconds."""

    name: str
    cpu: Sequence[tuple[float, float]]
    later: Sequence[tuple[float, float]]

    @property
    def ratio(self) -> float:
        """How many times the plain client's processor time it took."""
        return statistics.median(helped / plain for plain, helped in self.cpu)

    @property
    def later_s(self) -> float:
        """How much later the first piece came."""
        return statistics.median(helped - plain for plain, helped in self.later)

    def told(self) -> str:
        """The line of the table."""
        plain, helped = (statistics.median(column) * 1000 for column in zip(*self.cpu, strict=True))
        high = sorted(helped - plain for plain, helped in self.later)[len(self.later) * 9 // 10]
        figures = f"{plain:8.1f}  {helped:8.1f}  {self.ratio:5.2f}  {self.later_s * 1000:9.2f}  {high * 1000:8.2f}"
        return f"{self.name:18}  {figures}"


# What listens to one answer: it gives how much later than its making the first long piece came, 0 for none.
Listen = Callable[[Any, str, str], float]
ListenAsync = Callable[[Any, str, str], Awaitable[float]]


def _blocking(name: str, family: Any, url: str, listen: Listen, rounds: Rounds) -> Row:
    def timed(client: Any, model: str) -> tuple[float, float]:
        began = time.thread_time()
        later = listen(client, url, model)
        return time.thread_time() - began, later

    def measure(model: str, times: int) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        transport = Transport(family.HTTPTransport(), guide=Guide(url, model))
        with family.Client() as plain, family.Client(transport=transport) as helped:
            return [(timed(plain, model), timed(helped, model)) for _ in range(times + 1)][1:]

    return _row(name, measure(f"word/{CHUNKS}", rounds.streams), measure("moment", rounds.moments))


async def _awaiting(name: str, family: Any, url: str, listen: ListenAsync, rounds: Rounds) -> Row:
    async def timed(client: Any, model: str) -> tuple[float, float]:
        began = time.thread_time()
        later = await listen(client, url, model)
        return time.thread_time() - began, later

    async def measure(model: str, times: int) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        transport = AsyncTransport(family.AsyncHTTPTransport(), guide=Guide(url, model))
        async with family.AsyncClient() as plain, family.AsyncClient(transport=transport) as helped:
            return [(await timed(plain, model), await timed(helped, model)) for _ in range(times + 1)][1:]

    return _row(name, await measure(f"word/{CHUNKS}", rounds.streams), await measure("moment", rounds.moments))


def _row(name: str, cpu: Sequence[Any], later: Sequence[Any]) -> Row:
    return Row(
        name=name,
        cpu=[(plain[0], helped[0]) for plain, helped in cpu],
        later=[(plain[1], helped[1]) for plain, helped in later],
    )


@cache
def _openai(client: Any, url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=url, http_client=client)


@cache
def _async_openai(client: Any, url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="none", base_url=url, http_client=client)


def _sdk(client: Any, url: str, model: str) -> float:
    sdk = _openai(client, url)
    return _first([_age(chunk.choices[0].delta.content) for chunk in sdk.chat.completions.create(**_body(model))])


async def _async_sdk(client: Any, url: str, model: str) -> float:
    chunks = await _async_openai(client, url).chat.completions.create(**_body(model))
    return _first([_age(chunk.choices[0].delta.content) async for chunk in chunks])


def _bare(client: Any, url: str, model: str) -> float:
    with client.stream("POST", f"{url}/chat/completions", json=_body(model)) as response:
        return _first([_age(_text(data)) for data in response.iter_bytes()])


async def _async_bare(client: Any, url: str, model: str) -> float:
    async with client.stream("POST", f"{url}/chat/completions", json=_body(model)) as response:
        return _first([_age(_text(data)) async for data in response.aiter_bytes()])


def _body(model: str) -> dict[str, Any]:
    return {"model": model, "stream": True, "messages": [{"role": "user", "content": PROMPT}]}


def _text(data: bytes) -> str:
    """The text of a long piece; of others nobody looks at it."""
    if b"ravens" not in data:
        return ""
    said: str = json.loads(data[: data.index(b"\n")].removeprefix(b"data: "))["choices"][0]["delta"]["content"]
    return said


def _age(text: str | None) -> float | None:
    """How long ago a piece was made that names its moment."""
    return time.monotonic() - float(text.rpartition(" ")[2]) if text and " at " in text else None


def _first(ages: Sequence[float | None]) -> float:
    return next((age for age in ages if age is not None), 0.0)


def _told(rows: Sequence[Row], rounds: Rounds) -> int:
    print(f"\n{machine()},")
    print(f"openai {openai.__version__}, httpx {httpx.__version__}, httpx2 {httpx2.__version__};")
    print(
        f"a stream of {CHUNKS} chunks, and 200 characters at once; "
        f"medians of {rounds.streams} and {rounds.moments} rounds in turns\n"
    )
    print(f"{'client':18}  {'plain ms':>8}  {'with ms':>8}  {'ratio':>5}  {'later, ms':>9}  {'p90, ms':>8}")
    for row in rows:
        print(row.told())
    judged = [row for row in rows if row.name.startswith("openai")]
    missed = any(row.ratio > MOST_CPU or row.later_s > MOST_LATER_S for row in judged)
    bars = f"at most {MOST_CPU} times the SDK's own time, the first piece at most {MOST_LATER_S * 1000:.0f} ms later"
    print(f"\nthe bars: {bars}: {'missed' if missed else 'kept'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
