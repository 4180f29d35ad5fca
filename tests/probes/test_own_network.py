"""Stories of a prober whose own network goes, against simulated providers, a real store and real connections."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from breaker.answer import Answer, Ended
from breaker.circuit import Cause, State
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from monitor.network.connectivity import Connectivity
from monitor.network.ways import Proxies, address_of
from monitor.settings import Address, Settings
from monitor.simulator import Simulator
from tests.probes.world import HEALTHY, POLICY, World, plan, settings, world

NAMES = ("a/m", "b/m", "c/m")
REFUSED = "refused"
DIRECT = Proxies({})
_ids = itertools.count()


def seen(chosen: Settings) -> Connectivity:
    """The network of this process, which is looked at ten times a second while it is down."""
    return Connectivity(chosen, DIRECT, again_s=0.1)


async def cut(simulator: Simulator, names: Sequence[str] = NAMES) -> None:
    """Nobody can be reached any more."""
    for name in names:
        await simulator.set(name, REFUSED)


async def mend(simulator: Simulator, names: Sequence[str] = NAMES) -> None:
    """All are well again."""
    for name in names:
        await simulator.set(name, HEALTHY)


def unreached(target: str, **facts: object) -> Answer:
    """An agent's report of a connection that it didn't get."""
    told: dict[str, object] = {"target": target, "id": f"agent-{next(_ids)}", "seconds": 0.01}
    return Answer(**(told | {"ended": Ended.UNREACHABLE} | facts))  # type: ignore[arg-type] # a table of facts


def broken(target: str, ended: Ended = Ended.RESET) -> Answer:
    """An agent's report of an answer that broke off in the middle."""
    return unreached(target, ended=ended, seconds=0.4, status=200, headers_s=0.1, first_byte_s=0.2, text_chars=5)


async def test_all_providers_gone_at_once_move_nothing_and_are_well_again_after(store: RedisStore) -> None:
    """Probes go on and count for nothing, as do agents' reports of connections refused and broken."""
    async with Simulator(dict.fromkeys(NAMES, HEALTHY)) as simulator:
        chosen = settings(plan(simulator, name) for name in NAMES)
        async with seen(chosen) as network, world(chosen, store, network) as w:
            await w.until(lambda: all(w.probes(name) for name in NAMES))
            await cut(simulator)
            await w.until(lambda: all(len(failures(w, name)) >= 3 for name in NAMES))
            for name in NAMES:
                for answer in (*(unreached(name) for _ in range(3)), broken(name), broken(name, Ended.SILENCE)):
                    judged = await w.board.report(answer)
                    assert judged is not None
                    assert judged.answer.self_suspect
            suspect_s, gauge = w.board.self_suspect_s(), suspect(w)
            await mend(simulator)
            await w.until(lambda: w.board.self_suspect_s() is None)
            good = {name: len(w.probes(name)) - len(failures(w, name)) for name in NAMES}
            await w.until(lambda: all(len(w.probes(n)) - len(failures(w, n)) >= good[n] + 2 for n in NAMES))
            after = suspect(w)

    assert suspect_s is not None
    assert 0 < suspect_s < 60
    assert (gauge, after) == (1.0, 0.0)
    assert all(answer.self_suspect for name in NAMES for answer in failures(w, name))
    assert w.moves == []


def failures(w: World, name: str) -> list[Answer]:
    """The probes that nobody answered."""
    return [answer for answer in w.probes(name) if answer.ended is Ended.UNREACHABLE]


def suspect(w: World) -> float | None:
    return w.metrics.registry.get_sample_value("firstbyte_self_suspect")


async def test_one_of_three_providers_gone_opens_as_ever(store: RedisStore) -> None:
    async with Simulator(dict.fromkeys(NAMES, HEALTHY)) as simulator:
        chosen = settings(plan(simulator, name) for name in NAMES)
        async with seen(chosen) as network, world(chosen, store, network) as w:
            await w.until(lambda: all(w.probes(name) for name in NAMES))
            await cut(simulator, ["b/m"])
            await w.until(lambda: w.moves)

    assert [(target, move.cause) for target, move in w.moves] == [("b/m", Cause.ERRORS)]
    assert not any(answer.self_suspect for answer in w.probes("b/m"))


