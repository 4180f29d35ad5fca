"""What callers get when the server is frozen, gone, back, or refuses; and that a URL's password stays secret."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from redis.asyncio import SSLConnection

from breaker.circuit import hold
from breaker.errors import DamagedStoreError, StoreError, StoreGoneError
from breaker.store.hearing import MOST_SILENT
from breaker.store.redis import LIMIT_S, RedisStore
from tests.cluster import one_node_cluster
from tests.fixtures import PATIENT_S
from tests.scenarios.boards import FIRST, board_over
from tests.store.answers import TARGET, good, names, record
from tests.store.tls import over_tls
from tests.store_server import BINARIES, StoreServer

# A busy machine adds to every limit.
SLACK_S = 1.5
# For tests in which a limit has to pass and other calls have to keep it.
HASTE_S = 0.5

Call = Callable[[RedisStore], Awaitable[object]]


async def apply(store: RedisStore) -> object:
    """Apply a hold by hand that nothing has prepared."""
    judged = (await store.look(TARGET)).circuit
    return await store.apply(TARGET, hold(judged, 1e9, opened=True, who="ann", why="trial", until=2e9), judged)


async def listen(store: RedisStore) -> None:
    """Begin to listen."""
    async with store.announcements():
        pass


CALLS: dict[str, Call] = {
    "record": lambda store: record(store, good("a")),
    "look": lambda store: store.look(TARGET),
    "apply": apply,
    "circuits": lambda store: store.circuits([TARGET]),
    "moves": lambda store: store.moves(TARGET, 5),
    "announcements": lambda store: listen(store),
    "spend": lambda store: store.spend("zai", "2026-01-01", 1, 0.5),
    "ping": lambda store: store.ping(),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


@pytest.fixture(params=BINARIES.values(), ids=list(BINARIES))
def own(request: pytest.FixtureRequest, folder: Path) -> Iterator[StoreServer]:
    """A server for this test alone, to be frozen and killed."""
    with StoreServer(request.param, folder, appendonly="yes") as running:
        yield running


@asynccontextmanager
async def connected(url: str, limit_s: float = PATIENT_S) -> AsyncIterator[RedisStore]:
    store = RedisStore.from_url(url, limit_s=limit_s)
    try:
        yield store
    finally:
        await store.close()


@contextmanager
def quickly(limit_s: float = 0.1) -> Iterator[None]:
    """Fails where the block takes longer than the store's limit."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < limit_s + SLACK_S


@each_call
async def test_a_frozen_server_costs_a_call_its_limit_and_no_more(own: StoreServer, call: Call) -> None:
    async with connected(own.url, LIMIT_S) as store:
        await store.ping()
        own.freeze()

        with quickly(), pytest.raises(StoreGoneError, match="doesn't answer in time"):
            await call(store)


async def test_a_server_that_was_frozen_before_the_first_call_costs_no_more(own: StoreServer) -> None:
    own.freeze()

    async with connected(own.url, LIMIT_S) as store:
        with quickly(), pytest.raises(StoreGoneError):
            await store.ping()


async def test_calls_that_queue_behind_a_frozen_server_fail_with_the_first(own: StoreServer) -> None:
    async with connected(own.url, LIMIT_S) as store:
        await store.ping()
        own.freeze()

        with quickly():
            results = await asyncio.gather(*(record(store, good(str(i))) for i in range(200)), return_exceptions=True)

    assert {type(result) for result in results} == {StoreGoneError}


async def test_a_thawed_server_answers_each_call_with_its_own_reply(own: StoreServer) -> None:
    async with connected(own.url, HASTE_S) as store:
        await asyncio.gather(*(store.spend(f"before{i}", "d", i, 0.0) for i in range(20)))
        own.freeze()
        await asyncio.gather(*(store.spend(f"lost{i}", "d", 1000, 0.0) for i in range(20)), return_exceptions=True)
        own.thaw()

        await store.ping()
        replies = await asyncio.gather(*(store.spend(f"after{i}", "d", i, 0.0) for i in range(20)))

    assert replies == [(i, 0.0) for i in range(20)]


