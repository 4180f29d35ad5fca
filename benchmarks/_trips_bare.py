"""What Redis alone needs: from the publishing of a message until another process has received it."""

import asyncio
import json
import subprocess
import sys
import time
from typing import cast

import uvloop

from benchmarks._machine import pin

# As long as the announcement of a hold by hand.
_SIZE = 330


class _Receiver(asyncio.Protocol):
    """Notes when each message came; says when it listens, and at the end what it noted."""

    def __init__(self, messages: int, done: asyncio.Event) -> None:
        self._messages, self._done = messages, done
        self._came: list[float] = []
        self._listening = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).write(b"SUBSCRIBE bare\r\n")

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        if not self._listening:
            self._listening = True
            print("listening", flush=True)
        self._came.extend([now] * data.count(b"\r\nmessage\r\n"))
        if len(self._came) >= self._messages:
            print(json.dumps(self._came), flush=True)
            self._done.set()


async def _receive(port: int, messages: int) -> None:
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: _Receiver(messages, done), "127.0.0.1", port)
    await done.wait()
    transport.close()


async def published(port: int, messages: int, receiving: set[int]) -> list[float]:
    """The seconds that each of so many messages needed, one each two milliseconds; received on these cores."""
    words = [sys.executable, "-m", "benchmarks._trips_bare", str(port), str(messages)]
    receiver = subprocess.Popen(  # noqa: ASYNC220 # at the start
        words, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: pin(receiving)
    )
    try:
        assert receiver.stdout is not None
        assert await asyncio.to_thread(receiver.stdout.readline)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = []
        for _ in range(messages):
            sent.append(time.monotonic())
            writer.write(b"PUBLISH bare " + b"x" * _SIZE + b"\r\n")
            await reader.readline()
            await asyncio.sleep(0.002)
        came = json.loads(await asyncio.to_thread(receiver.stdout.readline))
        writer.close()
    finally:
        receiver.kill()
        receiver.wait()
    return [late - early for early, late in zip(sent, came, strict=True)]


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as _runner:
        _runner.run(_receive(int(sys.argv[1]), int(sys.argv[2])))
