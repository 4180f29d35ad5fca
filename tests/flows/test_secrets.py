"""A whole service among providers that give back all they were told: nothing of it may show anywhere."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.processes import Started, environment, started

KEY = "sk-canary-4f9d27aa61c0e8b3"
AGENT, ADMIN = "agent-canary-77b1", "admin-canary-c35e"
REPLY = "the heron waits where the reeds are thin and says canary"
# Logs all that any module has to say, then runs as the command does.
DEBUG = (
    "import atexit, logging; logging.basicConfig(level=logging.DEBUG); atexit.register(logging.debug, 'to the end'); "
    "from monitor.cli import entry; entry()"
)
PIECE = 24


@dataclass
class Echo:
    """A provider; each of its models gives back what it was told in a way of its own."""

    url: str = ""
    asked: dict[str, int] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    prompts: list[str] = field(default_factory=list)


def _sse(*events: object) -> bytes:
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)


def _whole(status: str, body: bytes, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]).encode() + body


def _error(told: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": told, "code": told, "message": told, "param": told}, "id": told}


def _delta(text: str, told: str, **more: object) -> dict[str, object]:
    """Text in both wires' shapes at once; each reads its own."""
    choice = {"index": 0, "delta": {"content": text, "role": told}, **more}
    anthropic = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return {"id": told, "model": told, "choices": [choice], **anthropic}


WAYS: dict[str, Callable[[str], bytes]] = {
    "status-line": lambda told: _whole(f"500 {told}", b""),
    "headers": lambda told: _whole(
        "401 No", b"", f"x-echo: {told}", f"www-authenticate: {told}", f"retry-after: {told}"
    ),
    "error-body": lambda told: _whole("400 Bad", json.dumps(_error(told)).encode(), "content-type: application/json"),
    "plain-body": lambda told: _whole("503 Busy", told.encode(), f"content-type: {told}"),
    "rate": lambda told: _whole("429 Slow", json.dumps(_error(told)).encode(), f"retry-after: {told}"),
    "redirect": lambda told: _whole("302 Found", b"", f"location: http://127.0.0.1:1/{told.replace(' ', '+')}"),
    "bad-location": lambda told: _whole("302 Found", b"", f"location: http://[{told}"),
    "no-http": lambda told: f"HTTQ {told}\r\n\r\n".encode(),
    "bad-header": lambda told: f"HTTP/1.1 200 OK\r\n{told}\r\n\r\n".encode(),
    "bad-length": lambda told: f"HTTP/1.1 200 OK\r\ncontent-length: {told}\r\n\r\n".encode(),
    "bad-chunk": lambda told: f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{told}\r\n".encode(),
    "bad-coding": lambda told: _whole("200 OK", told.encode(), f"content-encoding: {told}"),
    "bad-gzip": lambda told: _whole("200 OK", told.encode(), "content-encoding: gzip"),
    "error-event": lambda told: _whole("200 OK", _sse(_error(told)), "content-type: text/event-stream"),
    "broken-event": lambda told: _whole("200 OK", f"data: {{{told}\n\n".encode(), "content-type: text/event-stream"),
    "answer": lambda told: _whole(
        "200 OK",
        _sse(_delta(REPLY, told), _delta(told, told, finish_reason=told), {"usage": {"prompt_tokens": told}})
        + b"data: [DONE]\n\n",
        "content-type: text/event-stream",
    ),
    "tool-call": lambda told: _whole(
        "200 OK",
        _sse({"choices": [{"delta": {"tool_calls": [{"function": {"name": told, "arguments": told}}]}}]}),
        "content-type: text/event-stream",
    ),
}


@contextlib.asynccontextmanager
async def echo() -> AsyncIterator[Echo]:
    """A provider that listens until the block ends."""
    seen = Echo()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
            body = json.loads(await reader.readexactly(int(headers["content-length"])))
            key = headers.get("authorization", headers.get("x-api-key", ""))
            prompt = " ".join(_texts([body.get("system"), body["messages"]]))
            seen.asked[body["model"]] = seen.asked.get(body["model"], 0) + 1
            seen.prompts.append(prompt)
            seen.keys.add(key)
            writer.write(WAYS[body["model"]](f"{key} {REPLY} {prompt[:60]} {prompt[-60:]}".replace("\n", " ")))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    seen.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield seen
    finally:
        server.close()


def _texts(value: object) -> Iterable[str]:
    """All texts in a JSON value, but for the short ones, which are words of the format."""
    if isinstance(value, str):
        yield from [value] if len(value) > PIECE else []
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _config(url: str) -> str:
    models = json.dumps({way: {} for way in WAYS})
    policy = (
        "{slow_s: 0.5, silence_s: 1, interval_s: 0.4, jitter_s: 0.1, confirm_s: 0.1, hold_s: 0.6, half_open_s: 0.2}"
    )
    routes = {wire: [f"{wire}/{way}" for way in WAYS] for wire in ("a", "b")}
    return (
        f"policy: {policy[:-1]}, row_gap_intervals: 9, fresh_intervals: 9, silent_intervals: 9}}\n"
        "probe: {prompt_tokens: 300, max_tokens: 64}\n"
        "door: {agent_token_env: AGENT_TOKEN, admin_token_env: ADMIN_TOKEN}\n"
        f"providers:\n  a: {{base_url: '{url}', wire: openai-chat, api_key_env: CANARY_KEY, models: {models}}}\n"
        f"  b: {{base_url: '{url}', wire: anthropic-messages, api_key_env: CANARY_KEY, models: {models}}}\n"
        f"routes: {json.dumps(routes)}\n"
    )