async def test_an_answer_whose_reply_was_lost_counts_once_when_it_comes_again(own: StoreServer) -> None:
    async with connected(own.url, HASTE_S) as store:
        await store.ping()
        own.freeze()
        with pytest.raises(StoreGoneError):
            await record(store, good("a"))
        own.thaw()

        reading = await record(store, good("a"))

    assert names(reading.log.reports) == ["a"]


@each_call
async def test_a_killed_server_is_gone_at_once(own: StoreServer, call: Call) -> None:
    async with connected(own.url) as store:
        await store.ping()
        own.kill()

        with quickly(), pytest.raises(StoreGoneError):
            await call(store)


async def test_a_killed_server_that_is_back_answers_the_next_call_and_knows_what_it_knew(own: StoreServer) -> None:
    async with connected(own.url) as store:
        await asyncio.gather(*(record(store, good(str(i))) for i in range(20)))
        known = await store.look(TARGET)
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)

        assert (await store.look(TARGET)).log == known.log
        assert len(known.log.reports) == 20


async def test_announcements_end_when_the_connection_breaks(own: StoreServer) -> None:
    async with connected(own.url) as store, store.announcements() as heard:
        own.kill()

        with pytest.raises(StoreGoneError, match="can't be reached"):
            await asyncio.wait_for(anext(heard), PATIENT_S)


async def test_announcements_of_a_frozen_server_end_too(own: StoreServer) -> None:
    async with connected(own.url, HASTE_S) as store, store.announcements() as heard:
        own.freeze()

        with pytest.raises(StoreGoneError, match="has fallen silent"):
            await asyncio.wait_for(anext(heard), PATIENT_S)


async def test_a_calm_server_is_heard_for_as_long_as_it_answers_to_pings(own: StoreServer) -> None:
    async with connected(own.url) as store, store.announcements() as heard:
        first = asyncio.ensure_future(anext(heard))
        with own.raw() as raw:
            while raw.info("commandstats").get("cmdstat_ping", {"calls": 0})["calls"] <= MOST_SILENT + 1:  # noqa: ASYNC110 # no event of ours
                await asyncio.sleep(0.05)
        assert not first.done()

        await apply(store)

        assert (await asyncio.wait_for(first, PATIENT_S))[0] == TARGET


async def test_an_announcement_connection_that_the_library_renews_by_itself_is_called_broken(own: StoreServer) -> None:
    """What was announced meanwhile is lost, so whoever listens must read again."""
    async with connected(own.url) as store, store.announcements() as heard:
        (ears,) = (await store._servers.any()).server.connection_pool._in_use_connections
        await ears.disconnect(nowait=True)

        with pytest.raises(StoreGoneError, match="was gone for a moment"):
            await asyncio.wait_for(anext(heard), PATIENT_S)


async def test_closing_waits_for_no_frozen_server(own: StoreServer) -> None:
    store = RedisStore.from_url(own.url, limit_s=PATIENT_S)
    await asyncio.gather(*(store.ping() for _ in range(20)))
    own.freeze()

    with quickly():
        await store.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"maxmemory": "1"}, "is out of memory"),
        ({"min-replicas-to-write": "1"}, "has too few replicas to write"),
        ({"replicaof": "127.0.0.1 1"}, "is a read-only replica"),
    ],
    ids=["memory", "replicas", "replica"],
)
async def test_a_server_that_takes_no_writes_is_gone_for_now(
    own: StoreServer, change: dict[str, str], words: str
) -> None:
    with own.raw() as raw:
        for name, value in change.items():
            raw.execute_command(name, *value.split()) if name == "replicaof" else raw.config_set(name, value)

    async with connected(own.url) as store:
        with pytest.raises(StoreGoneError, match=words):
            await record(store, good("a"))
        await store.look(TARGET)


