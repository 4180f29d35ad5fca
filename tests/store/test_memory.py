"""The store's memory has a limit for each target, however many answers come."""

import socket

import pytest

from breaker.answer import Answer, Source
from breaker.log import Entry
from breaker.store import codec
from breaker.store.redis import RedisStore
from breaker.store.script import RECORD
from breaker.verdict import Verdict
from tests.store.answers import KEEP, failed, good, probe, record, weighed
from tests.store_server import StoreServer

PATIENT_S = 60.0
# More than the ids that are kept of a target, so that after the first fifth all is full.
FULL = 4_400


@pytest.fixture
def server(alone: StoreServer) -> StoreServer:
    """A server that answers may be poured into."""
    return alone


def answer(number: int, targets: int) -> Answer:
    target, name = f"p/m{number % targets}", f"answer-{number:032d}"
    if number % 53 == 0:  # of every target, however many there are
        return probe(name, target=target)
    return (failed if number % 3 else good)(name, target=target, source=Source.REPORT)


def used(server: StoreServer) -> int:
    """The bytes of all keys."""
    with server.raw() as raw:
        return sum(int(raw.memory_usage(key, samples=0)) for key in raw.scan_iter("firstbyte:*"))


def pour(server: StoreServer, numbers: range, targets: int) -> None:
    """Record so many answers as quickly as the server can: it sends no reply until all are in."""
    with socket.socket(socket.AF_UNIX) as way:
        way.connect(str(server.socket))
        way.sendall(packed("CLIENT", "REPLY", "OFF"))
        for first in range(numbers.start, numbers.stop, 1000):
            chunk = range(first, min(first + 1000, numbers.stop))
            way.sendall(b"".join(packed(*record_call(answer(number, targets))) for number in chunk))
        way.sendall(packed("CLIENT", "REPLY", "ON"))
        way.settimeout(PATIENT_S)
        assert way.recv(100) == b"+OK\r\n"


def record_call(made: Answer) -> list[str | int]:
    """The words that the store sends to have an answer recorded."""
    names = ("circuit", "probes", "reports", "ids", "bins", "usual", "slots", "samples")
    keys = [f"firstbyte:{{{made.target}}}:{name}" for name in names]
    return [
        *("EVALSHA", RECORD._digest, len(keys), *keys, made.source.value, "0123456789abcdef"),
        *(codec.write_weighed(weighed(made), 0.0, codec.write_members(weighed(made))), KEEP.slot_s, 0),
    ]


def packed(*words: str | int) -> bytes:
    """A command as the server reads it."""
    texts = [str(word).encode() for word in words]
    return b"".join([b"*%d\r\n" % len(texts), *(b"$%d\r\n%s\r\n" % (len(text), text) for text in texts)])


def plateau(server: StoreServer, answers: int, targets: int) -> float:
    """How much larger the store is after all answers than after a fifth of them."""
    with server.raw() as raw:
        raw.script_load(RECORD._text)
    pour(server, range(answers // 5), targets)
    before = used(server)
    pour(server, range(answers // 5, answers), targets)
    with server.raw() as raw:
        assert [raw.zcard(name) for name in raw.scan_iter("firstbyte:*:ids")] == [4096] * targets
    return used(server) / before


def test_memory_stays_flat(server: StoreServer) -> None:
    assert plateau(server, 5 * FULL, targets=1) < 1.1


@pytest.mark.soak
def test_memory_stays_flat_over_a_million_answers(server: StoreServer) -> None:
    """In three minutes; the bins of ten minutes are the only thing that may still grow after a fifth of them."""
    assert plateau(server, 1_000_000, targets=20) < 1.05


async def test_what_is_poured_is_what_the_store_would_record(store: RedisStore, server: StoreServer) -> None:
    made = [answer(number, 1) for number in range(100)]
    first = (await record(store, *made)).log
    with server.raw() as raw:
        raw.flushall()

    pour(server, range(100), targets=1)

    second = (await store.look(made[0].target)).log
    assert [shape(entry) for entry in (*first.probes, *first.reports)] == [
        shape(entry) for entry in (*second.probes, *second.reports)
    ]


def shape(entry: Entry) -> tuple[Answer, Verdict, float]:
    """All of an entry but when it was."""
    return entry.answer, entry.verdict, round(entry.at - entry.began, 3)


def test_the_answers_are_of_all_targets_and_kinds() -> None:
    made = [answer(number, 3) for number in range(200)]

    assert len({a.target for a in made}) == 3
    assert {a.source for a in made} == set(Source)
    assert {a.status for a in made} == {200, 500}
