"""One place in half-open for all replicas, and what becomes of it."""

import asyncio

import pytest

from tests.scenarios.claims import Claims, claims
from tests.scenarios.monitoring import now, open_until, seat
from tests.store_server import StoreServer

__all__ = ["claims"]


@pytest.mark.scenario("herd-1")
async def test_of_fifty_who_want_to_try_at_once_one_may(claims: Claims) -> None:
    """Fifty askers meet a circuit whose hold has just ended."""
    granted = await asyncio.gather(*(claims.ask(f"asker-{i}") for i in range(50)))

    assert sum(granted) == 1


@pytest.mark.scenario("herd-5")
async def test_of_eight_replicas_one_may_try_and_its_death_gives_the_place_back(
    claims: Claims, server: StoreServer
) -> None:
    """Eight replicas want to try; the one that may dies."""
    granted = await asyncio.gather(*(claims.ask(f"replica-{i}") for i in range(8)))
    assert sum(granted) == 1
    assert not await claims.ask("replica-8")

    claims.let_time_pass(server, claims.for_s + 1)
    assert await claims.ask("replica-8")


@pytest.mark.scenario("herd-6")
async def test_a_fleet_sends_one_probe_a_turn_and_not_one_each(claims: Claims, server: StoreServer) -> None:
    """Eight replicas watch a dead target for an hour of half-open."""
    sent = 0
    for _ in range(20):
        sent += sum(await asyncio.gather(*(claims.ask(f"replica-{i}") for i in range(8))))
        claims.let_time_pass(server, claims.for_s + 1)

    assert sent == 20


@pytest.mark.scenario("herd-7")
async def test_neither_tasks_of_one_process_nor_processes_crowd_in(claims: Claims) -> None:
    """Fifty tasks in one process, eight processes besides."""
    place, hold_over = seat(), open_until(685.0)
    taken = 0
    for _ in range(50):
        if (extra := place.besides(now(690.0, hold_over))) is not None and extra.at <= 690.0:
            place.start(extra)
            place.take(690.0)
            taken += 1
    granted = await asyncio.gather(*(claims.ask(f"process-{i}") for i in range(8)))

    assert (taken, sum(granted)) == (1, 1)


@pytest.mark.scenario("stuck-12")
async def test_a_lost_claim_ends_at_its_time_however_often_others_ask(claims: Claims, server: StoreServer) -> None:
    """The holder is gone, and another asks again and again."""
    assert await claims.ask("lost")
    for _ in range(5):
        before = claims.left_s(server)
        assert not await claims.ask("other")
        assert claims.left_s(server) <= before

    claims.let_time_pass(server, claims.for_s + 1)
    assert await claims.ask("other")