@pytest.mark.parametrize("binary", BINARIES.values(), ids=list(BINARIES))
async def test_a_server_that_cannot_save_is_gone_for_writes(folder: Path, binary: str) -> None:
    disk = folder / "disk"
    disk.mkdir()
    with StoreServer(binary, folder, dir=str(disk), save="3600 1") as server, server.raw() as raw:
        disk.rmdir()
        raw.bgsave()
        async with asyncio.timeout(120):
            while raw.info("persistence")["rdb_last_bgsave_status"] != "err":  # noqa: ASYNC110 # no event of ours
                await asyncio.sleep(0.02)
        async with connected(server.url) as store:
            with pytest.raises(StoreGoneError, match="can't write to its disk"):
                await record(store, good("a"))
            await store.look(TARGET)


async def test_answers_that_wait_say_why(own: StoreServer) -> None:
    with own.raw() as raw:
        raw.config_set("min-replicas-to-write", 1)
        async with connected(own.url) as store:
            board = board_over(store)
            taken = await board.report(good("a", target=FIRST.name))
            refused = board.queue()
            raw.config_set("min-replicas-to-write", 0)
            async with asyncio.timeout(120):
                while board.waiting():  # noqa: ASYNC110 # no event of ours
                    await asyncio.sleep(0.01)

    assert (taken, refused.waiting, refused.trouble) == (None, 1, "has too few replicas to write")
    assert board.queue().trouble is None


async def test_a_key_of_another_kind_is_an_error_and_not_an_absence(own: StoreServer) -> None:
    with own.raw() as raw:
        raw.set(f"firstbyte:{{{TARGET}}}:probes", "mine")

    async with connected(own.url) as store:
        with pytest.raises(DamagedStoreError) as error:
            await record(store, good("a"))

    assert error.value.keys == (f"firstbyte:{{{TARGET}}}:probes",)


@pytest.mark.parametrize("name", ["circuit", "probes", "reports", "bins", "usual", "moves"])
async def test_whoever_moves_a_circuit_is_told_which_key_is_in_the_way(own: StoreServer, name: str) -> None:
    key = f"firstbyte:{{{TARGET}}}:{name}"
    with own.raw() as raw:
        raw.sadd(key, "mine")

    async with connected(own.url) as store:
        with pytest.raises(DamagedStoreError, match="delete that") as error:
            await apply(store)
    with own.raw() as raw:
        left = raw.smembers(key)

    assert error.value.keys == (key,)
    assert left == {"mine"}


@pytest.mark.parametrize("given", ["", "?password={wrong}", "?username=ann&password={wrong}"])
async def test_a_refused_password_is_never_shown(own: StoreServer, given: str) -> None:
    right, wrong = secrets.token_hex(), secrets.token_hex()
    with own.raw() as raw:
        raw.config_set("requirepass", right)

    async with connected(own.url + given.format(wrong=wrong)) as store:
        with pytest.raises(StoreGoneError, match="password") as error:
            await store.ping()
    async with connected(f"{own.url}?password={right}") as store:
        await store.ping()

    assert wrong not in repr(error.value)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://:hush@127.0.0.1:1/3", "redis://127.0.0.1:1 can't be reached: Connection refused"),
        ("redis://ann:hush@[::1]:1", r"redis://\[::1\]:1 can't be reached"),
        ("rediss://:hush@127.0.0.1:1", "rediss://127.0.0.1:1 can't be reached: Connection refused"),
        ("unix://ann:hush@/no/such/socket?db=1", "unix:///no/such/socket can't be reached: No such file"),
        ("redis://127.0.0.1:1?password=hush", "redis://127.0.0.1:1 can't be reached"),
    ],
)
async def test_an_unreachable_server_is_named_without_its_secrets(url: str, place: str) -> None:
    async with connected(url) as store:
        with pytest.raises(StoreGoneError, match=place) as error:
            await store.ping()

    assert "hush" not in f"{error.value!r} {error.value.__cause__!r} {store.place}"


