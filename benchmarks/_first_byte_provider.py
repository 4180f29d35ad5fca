"""A provider that writes down when a request had arrived and when its first event went out, and does little else.

Its path says how it streams: `/256x20/chat/completions` sends 256 events, one each 20 ms.
"""

import asyncio
import json
import re
import sys
import time
from typing import cast

import uvloop

from benchmarks._machine import pin

FIRST_BYTE_S = 0.3
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_EVENT = (
    b'data: {"id":"chatcmpl-9f8a7d6c5b4a","object":"chat.completion.chunk","created":1790000000,"model":"m",'
    b'"choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}\n\n'
)
_LAST = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
_SHAPE = re.compile(rb"POST /(\d+)x(\d+)/")
_MODEL = re.compile(rb'"model": ?"([^"]+)"')

_stamps: dict[str, tuple[float, float]] = {}


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


_NEXT, _END = _chunk(_EVENT), _chunk(_LAST) + b"0\r\n\r\n"


class _Asked(asyncio.Protocol):
    def __init__(self) -> None:
        self._got = bytearray()
        self._whole = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        self._got += data
        if not self._whole and (end := self._got.find(b"\r\n\r\n")) >= 0:
            told = re.search(rb"content-length: *(\d+)", self._got[:end], re.IGNORECASE)
            self._whole = end + 4 + (int(told[1]) if told else 0)
        if self._whole and len(self._got) >= self._whole:
            request, self._got, self._whole = bytes(self._got), bytearray(), 0
            self._answer(request, now)

    def _answer(self, request: bytes, arrived: float) -> None:
        if (shape := _SHAPE.match(request)) is None:
            body = json.dumps(_stamps).encode()
            _stamps.clear()
            self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            return
        model = _MODEL.search(request)
        assert model is not None
        loop = asyncio.get_running_loop()
        loop.call_later(FIRST_BYTE_S, self._begin, model[1].decode(), arrived, int(shape[1]), int(shape[2]) / 1000)

    def _begin(self, model: str, arrived: float, events: int, gap_s: float) -> None:
        _stamps[model] = arrived, time.monotonic()
        self._transport.write(_HEAD + _NEXT)
        self._go_on(asyncio.get_running_loop().time(), 1, events, gap_s)

    def _go_on(self, at: float, sent: int, events: int, gap_s: float) -> None:
        if self._transport.is_closing():
            return
        if sent > 1:
            self._transport.write(_NEXT)
        if sent == events:
            self._transport.write(_END)
            return
        asyncio.get_running_loop().call_at(at + gap_s, self._go_on, at + gap_s, sent + 1, events, gap_s)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Asked, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    pin({int(sys.argv[1])})
    uvloop.run(_serve())
