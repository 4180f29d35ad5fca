"""Bodies that never end, and bodies that break off, behind the real server."""

import asyncio
import json
import logging

import pytest
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from breaker.api import bodies
from monitor.listening import bind, serving
from monitor.settings import Door
from tests.api.lanes import HOST, served
from tests.api.world import good


def head(length: int) -> bytes:
    return b"POST /reports HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (HOST, length)


@pytest.mark.parametrize("sent", [b"", b'{"target": '], ids=["nothing", "half a body"])
async def test_a_body_that_does_not_come_is_not_waited_for(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(bodies, "WITHIN_S", 0.05)
    async with served(app, None) as server:
        reader, writer = await asyncio.open_connection(*server.place)
        writer.write(head(100) + sent)
        async with asyncio.timeout(120):
            said = await reader.read()  # until the connection is closed
        writer.close()
        await writer.wait_closed()

    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"urn:firstbyte:problem:too-slow" in said


async def test_a_body_that_breaks_off_is_no_fault_of_ours(app: FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    body = json.dumps(good()).encode()
    with caplog.at_level(logging.WARNING):
        async with served(app, None) as server:
            for part in (b"", body[:-1]):
                _, writer = await asyncio.open_connection(*server.place)
                writer.write(head(len(body)) + part)
                await writer.drain()
                await asyncio.sleep(0.01)
                writer.close()
                await writer.wait_closed()
            async with asyncio.timeout(120):
                while server.connections:  # noqa: ASYNC110 # it has no event
                    await asyncio.sleep(0.005)

    assert caplog.records == []


async def test_who_is_not_answered_when_the_service_stops_is_told_so(
    app: FastAPI, caplog: pytest.LogCaptureFixture
) -> None:
    begun = asyncio.Event()

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await app(scope, receive, send)

    with bind(Door(host="127.0.0.1", port=0)) as listening:
        async with serving(noting, listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            writer.write(head(100) + b"[")
            async with asyncio.timeout(60):
                await begun.wait()
        async with asyncio.timeout(60):
            said = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert said.startswith(b"HTTP/1.1 503 ")
    assert b"urn:firstbyte:problem:stopping" in said
    assert [record for record in caplog.records if record.exc_info] == []