@pytest.mark.parametrize(
    "url",
    [
        "http://:hush@x",
        "redis://x:hush@y:port",
        "hush",
        "",
        "redis://[hush",
        "redis://x?retry=hush",
        "redis://x?hush=1",
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(StoreError) as error:
        RedisStore.from_url(url)

    assert "hush" not in str(error.value)


async def test_connections_over_tls_read_the_certificates_once(alone: StoreServer) -> None:
    async with over_tls(alone) as port, connected(f"rediss://127.0.0.1:{port}?ssl_cert_reqs=none") as store:
        await asyncio.gather(*(store.look(TARGET) for _ in range(60)))

        made = [
            one for one in (await store._servers.any())._pool._available_connections if isinstance(one, SSLConnection)
        ]

    assert len(made) > 1
    assert len({id(one.ssl_context) for one in made}) == 1


async def test_a_certificate_that_nobody_signed_is_refused(alone: StoreServer) -> None:
    async with over_tls(alone) as port, connected(f"rediss://127.0.0.1:{port}") as store:
        with pytest.raises(StoreGoneError, match=r"shows a certificate that isn't trusted: self.signed") as error:
            await store.ping()

    assert error.value.trouble == "shows a certificate that isn't trusted"


async def test_whoever_trusts_a_certificate_by_its_file_is_let_in(alone: StoreServer) -> None:
    trusted = Path(__file__).with_name("localhost.pem")
    options = f"ssl_ca_certs={trusted}&ssl_check_hostname=no"
    async with over_tls(alone) as port, connected(f"rediss://127.0.0.1:{port}?{options}") as store:
        await store.ping()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("ssl_ca_certs=/no/such/file", "No such file"),
        ("ssl_ca_path=/no/such/folder", "No such file"),
        ("ssl_ciphers=NONE-SUCH", "No cipher can be selected.$"),
    ],
)
def test_certificates_that_cannot_be_used_are_said_to_be_so(option: str, said: str) -> None:
    with pytest.raises(StoreError, match=f"certificates can't be used: {said}"):
        RedisStore.from_url(f"rediss://127.0.0.1:1?{option}")


async def test_what_a_day_has_cost_adds_up_and_is_kept_for_three_days(store: RedisStore, server: StoreServer) -> None:
    await asyncio.gather(*(store.spend("zai", "2026-01-01", 10, 0.25) for _ in range(20)))

    assert await store.spend("zai", "2026-01-01", 0, 0.0) == (200, 5.0)
    assert await store.spend("zai", "2026-01-02", 1, 0.000001) == (1, 0.000001)
    assert await store.spend("other", "2026-01-01", 0, 0.0) == (0, 0.0)
    with server.raw() as raw:
        assert 0 < raw.ttl("firstbyte:{spend:zai}:2026-01-01") <= 3 * 86_400


@pytest.mark.parametrize("binary", BINARIES.values(), ids=list(BINARIES))
async def test_a_node_of_a_cluster_takes_every_call(folder: Path, binary: str) -> None:
    async with one_node_cluster(folder, binary) as url, connected(url) as store:
        assert names((await record(store, good("a"))).log.reports) == ["a"]
        assert await apply(store) is not None
        assert len(await store.moves(TARGET, 5)) == 1
        assert len((await store.circuits([TARGET, "b/c", "d/e"]))[0]) == 3
        assert await store.spend("zai", "d", 1, 1.0) == (1, 1.0)
        await first_announcement(store)


async def first_announcement(store: RedisStore) -> None:
    """Hear of a move."""
    async with store.announcements() as heard:
        await apply(store)
        assert (await asyncio.wait_for(anext(heard), PATIENT_S))[0] == TARGET


async def test_no_connection_outlives_a_close_in_the_middle_of_a_call(own: StoreServer) -> None:
    """Whatever step of connecting or asking the close comes between."""
    with own.raw() as raw:
        before = len(raw.client_list())
        stores = [RedisStore.from_url(own.url, limit_s=PATIENT_S) for _ in range(60)]
        for steps, store in enumerate(stores):
            asking = asyncio.create_task(store.ping())
            for _ in range(steps):
                await asyncio.sleep(0)
            await store.close()
            await asyncio.wait([asking])

        async with asyncio.timeout(PATIENT_S):
            while len(raw.client_list()) > before:  # noqa: ASYNC110 # the server tells nobody
                await asyncio.sleep(0.01)


async def test_a_closed_store_makes_no_connection_anew(own: StoreServer) -> None:
    async with connected(own.url) as store:
        await store.close()

        with pytest.raises(StoreGoneError, match="can't be reached"):
            await store.ping()
