"""How much room there is left for runs."""

from pathlib import Path

import pytest

from breaker.errors import StoreGoneError
from breaker.store.contract import Added
from breaker.store.redis import RedisStore
from breaker.store.room import BELIEVED_S, Room
from tests.fixtures import PATIENT_S
from tests.store.answers import good, record
from tests.store_server import BINARIES, StoreServer


@pytest.mark.parametrize(
    ("said", "short"),
    [
        pytest.param({"used_memory": 90, "maxmemory": 100}, False, id="nine tenths"),
        pytest.param({"used_memory": 91, "maxmemory": 100}, True, id="more"),
        pytest.param({"used_memory": 91, "maxmemory": 0}, False, id="no limit"),
        pytest.param({"used_memory": 91}, False, id="a limit that isn't told"),
        pytest.param(StoreGoneError("no", "no"), False, id="a user who may not ask"),
    ],
)
def test_a_server_is_nearly_full_above_nine_tenths(said: object, *, short: bool) -> None:
    room = Room()
    room.told(said)

    assert room.short is short


def test_it_is_asked_now_and_then() -> None:
    room = Room()

    assert [room.due(at) for at in (5.0, 5.0 + BELIEVED_S / 2, 5.0 + BELIEVED_S, 6.0 + BELIEVED_S)] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("binary", BINARIES.values(), ids=list(BINARIES))
async def test_what_is_left_of_a_server_is_for_circuits_and_for_runs_under_way(folder: Path, binary: str) -> None:
    with StoreServer(binary, folder) as own, own.raw() as raw:
        raw.setrange("much", 20_000_000, "x")
        raw.config_set("maxmemory", int(raw.info("memory")["used_memory"] * 1.05))
        store = RedisStore.from_url(own.url, limit_s=PATIENT_S)
        try:
            await store.runs.add("one", ["a"])
            with pytest.raises(StoreGoneError, match="out of memory"):
                await store.runs.add("two", ["a"])
            more = await store.runs.add("one", ["b"])
            await record(store, good("a"))
        finally:
            await store.close()

    assert more == (Added.NEW,)
