"""What probes have cost is counted, whatever the store makes of it."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from breaker.route import Route
from breaker.store.redis import RedisStore
from monitor.budget import Level
from monitor.metrics import Metrics
from monitor.schedule.till import Till
from monitor.settings import Budget, Settings
from tests.fixtures import _worker_server, folder, server, store, store_url
from tests.probes.test_budget import answer, plan
from tests.store_server import StoreServer

__all__ = ["_worker_server", "folder", "server", "store", "store_url"]

TIGHT = plan(budget=Budget(tokens_per_day=20_000))
CHOSEN = Settings(targets=(TIGHT,), routes=(Route(name="coder", targets=(TIGHT.target,)),), data=Path("/nowhere"))
ASKED = answer(prompt_tokens=9_000, completion_tokens=1_000)


def ours() -> list[str]:
    """Where the spending of today lies, and that of tomorrow, which may begin meanwhile."""
    today = datetime.now(UTC)
    return [f"firstbyte:{{spend:p}}:{(today + timedelta(days=days)).date()}" for days in (0, 1)]


async def test_a_sum_that_the_store_cannot_keep_is_kept_here_and_told_later(
    store: RedisStore, server: StoreServer, caplog: pytest.LogCaptureFixture
) -> None:
    till = Till([TIGHT], store, Metrics(CHOSEN))
    with server.raw() as raw:
        for key in ours():
            raw.set(key, "mine")

    with caplog.at_level(logging.WARNING, "monitor.schedule.till"):
        for _ in range(2):
            await till.pay(ASKED, TIGHT)
        while_damaged = await till.spent()

    assert [(one.tokens, one.share) for one in while_damaged] == [(20_000, 1.0)]
    assert till.level("p") is Level.SPENT
    (told,) = (record.message for record in caplog.records if "here alone" in record.message)
    assert told.startswith("what probing p costs is counted here alone: ")
    with server.raw() as raw:
        raw.delete(*ours())
    await till.pay(ASKED, TIGHT)
    other = Till([TIGHT], store, Metrics(CHOSEN))
    assert [one.tokens for one in await other.spent()] == [30_000]
