import asyncio
import contextlib
import logging
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvloop

from breaker.policy import Policy
from monitor.exchange import dial as dialling
from monitor.exchange.dial import Endpoint, dial
from monitor.exchange.errors import BrokenHttpError, ExchangeError, ProxyError
from monitor.exchange.opening import open_connection
from monitor.exchange.phases import Moments, Phase
from monitor.exchange.where import Origin, Proxy, origin_of, proxy_of
from monitor.probe import connections
from tests.probes.probing import plan_at, probed
from tests.probes.raw_server import Exchange, raw_server

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    """Runs a coroutine in a loop of each kind."""

    def run_in(work: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            runner.run(asyncio.wait_for(work, 60))

    return run_in


@dataclass
class Certified:
    """A server's TLS for `localhost`, and a client's that trusts it; `asked` are the names that clients asked for."""

    server: ssl.SSLContext
    client: ssl.SSLContext
    asked: list[str | None] = field(default_factory=list)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A key and a certificate for `localhost`, signed by itself."""
    at = tmp_path_factory.mktemp("tls")
    key, certificate = at / "key.pem", at / "certificate.pem"
    told = ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=localhost"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    told += ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(["openssl", "req", "-x509", *kind, *told], check=True, capture_output=True)
    return key, certificate


@pytest.fixture
def tls(certificate: tuple[Path, Path]) -> Certified:
    key, signed = certificate
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(signed, key)
    made = Certified(server, ssl.create_default_context(cafile=signed))
    server.sni_callback = lambda _, name, __: made.asked.append(name)
    return made


@contextlib.asynccontextmanager
async def serving(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """The port of a server; `answer` has each connection, which is closed afterwards."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def says_hello(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"hello")
    await writer.drain()


def origin(port: int, *, tls: bool, host: str = "localhost") -> Origin:
    return origin_of(f"http{'s' if tls else ''}://{host}:{port}/v1")[0]


async def first_bytes(origin: Origin, trust: ssl.SSLContext, proxy: Proxy | None = None) -> tuple[bytes, Moments]:
    moments = Moments()
    connection = await open_connection(origin, proxy, trust, moments)
    got = await connection.read()
    await connection.aclose()
    return (got.data if got else b""), moments


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_a_connection_is_opened_by_name(
    run: Callable[[Coroutine[Any, Any, None]], None], tls: Certified, secure: bool
) -> None:
    async def story() -> None:
        async with serving(says_hello, tls.server if secure else None) as port:
            data, moments = await first_bytes(origin(port, tls=secure), tls.client)

        assert data == b"hello"
        assert (moments.securing is not None, moments.secured is not None) == (secure, secure)
        assert tls.asked == (["localhost"] if secure else [])

    run(story())


def test_a_certificate_for_another_name_is_refused(
    run: Callable[[Coroutine[Any, Any, None]], None], tls: Certified
) -> None:
    async def story() -> None:
        async with serving(says_hello, tls.server) as port:
            with pytest.raises(ssl.SSLCertVerificationError):
                await first_bytes(origin(port, tls=True, host="127.0.0.1"), tls.client)

    run(story())


def test_a_certificate_that_nobody_trusts_is_refused(
    run: Callable[[Coroutine[Any, Any, None]], None], tls: Certified
) -> None:
    async def story() -> None:
        async with serving(says_hello, tls.server) as port:
            with pytest.raises(ssl.SSLCertVerificationError):
                await first_bytes(origin(port, tls=True), ssl.create_default_context())

    run(story())


def test_cancelled_before_tls_has_come_about_it_closes_the_connection(
    run: Callable[[Coroutine[Any, Any, None]], None], tls: Certified
) -> None:
    async def story() -> None:
        came, gone = asyncio.Event(), asyncio.Event()

        async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            while await reader.read(4096):
                came.set()
            gone.set()

        async with serving(silent) as port:
            opening = asyncio.create_task(first_bytes(origin(port, tls=True), tls.client))
            await came.wait()
            opening.cancel()
            await asyncio.wait([opening])
            await asyncio.wait_for(gone.wait(), 60)

        assert opening.cancelled()

    run(story())


def test_a_port_where_nobody_listens_refuses(run: Callable[[Coroutine[Any, Any, None]], None], tls: Certified) -> None:
    async def story() -> None:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            with pytest.raises(ConnectionRefusedError):
                await first_bytes(origin(held.getsockname()[1], tls=False, host="127.0.0.1"), tls.client)

    run(story())


# Several addresses


@contextlib.contextmanager
def never_taking() -> Any:
    """An address that answers to no attempt to connect: its queue is full."""
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        yield Endpoint(socket.AF_INET, full.getsockname())


def test_the_first_address_that_answers_is_taken(
    run: Callable[[Coroutine[Any, Any, None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        with never_taking() as silent, socket.socket() as refusing:
            refusing.bind(("127.0.0.1", 0))
            async with serving(says_hello) as port:
                good = Endpoint(socket.AF_INET, ("127.0.0.1", port))

                async def found(*_: object) -> list[Endpoint]:
                    return [Endpoint(socket.AF_INET, refusing.getsockname()), silent, good]

                monkeypatch.setattr(dialling, "look_up", found)
                with await dial("anybody", 1) as connected:
                    assert connected.getpeername() == good.address

    run(story())


def test_where_no_address_answers_the_last_refusal_is_told(
    run: Callable[[Coroutine[Any, Any, None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        with socket.socket() as refusing:
            refusing.bind(("127.0.0.1", 0))

            async def found(*_: object) -> list[Endpoint]:
                return [Endpoint(socket.AF_INET, refusing.getsockname())] * 2

            monkeypatch.setattr(dialling, "look_up", found)
            with pytest.raises(ConnectionRefusedError):
                await dial("anybody", 1)

    run(story())


async def test_a_name_that_no_host_can_have_is_an_error_of_the_exchange() -> None:
    with pytest.raises(ExchangeError):
        await dial("a" * 70 + ".example", 80)


# Proxies


def relaying(port: int, asked: list[bytes]) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """A proxy's part: a tunnel to a port of this machine."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        there, to_there = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(65536):
                    sink.write(data)
                sink.close()

        await asyncio.gather(pump(reader, to_there), pump(there, writer))

    return relay


@pytest.mark.parametrize("proxy_tls", [False, True], ids=["plain proxy", "proxy with tls"])
def test_through_a_proxy_a_tunnel_leads_to_the_server(
    run: Callable[[Coroutine[Any, Any, None]], None], tls: Certified, proxy_tls: bool
) -> None:
    async def story() -> None:
        asked: list[bytes] = []
        async with (
            serving(says_hello, tls.server) as port,
            serving(relaying(port, asked), tls.server if proxy_tls else None) as proxy_port,
        ):
            proxy = proxy_of(f"http{'s' if proxy_tls else ''}://me:open%20sesame@localhost:{proxy_port}")
            data, moments = await first_bytes(origin(port, tls=True), tls.client, proxy)

        assert data == b"hello"
        assert moments.secured is not None
        [head] = asked
        assert head.startswith(f"CONNECT localhost:{port} HTTP/1.1\r\nhost: localhost:{port}\r\n".encode())
        assert b"proxy-authorization: Basic bWU6b3BlbiBzZXNhbWU=\r\n" in head

    run(story())


@pytest.mark.parametrize(
    ("said", "error"),
    [
        pytest.param(b"HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n", ProxyError, id="refused"),
        pytest.param(b"HTTP/1.1 200", BrokenHttpError, id="cut off"),
        pytest.param(b"SSH-2.0-x\r\n\r\n", BrokenHttpError, id="no proxy"),
        pytest.param(b"x" * 100_000, BrokenHttpError, id="a flood"),
    ],
)
async def test_a_proxy_that_gives_no_tunnel_is_an_error(said: bytes, error: type[Exception], tls: Certified) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await writer.drain()

    async with serving(refuse) as port:
        with pytest.raises(error):
            await first_bytes(origin(1, tls=True), tls.client, proxy_of(f"http://127.0.0.1:{port}"))


def test_a_proxy_of_another_kind_is_refused_with_a_notice_that_tells_no_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ProxyError) as raised:
        proxy_of("socks5://me:sesame@localhost:1080")

    assert "only http:// and https:// are" in caplog.text
    assert "sesame" not in caplog.text + str(raised.value)


async def test_a_plain_server_behind_a_proxy_is_asked_by_its_whole_address(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.whole(b'data: {"choices":[{"delta":{"content":"hello"}}]}\n\ndata: [DONE]\n\n')

    async with raw_server(answer) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:sesame@"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        found = await probed(plan_at("http://nobody.example/v1"))

    assert found.answer.text_chars == 5
    [asked] = proxy.requests
    assert asked.first == "POST http://nobody.example/v1/chat/completions HTTP/1.1"
    assert asked.headers["host"] == "nobody.example"
    assert asked.headers["proxy-authorization"] == "Basic bWU6c2VzYW1l"


# What a probe makes of it


async def test_a_wait_for_tls_that_was_told_as_late_is_part_of_the_times(
    certificate: tuple[Path, Path], tls: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    connections._trust.cache_clear()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + b'data: {"choices":[{"delta":{"content":"hello"}}]}\n\n')
        await writer.drain()
        writer.close()

    async with contextlib.AsyncExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        async def told(_: object) -> None:
            await stack.enter_async_context(await asyncio.start_server(answer, sock=listening, ssl=tls.server))

        policy = Policy(slow_s=0.2, silence_s=5.0)
        url = f"https://localhost:{listening.getsockname()[1]}/v1"
        found = await probed(plan_at(url, policy=policy), late=told)
    connections._trust.cache_clear()

    assert found.answer.first_byte_s is not None
    assert found.answer.first_byte_s > policy.slow_s
    assert set(found.phases) == set(Phase)


@pytest.mark.parametrize(
    ("url", "expected", "path"),
    [
        ("https://api.example.com/v1/x?y=1", Origin(True, "api.example.com", 443, "api.example.com"), "/v1/x?y=1"),
        ("http://h:8000", Origin(False, "h", 8000, "h:8000"), "/"),
        ("http://[::1]:80/a", Origin(False, "::1", 80, "[::1]"), "/a"),
        ("https://bücher.example/a", Origin(True, "xn--bcher-kva.example", 443, "xn--bcher-kva.example"), "/a"),
    ],
)
def test_a_url_says_where_to_connect_and_what_to_ask(url: str, expected: Origin, path: str) -> None:
    assert origin_of(url) == (expected, path)


@pytest.mark.parametrize("url", ["ftp://h/a", "/a", "http://", "http://h:port/"])
def test_what_is_no_web_address_is_an_error_of_the_exchange(url: str) -> None:
    with pytest.raises(ExchangeError):
        origin_of(url)
