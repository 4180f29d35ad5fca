"""Fills all that is bounded in a service and its store, so that whatever grows afterwards has no bound."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

from benchmarks._service import WELL, Service, said
from benchmarks._soak_crowd import batch
from breaker.api.reader import REMEMBERED
from breaker.history import SAMPLES, SLOTS
from breaker.log import BIN_S
from tests.store_server import StoreServer

# What is kept of each target: the ids of reports, ten-second bins, probes, moves.
IDS, BINS, PROBES, LEDGER = 4096, 60, 32, 200


async def move(ours: Service, targets: Sequence[str], each_s: float) -> None:
    """Let targets fail and be well again, so many seconds each, until as many moves were made as a service remembers.

    Whoever waits has then asked with as many tags, which it remembers too.
    """
    for behaviour in itertools.cycle(("http_error,status=500", WELL)):
        for target in targets:
            await ours.behave(target, behaviour)
        await asyncio.sleep(each_s)
        if behaviour == WELL and await ours.counted("firstbyte_circuit_moves_total") >= REMEMBERED:
            return


async def fill(ours: Service, server: StoreServer, flapping: str, steady: Sequence[str]) -> None:
    """Report until ids are full and wait until probes are; all else is doubled until there is as much as ever.

    By itself that would take a day of slots at the pace of real probes, and half an hour at this one.
    """
    targets = (flapping, *steady)
    for number in range(IDS * len(targets) // 1000 + 1):
        await asyncio.to_thread(said, f"{ours.url}/reports", batch(f"first-{number}", targets, 1000, bad=0))
        while await ours.counted("firstbyte_store_answers_waiting") > 1000:  # noqa: ASYNC110 # another process sets no event
            await asyncio.sleep(0.05)
    while not await asyncio.to_thread(_full, server, flapping, targets):  # noqa: ASYNC110 # nor does this one
        await asyncio.sleep(0.5)


def _full(server: StoreServer, flapping: str, targets: Sequence[str]) -> bool:
    """Whether all is full, once what can be doubled is."""
    with server.raw() as raw:
        for target in targets:
            _double_bins(raw, _key(target, "bins"))
            _double_slots(raw, _key(target, "slots"))
            _double(raw, _key(target, "samples"), SAMPLES, newest_first=False)
        _double(raw, _key(flapping, "moves"), LEDGER, newest_first=True)
        most = {"ids": (raw.zcard, IDS), "bins": (raw.llen, BINS), "probes": (raw.llen, PROBES)}
        most |= {"slots": (raw.hlen, SLOTS), "samples": (raw.llen, SAMPLES)}
        full = (count(_key(target, name)) >= least for target in targets for name, (count, least) in most.items())
        return raw.llen(_key(flapping, "moves")) >= LEDGER and all(full)


def _double(raw: Any, key: str, most: int, *, newest_first: bool) -> None:  # raw: of redis-py
    """The newest two again and again, as the oldest ones."""
    found = raw.lrange(key, 0, -1)
    if 2 <= len(found) < most:
        more = (found[:2] if newest_first else found[-2:]) * (most // 2)
        (raw.rpush if newest_first else raw.lpush)(key, *more[: most - len(found)])


def _double_bins(raw: Any, key: str) -> None:
    """Bins of the ten minutes before the oldest one, each as full as the newest."""
    bins = raw.lrange(key, 0, -1)
    if 0 < len(bins) < BINS:
        start, counts = int(bins[0].split(" ")[0]), bins[-1].partition(" ")[2]
        raw.lpush(key, *(f"{start - place * round(BIN_S)} {counts}" for place in range(1, BINS - len(bins) + 1)))


def _double_slots(raw: Any, key: str) -> None:
    """Slots before the oldest one, each as full as that one."""
    slots = {int(start): text for start, text in raw.hgetall(key).items()}
    if 0 < len(slots) < SLOTS:
        start, text = min(slots.items())
        length_s = int(text.split(" ")[0])
        more = {start - place * length_s: text for place in range(1, SLOTS - len(slots) + 1)}
        raw.hset(key, mapping=more)


def _key(target: str, name: str) -> str:
    return f"firstbyte:{{{target}}}:{name}"