async def _shown(url: str) -> str:
    """All that the door says to those who ask, those who report too much and those who have no right to."""
    report = {"target": "a/answer", "id": "x", "ended": "complete", "seconds": 1}
    agent = {"Authorization": f"Bearer {AGENT}"}
    paths = ["/", "/targets", "/metrics", "/route?route=a", "/route?route=b", "/readyz", "/openapi.json"]
    paths += ["/moves", *(f"/moves?target={wire}/{way}" for wire in "ab" for way in WAYS)]
    facts = ({"text": REPLY}, {REPLY: 1}, {"finish": REPLY}, {"phrase": REPLY}, {"status": REPLY})
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60.0) as door:
        answers = [
            *[await door.get(path) for path in paths],
            *[await door.post("/reports", json={**report, **more}, headers=agent) for more in facts],
            await door.post("/reports", content=REPLY, headers=agent),
            await door.post("/judge", json=_exchange("openai-chat"), headers=agent),
            await door.post("/judge", json=_exchange(REPLY), headers=agent),
            *[await door.post(f"/runs/goal-1/{kind}", json=told, headers=agent) for kind, told in _told(report)],
            *[await door.get(f"/runs{path}", headers=agent) for path in ("/goal-1", "/goal-1/done", f"/{REPLY}", "")],
            await door.post("/circuit/open", headers=agent),
            await door.post("/circuit/open", headers={"Authorization": f"Bearer {KEY}"}),
        ]
    return "\n".join(f"{answer.headers} {answer.text}" for answer in answers)


def _told(report: dict[str, object]) -> list[tuple[str, dict[str, object]]]:
    """What may be told of a run, with a reply wherever a text can stand: some is taken, most refused."""
    step, operation = {**report, "seq": 1}, {"id": "op-1", "tool": "refund", "seq": 2, "state": "failed"}
    return [
        ("steps", {**step, "calls": [{"name": REPLY, "arguments": {REPLY: REPLY}}]}),
        ("steps", {**step, "calls": REPLY}),
        ("steps", {**step, "says": REPLY}),
        ("operations", operation),
        *[
            ("operations", {**operation, name: REPLY})
            for name in ("id", "tool", "state", "error", "reference", "needs")
        ],
        ("operations", {**operation, REPLY: 1}),
        ("checks", {"id": "c", "seq": 3, "name": REPLY, "outcome": "passed"}),
    ]


def _exchange(wire: str) -> dict[str, object]:
    """One that says the reply wherever a text can stand."""
    body = (_sse(_delta(REPLY, REPLY), _error(REPLY)) + REPLY.encode()).decode()
    chunks = [{"at_ms": 10, "data": body}]
    asked = {"wire": wire, "stream": True, "request": {"chars": 40}, "note": REPLY}
    return {**asked, "status": 200, "headers": {"x-echo": REPLY}, "chunks": chunks, "end": "close"}


def _kept(folder: Path) -> str:
    """What the store's files hold."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode(errors="replace")


async def _run(folder: Path, provider: Echo) -> tuple[str, Started]:
    env = {"CANARY_KEY": KEY, "AGENT_TOKEN": AGENT, "ADMIN_TOKEN": ADMIN}
    (folder / "firstbyte.yaml").write_text(_config(provider.url), encoding="utf-8")
    async with started(
        "run", env=environment(folder / "data", env), cwd=folder, command=(sys.executable, "-c", DEBUG)
    ) as service:
        url = (await service.line("listening at (http://[^ ]+)"))[1]
        async with asyncio.timeout(120):
            while len(provider.asked) < len(WAYS) or min(provider.asked.values()) < 4:  # noqa: ASYNC110 # no event
                await asyncio.sleep(0.05)
        shown = await _shown(url)
        kept = _kept(folder / "data")
    return shown + kept, service


async def test_nothing_that_providers_were_told_or_said_shows_anywhere(tmp_path: Path) -> None:
    """In logs at their most talkative, on the page, in metrics, errors, moves, and in the store's files."""
    async with echo() as provider:
        kept, service = await _run(tmp_path, provider)
    said = "\n".join([kept, *service.said])

    assert provider.keys == {KEY, f"bearer {KEY}"}
    assert "DEBUG:root:to the end" in said
    assert said.count("closed -> open") > len(WAYS)
    assert "a/status-line" in kept
    for secret in (KEY, KEY[:16], KEY[-12:], AGENT, ADMIN, REPLY, REPLY[:PIECE], REPLY[-PIECE:]):
        assert secret not in said
    pieces = {text[i : i + PIECE] for text in provider.prompts for i in range(0, len(text) - PIECE, PIECE)}
    assert len(pieces) > 100
    assert [piece for piece in pieces if piece in said] == []
