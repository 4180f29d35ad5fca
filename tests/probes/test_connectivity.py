"""Whether our own network is down, asked of real ports that open and close."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from breaker.policy import Policy
from breaker.target import Provider, Target
from monitor.network import connectivity
from monitor.network.connectivity import LIMIT_S, PAUSE_S, Connectivity
from monitor.network.ways import Proxies
from monitor.settings import Address, TargetPlan
from tests.probes.world import settings


class Port:
    """A port on loopback that takes connections, or refuses them, and counts those that it took."""

    def __init__(self) -> None:
        self._bound = _bound()
        self.address = Address(*self._bound.getsockname())
        self.url = f"http://{self.address}/v1"
        self.taken = 0
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Take connections."""
        self._server = await asyncio.start_server(self._connected, sock=self._bound)

    def close(self) -> None:
        """Refuse them; the port stays ours."""
        self._bound = _bound(self.address.port)
        if self._server:
            self._server.close()
            self._server = None

    def _connected(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.taken += 1
        writer.close()

    def end(self) -> None:
        """Give it up."""
        if self._server:
            self._server.close()
        self._bound.close()


def _bound(port: int = 0) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind(("127.0.0.1", port))
    return made


@contextlib.asynccontextmanager
async def ports(*states: bool) -> AsyncIterator[list[Port]]:
    """Ports, each open or not."""
    made = [Port() for _ in states]
    try:
        for port, opened in zip(made, states, strict=True):
            if opened:
                await port.open()
        yield made
    finally:
        for port in made:
            port.end()


def plans(*urls: str) -> list[TargetPlan]:
    return [
        TargetPlan(
            target=Target(provider=Provider(name=f"p{n}", base_url=url, wire="openai-chat"), model="m"), policy=Policy()
        )
        for n, url in enumerate(urls)
    ]


def network(*urls: str, control: tuple[Address, ...] = (), proxy: str = "") -> Connectivity:
    """The network as it is seen with such providers, p0/m and so on; it looks again twenty times a second."""
    chosen = replace(settings(plans(*urls)), control=control)
    proxies = Proxies({"all": proxy} if proxy else {}, lambda _: False)
    return Connectivity(chosen, proxies, again_s=0.05)


async def until(met: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not met():  # noqa: ASYNC110 # nothing sets an event
            await asyncio.sleep(0.01)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "monitor.network.connectivity"]


# Who is to blame


@pytest.mark.parametrize(
    ("states", "down"),
    [
        pytest.param((False, True, False), False, id="another takes connections"),
        pytest.param((True, False, False), False, id="it takes connections itself, so that the network is up"),
        pytest.param((False, False, False), True, id="nobody does"),
        pytest.param((False,), False, id="there is no other"),
    ],
)
async def test_our_network_is_down_when_no_provider_takes_a_connection(states: tuple[bool, ...], down: bool) -> None:
    async with ports(*states) as made, network(*(port.url for port in made)) as seen:
        assert await seen.down("p0/m") is down
        assert (seen.suspect_since is not None) is down


@pytest.mark.parametrize(("provider", "control", "down"), [(False, True, False), (True, False, True)])
async def test_control_addresses_alone_decide(provider: bool, control: bool, down: bool) -> None:
    async with (
        ports(provider, control, False) as made,
        network(made[0].url, control=(made[1].address, made[2].address)) as seen,
    ):
        assert await seen.down("p0/m") is down


@pytest.mark.parametrize(("proxy", "down"), [(False, True), (True, False)])
async def test_a_proxy_that_refuses_is_our_own_fault(proxy: bool, down: bool, caplog: pytest.LogCaptureFixture) -> None:
    async with ports(proxy, False) as made:
        url = f"http://me:hunter2@{made[0].address}"
        async with network(made[1].url, proxy=url) as seen:
            assert await seen.down("p0/m") is down

    assert len(told(caplog)) is int(down)
    assert "hunter2" not in caplog.text


# When it looks


async def test_where_others_can_be_reached_it_waits_for_none_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connectivity, "LIMIT_S", 600.0)
    async with ports(False, True) as made, hanging() as silent, network(*(p.url for p in made), silent) as seen:
        async with asyncio.timeout(60):
            assert not await seen.down("p0/m")