async def test_an_open_circuit_stays_as_it_is_meanwhile_and_is_proven_well_after(store: RedisStore) -> None:
    """Its hold ends, and it would long have closed unverified or opened again; by hand all can be done."""
    policy = replace(POLICY, hold_s=0.5, interval_s=0.3, silence_s=0.8, silent_intervals=2.0)
    async with Simulator(dict.fromkeys(NAMES, HEALTHY)) as simulator:
        chosen = settings(plan(simulator, name, policy) for name in NAMES)
        async with seen(chosen) as network, world(chosen, store, network) as w:
            await w.until(lambda: all(w.probes(name) for name in NAMES))
            await cut(simulator, ["a/m"])
            await w.until(lambda: w.moves)
            await cut(simulator)
            await w.until(lambda: w.board.self_suspect_s() is not None)
            moved, ended = len(w.moves), len(w.probes("a/m"))
            by_hand = [await w.board.hold("b/m", opened=True, who="me", why="test", for_s=60)]
            held = w.board.standing("b/m").state
            by_hand += filter(None, [await w.board.release("b/m", who="me", why="test")])
            # Silent for twice as long as would be taken for nobody's being there.
            silent_s = 2 * policy.silent_s
            await w.until(lambda: (w.board.self_suspect_s() or 0.0) > silent_s)
            half_open = w.board.standing("a/m").state
            asked = len(w.probes("a/m")) - ended
            meanwhile = [move for _, move in w.moves[moved:]]
            await mend(simulator)
            await w.until(lambda: w.board.standing("a/m").state is State.CLOSED)
        moves = [(target, move.cause) for target, move in w.moves]

    assert held is State.HELD_OPEN
    assert half_open is State.HALF_OPEN
    assert asked >= 2
    assert meanwhile == by_hand
    assert moves[-1] == ("a/m", Cause.RECOVERED)


async def test_a_door_without_probes_closes_nothing_unverified_while_its_network_is_down(store: RedisStore) -> None:
    """Nothing has failed there; it looks before it says that nobody probes."""
    policy = replace(POLICY, hold_s=0.1, interval_s=0.1, silence_s=0.2, silent_intervals=1.0)
    async with Simulator(dict.fromkeys(NAMES, REFUSED)) as simulator:
        chosen = settings(plan(simulator, name, policy) for name in NAMES)
        async with seen(chosen) as network:
            board = Switchboard(store, chosen.routes, {p.name: p.policy for p in chosen.targets}, network=network)
            blamed = Switchboard(store, chosen.routes, {p.name: p.policy for p in chosen.targets})
            for _ in range(2):
                await blamed.report(unreached("a/m"))
            await board.refresh()
            while board.self_suspect_s() is None:
                await board.settle()
            meanwhile = board.standing("a/m")
            await mend(simulator)
            while board.standing("a/m").state is not State.CLOSED:
                await board.settle()
            (closed, opened) = await board.moves("a/m")

    assert (opened.cause, closed.cause) == (Cause.ERRORS, Cause.UNVERIFIED)
    assert meanwhile.state is State.HALF_OPEN


@pytest.mark.parametrize("reachable", [True, False])
async def test_a_control_address_decides_both_ways(store: RedisStore, reachable: bool) -> None:
    """All providers refuse, or one of two."""
    names = ("a/m", "b/m", "control/m")
    await_open = NAMES[:2] if reachable else NAMES[:1]
    async with Simulator(dict.fromkeys(names, HEALTHY)) as simulator:
        chosen = settings(plan(simulator, name) for name in names[:2])
        control: Address = address_of(simulator.base_url("control"))
        chosen = replace(chosen, control=(control,))
        async with seen(chosen) as network, world(chosen, store, network) as w:
            await w.until(lambda: all(w.probes(name) for name in names[:2]))
            await cut(simulator, await_open if reachable else [*await_open, "control/m"])
            if reachable:
                await w.until(lambda: len(w.moves) == 2)
            else:
                await w.until(lambda: len(failures(w, "a/m")) >= 3)
            moved = {target: move.cause for target, move in w.moves}
            suspected = w.board.self_suspect_s() is not None

    assert moved == (dict.fromkeys(NAMES[:2], Cause.ERRORS) if reachable else {})
    assert suspected is not reachable


async def test_an_answer_that_comes_late_because_the_network_was_down_meanwhile_counts_for_nothing(
    store: RedisStore,
) -> None:
    """Its first byte is far too late and all is well again by then."""
    async with Simulator(dict.fromkeys(NAMES, REFUSED)) as simulator:
        chosen = settings(plan(simulator, name) for name in NAMES)
        async with seen(chosen) as network:
            board = Switchboard(store, chosen.routes, {p.name: p.policy for p in chosen.targets}, network=network)
            await board.report(unreached("a/m"))
            await mend(simulator)
            while network.suspect_since is not None:
                await board.settle()
            slow = {"ended": Ended.COMPLETE, "seconds": 50.0, "first_byte_s": 45.0, "end_mark": True, "text_chars": 5}
            overlapping = await board.report(unreached("a/m", **slow, status=200, headers_s=44.0))
            later = await board.report(unreached("a/m", **(slow | {"seconds": 45.0}), status=200, age_s=0.0))

    assert overlapping is not None
    assert overlapping.answer.self_suspect
    assert later is not None
    assert not later.answer.self_suspect
