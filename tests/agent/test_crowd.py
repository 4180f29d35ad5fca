"""A provider that takes only so many requests at once: what it refuses is learnt from, and the rest wait their turn."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from breaker.client.transport import Limits
from tests.agent.listening import listening
from tests.agent.world import World, awaiting, blocking

URL = "http://nowhere.invalid/v1/chat/completions"
BODY = {"model": "any", "messages": [{"role": "user", "content": "Hello"}]}
ROOM, ASKERS = 2, 8
LIMITS = Limits(attempts=4, pause_s=0.01, first_byte_s=30.0)
GOOD = json.dumps({"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}).encode()
FULL = json.dumps({"error": {"message": "Too many concurrent requests", "type": "rate_limit"}}).encode()


class Narrow:
    """It answers `ROOM` requests at once, and refuses the rest."""

    targets = ("a/m",)

    def __init__(self) -> None:
        self.port = 0
        self.inside = self.refused = 0
        self.waiting = asyncio.Event()
        self.serving: list[asyncio.Task[None]] = []

    def base_url(self, provider: str) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.serving.append(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))
                status, body = await self._answer()
                writer.write(b"HTTP/1.1 %d OK\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body))
        except asyncio.IncompleteReadError:
            writer.close()
            await writer.wait_closed()

    async def _answer(self) -> tuple[int, bytes]:
        if self.inside >= ROOM:
            self.refused += 1
            self.waiting.set()
            return 429, FULL
        self.inside += 1
        await self.waiting.wait()  # until one was refused
        await asyncio.sleep(0.01)
        self.inside -= 1
        return 200, GOOD


@asynccontextmanager
async def narrow() -> AsyncIterator[Narrow]:
    made = Narrow()
    async with listening(made.connected, made.serving) as made.port:
        yield made


async def test_those_who_await_take_turns_once_the_provider_has_refused() -> None:
    async with (
        narrow() as made,
        asyncio.timeout(60),
        httpx2.AsyncClient(transport=awaiting(World(made), LIMITS)) as client,
    ):
        came = await asyncio.gather(*(client.post(URL, json=BODY) for _ in range(ASKERS)))
        refused = made.refused
        again = await asyncio.gather(*(client.post(URL, json=BODY) for _ in range(ASKERS)))

    assert {response.status_code for response in (*came, *again)} == {200}
    assert 1 <= refused <= ASKERS
    assert made.refused == refused


async def test_those_who_block_take_turns_as_well() -> None:
    async with narrow() as made, asyncio.timeout(60):
        client = httpx2.Client(transport=blocking(World(made), LIMITS))
        try:
            asks = [asyncio.to_thread(client.post, URL, json=BODY) for _ in range(ASKERS)]
            came = await asyncio.gather(*asks)
        finally:
            client.close()

    assert {response.status_code for response in came} == {200}
    assert 1 <= made.refused <= ASKERS