async def test_many_who_ask_at_once_share_a_look_and_many_in_a_row_a_few() -> None:
    async with ports(False, True) as made, network(*(port.url for port in made)) as seen:
        began = time.monotonic()
        asked = await asyncio.gather(*(seen.down("p0/m") for _ in range(50)))
        at_once = made[1].taken
        for _ in range(4):
            await asyncio.gather(*(seen.down("p0/m") for _ in range(50)))
        took_s = time.monotonic() - began

    assert not any(asked)
    assert at_once <= 2
    assert made[1].taken <= took_s / PAUSE_S + 2


async def test_what_was_seen_before_an_answer_broke_off_says_nothing() -> None:
    """The network breaks just after it was found up."""
    async with ports(False, True) as made, network(*(port.url for port in made)) as seen:
        before = await seen.down("p0/m")
        made[1].close()
        after = await seen.down("p0/m")

    assert (before, after) == (False, True)


async def test_it_comes_back_by_itself_and_each_change_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    async with ports(False, False) as made, network(*(port.url for port in made)) as seen:
        asked_at = time.monotonic()
        assert not seen.was_down(1e6)
        for _ in range(3):
            assert await seen.down("p0/m")
            assert await seen.down("p1/m")
        await made[1].open()
        await until(lambda: seen.suspect_since is None)
        again = await seen.down("p0/m")
        overlapped, later = seen.was_down(time.monotonic() - asked_at), seen.was_down(0.0)

    assert (again, overlapped, later) == (False, True, False)
    first, second = told(caplog)
    assert "seems to be down: nothing answers at 127.0.0.1:" in first
    assert "is back after 0 s" in second


async def test_a_control_address_that_never_answers_is_told_of_at_the_start(caplog: pytest.LogCaptureFixture) -> None:
    """It is no reason to suspect ourselves before anything has failed."""
    async with ports(True, False) as made, network(made[0].url, control=(made[1].address,)) as seen:
        await until(lambda: told(caplog))
        suspect = seen.suspect_since

    assert suspect is None
    assert f"no control address answers ({made[1].address})" in told(caplog)[0]


# What hangs


@contextlib.asynccontextmanager
async def hanging() -> AsyncIterator[str]:
    """The URL of a port whose queue is full, so that it neither takes a connection nor refuses one."""
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(_bound())
        full.listen(0)
        for _ in range(5):
            filling = stack.enter_context(socket.socket())
            filling.setblocking(False)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    await loop.sock_connect(filling, full.getsockname())
        yield f"http://127.0.0.1:{full.getsockname()[1]}/v1"


async def test_a_look_that_hangs_is_given_up_after_a_second() -> None:
    async with ports(False) as made, hanging() as one, hanging() as two, network(made[0].url, one, two) as seen:
        began = time.monotonic()
        down = await seen.down("p0/m")
        took_s = time.monotonic() - began

    assert down
    assert LIMIT_S - 0.1 < took_s < 60  # the system gives up after two minutes


async def test_a_name_that_nobody_answers_for_is_looked_up_once_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads can't be stopped, so that each look would leave one behind."""
    asked: list[str] = []
    answered, look_up = threading.Event(), socket.getaddrinfo

    def slowly(host: Any, *rest: Any, **more: Any) -> Any:
        if "silent" in str(host):
            asked.append(str(host))
            answered.wait(20)
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return look_up(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    async with ports(False) as made:
        seen = network(made[0].url, "http://silent.localhost:9/v1")
        async with seen:
            first = await seen.down("p0/m")
            outlook = seen._outlooks[0]
            await outlook.look()
            count = len(asked)
            await made[0].open()
            await until(lambda: seen.suspect_since is None)
        answered.set()

    assert first
    assert count == 1


async def test_a_name_is_looked_up_and_all_its_addresses_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of the two addresses refuses."""
    async with ports(False, True) as made:
        look_up = socket.getaddrinfo

        def found(host: Any, port: Any, **more: Any) -> Any:
            addresses = [made[0].address, made[1].address] if "two.localhost" in str(host) else [Address(host, port)]
            return [each for host, port in addresses for each in look_up(host, port, **more)]

        monkeypatch.setattr(socket, "getaddrinfo", found)
        async with network(made[0].url, "http://two.localhost:9/v1") as seen:
            assert not await seen.down("p0/m")


async def test_it_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()
    async with hanging() as silent, ports(False, False) as made, network(silent, *(p.url for p in made)) as seen:
        asking = asyncio.create_task(seen.down("p0/m"))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert await seen.down("p1/m")

    assert asyncio.all_tasks() == before
