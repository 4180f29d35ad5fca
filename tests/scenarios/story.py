"""One target's answers and moves on a clock that stands still until it is told to go on."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from breaker import circuit as circuits
from breaker.answer import Answer, Ended
from breaker.circuit import Cause, Circuit, Move, State
from breaker.log import Entry, Log, Weight, weigh
from breaker.policy import Policy
from breaker.route import Decision, Route, choose
from breaker.target import Provider, Target
from tests.entries import by_agent, entry, failed, good, silent

# The store's time at which every story begins; all moments of a story are seconds after it.
START = 1_000_000.0
PROBES, REPORTS, BIN_S = 32, 64, 10.0

Kind = Callable[..., Entry]

PRIMARY, BACKUP = (
    Target(provider=Provider(name=name, base_url="http://127.0.0.1/v1", wire="openai-chat"), model="m")
    for name in ("first", "second")
)
ROUTE = Route(name="coder", targets=(PRIMARY, BACKUP))


def cancelled(at: float, **facts: object) -> Entry:
    """An exchange that its caller ended before any limit of ours."""
    return entry(at, **{"ended": Ended.CANCELLED, "first_byte_s": None, "seconds": 3.0, **facts})  # type: ignore[arg-type]


def throttled(at: float, *, retry_after_s: float | None = None, **facts: object) -> Entry:
    """An HTTP 429."""
    made = entry(at, **{"status": 429, "first_byte_s": None, **facts})  # type: ignore[arg-type] # facts of entry()
    return replace(made, answer=replace(made.answer, retry_after_s=retry_after_s))


def unreachable(at: float, **facts: object) -> Entry:
    """No connection."""
    return entry(at, **{"status": None, "first_byte_s": None, "ended": Ended.UNREACHABLE, **facts})  # type: ignore[arg-type]


class Story:
    """What happens to one circuit, moved as the switchboard moves it; `moves` are all that were made."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.circuit = Circuit(epoch="e")
        self.log = Log()
        self.moves: list[Move] = []
        self._now = START
        self._count = 0

    # What happens

    def go(self, at: float) -> None:
        """Let time pass until a moment; the clock makes its moves on the way."""
        end = START + at
        assert end >= self._now, "a story goes forward; only `set_clock` sets its clock"
        while (then := circuits.next_due(self.circuit, self.log, self.policy, self._now)) is not None and then <= end:
            self._now = then
            self._settle()
        self._now = end
        self._settle()

    def probe(self, kind: Kind, at: float, *, began: float | None = None, **facts: object) -> Move | None:
        """A probe's answer that counts at a moment; gives the move that it made."""
        made = self._made(kind, at, began, facts)
        self.go(at)
        self.log = replace(self.log, probes=_with(self.log.probes, made, PROBES))
        return self._settle()

    def probes(self, kind: Kind, moments: Iterable[float]) -> None:
        """A probe of one kind at each moment."""
        for at in moments:
            self.probe(kind, at)

    def report(self, kind: Kind, at: float, *, began: float | None = None, **facts: object) -> Move | None:
        """An agent's report, likewise."""
        made = by_agent(self._made(kind, at, began, facts))
        self.go(at)
        self.log = replace(self.log, reports=_with(self.log.reports, made, REPORTS), **self._binned(made))  # type: ignore[arg-type]
        return self._settle()

    def reports(self, kind: Kind, moments: Iterable[float]) -> None:
        """A report of one kind at each moment."""
        for at in moments:
            self.report(kind, at)

    def trip_at_85(self) -> None:
        """Two silences: the first probe begins at 0 s, the confirming one at 45 s. Open from 85 s to 685 s."""
        self.probe(silent, 40.0, began=0.0)
        self.probe(silent, 85.0, began=45.0)
        assert (self.state, self.ends) == (State.OPEN, 685.0)

    def half_open_at_690(self) -> None:
        """Open from 85 s on, with bad probes until shortly before the hold's end."""
        self.trip_at_85()
        self.probes(failed, range(120, 685, 60))
        self.go(690.0)
        assert self.state is State.HALF_OPEN

    def closed_at_685(self) -> None:
        """Open from 85 s on, with good probes until it closes."""
        self.trip_at_85()
        self.probes(good, range(120, 685, 60))
        self.go(685.0)
        assert (self.state, self.last.cause) == (State.CLOSED, Cause.RECOVERED)

    def set_clock(self, by_s: float) -> Move | None:
        """Set the store's clock."""
        self._now += by_s
        return self._settle()

    # What is seen

    @property
    def now(self) -> float:
        """The store's time."""
        return self._now

    @property
    def state(self) -> State:
        """What the circuit is."""
        return circuits.state(self.circuit, self._now)

    @property
    def ends(self) -> float | None:
        """When the hold ends, seconds after the start of the story."""
        return None if self.circuit.open_until is None else round(self.circuit.open_until - START, 3)

    @property
    def last(self) -> Move:
        """The newest move."""
        return self.moves[-1]

    def causes(self) -> list[Cause]:
        """Why it moved, in order."""
        return [move.cause for move in self.moves]

    def openings(self) -> list[float]:
        """When it opened, seconds after the start of the story."""
        return [round(move.at - START, 3) for move in self.moves if move.after is State.OPEN]

    def decision(self) -> Decision:
        """Where a step goes that would like to come here and has a healthy backup."""
        return choose(ROUTE, {PRIMARY.name: self.circuit}, self._now)

    # Inside

    def _made(self, kind: Kind, at: float, began: float | None, facts: dict[str, object]) -> Entry:
        self._count += 1
        told = {"name": f"answer-{self._count}"} | ({} if began is None else {"began": START + began}) | facts
        return kind(START + at, **told)

    def _settle(self) -> Move | None:
        """Make what is due; gives the first move."""
        first = None
        for _ in range(16):
            move = circuits.due(self.circuit, self.log, self.policy, self._now)
            if move is None:
                return first
            first = first or move
            self.circuit = move.circuit
            self.moves.append(move)
        raise AssertionError("the circuit moves without end")

    def _binned(self, made: Entry) -> dict[str, object]:
        """Count a report as the store does, once the log has bins."""
        if not hasattr(self.log, "bins"):
            return {}
        from breaker.log import Bin

        start = made.at // BIN_S * BIN_S
        bins = list(self.log.bins)
        if not bins or bins[-1].start != start:
            bins.append(Bin(start))
        weight = weigh(made, self.policy)
        field = "late" if made.late else {Weight.GOOD: "ok", Weight.NOTHING: "nothing"}.get(weight, "failure")
        bins[-1] = replace(bins[-1], **{field: getattr(bins[-1], field) + 1})
        return {"bins": tuple(bins[-60:])}


def _with(entries: tuple[Entry, ...], made: Entry, length: int) -> tuple[Entry, ...]:
    """The entries and one more; a final part takes the place of its late part."""
    for i, known in enumerate(entries):
        if known.answer.id == made.answer.id:
            return (*entries[:i], replace(made, at=known.at, began=known.began, late=True), *entries[i + 1 :])
    return (*entries, made)[-length:]


def answer(**facts: object) -> Answer:
    """The facts of a complete, good answer, and what is different."""
    told: dict[str, object] = {
        "target": PRIMARY.name,
        "id": "a",
        "ended": Ended.COMPLETE,
        "seconds": 2.0,
        "status": 200,
        "first_byte_s": 1.0,
        "end_mark": True,
        "text_chars": 9,
    }
    return Answer(**(told | facts))  # type: ignore[arg-type] # a table of facts
