"""A provider that streams as it is asked; it prints its port first.

`word/N` is an answer in N chunks, `drip/N` one with a second between them, `moment` one that holds its own clock.
"""

import asyncio
import json
import sys
import time

# Long enough to be shown at once.
LONG = "ravens " * 28


def event(text: str, finish: str | None = None) -> bytes:
    """One chunk of a chat, as OpenAI writes it."""
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": finish}
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    data = b"data: " + json.dumps({**chunk, "usage": None, "service_tier": "default"}).encode() + b"\n\n"
    return framed(data)


def framed(data: bytes) -> bytes:
    """Data as one chunk of HTTP."""
    return b"%x\r\n%b\r\n" % (len(data), data)


async def answer(writer: asyncio.StreamWriter, model: str) -> None:
    """Stream what a model's name asks for."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    if model == "moment":
        await asyncio.sleep(0.01)
        writer.write(event(f"{LONG} at {time.monotonic():.6f}"))
        await asyncio.sleep(0.01)
    kind, _, chunks = model.partition("/")
    for number in range(int(chunks or 0)):
        writer.write(event(f" {number * 7919 % 10007} words"))
        await writer.drain()
        await asyncio.sleep(1.0 if kind == "drip" else 0.0005)
    writer.write(event("", "stop") + framed(b"data: [DONE]\n\n") + framed(b""))
    await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request after another."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
            await answer(writer, json.loads(await reader.readexactly(length))["model"])
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Serve until standard input ends."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=2_000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
