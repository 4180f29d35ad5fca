"""What the switchboard asks of a store."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from breaker.answer import Answer
from breaker.circuit import Circuit, Move
from breaker.errors import StoreError, StoreGoneError
from breaker.history import History, Keep
from breaker.log import Log, Weight
from breaker.usual import Usual
from breaker.verdict import Blame, Judgement, Verdict


@dataclass(kw_only=True, slots=True, eq=False)
class Weighed:
    """A judged answer on its way into a store, and what it counts as where it is only counted.

    `since` is the monotonic moment at which its facts were handed in; `tried` says that it was sent before without a
    reply, and may have counted.
    """

    answer: Answer
    judgement: Judgement
    since: float
    weight: Weight = Weight.NOTHING
    tried: bool = False

    @property
    def verdict(self) -> Verdict:
        """What it was."""
        return self.judgement.verdict

    @property
    def blame(self) -> Blame:
        """The verdict's class."""
        return self.judgement.blame


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A target as the store sees it at its own time `now`.

    `counted` says of each answer that was recorded whether it counted: False for one known before.
    """

    circuit: Circuit
    log: Log
    now: float
    counted: tuple[bool, ...] = ()


class Added(StrEnum):
    """What became of a fact of a run."""

    KNOWN = "0"
    NEW = "1"
    LEFT_OUT = "2"  # the run holds as much as one may


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptRun:
    """A run as a store keeps it: its facts as lines, and since when; None where there is no run.

    `whole` says that these are all of its facts; else they are those that came after a known stamp, and all that was
    known then still holds. `stamp` is another as soon as anything is added. Times are seconds since 1970. `decided` and
    `claimed` are what was concluded of it last, empty for nothing.
    """

    stamp: str
    whole: bool
    lines: tuple[str, ...]
    began: float | None
    overfull: bool
    decided: str
    claimed: str


class Conclusion(NamedTuple):
    """What was decided of a run, and which step was claimed to be its end, empty for none."""

    name: str
    decided: str
    claimed: str


class Novel(NamedTuple):
    """Whether a decision is another than the one before, and whether its claimed step wasn't claimed before."""

    decision: bool
    claim: bool


class Note(NamedTuple):
    """A decision as a line, and, where completion was claimed: whose answer it rests on, whether it was prevented."""

    line: str
    claimed_by: str | None = None
    prevented: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class LastRuns:
    """The last decisions as lines, newest first; how often completion was claimed, and how often that was prevented."""

    lines: tuple[str, ...]
    claimed: Mapping[str, int]
    prevented: Mapping[str, int]
    now: float


class RunStore(Protocol):
    """Keeps runs under names that tell nothing. Everything raises StoreGoneError within the store's limit."""

    async def add(self, name: str, lines: Sequence[str]) -> tuple[Added, ...]:
        """Add facts, each once; what became of each."""
        ...

    async def read(self, name: str, known: str = "") -> KeptRun:
        """What is kept of a run: what came after a known stamp where the store can tell, else all."""
        ...

    async def conclude(self, made: Sequence[Conclusion]) -> list[Novel | StoreError]:
        """Note what was decided of runs; what is new in each, or why it can't be noted. Makes no run."""
        ...

    async def note(self, notes: Sequence[Note]) -> None:
        """Note decisions among the last ones of all runs, in their order, and count the claims."""
        ...

    async def last(self, limit: int) -> LastRuns:
        """The last decisions of all runs."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Circuits:
    """The circuits that could be read; those whose keys are of another kind are left out.

    `now` is the store's time, None where the part that tells it is gone. `gone` is why the others couldn't be read.
    """

    circuits: dict[str, Circuit]
    now: float | None
    gone: dict[str, StoreGoneError]


# The most moves of a target that a store keeps, the newest.
LEDGER = 200


class Store(Protocol):
    """What the switchboard asks of a store. Everything raises StoreGoneError within the store's limit."""

    @property
    def runs(self) -> RunStore:
        """Where runs are kept."""
        ...

    async def record(self, weighed: Sequence[Weighed], sent_at: float, keep: Keep) -> Reading:
        """Append answers of one target and one source to its log, in their order, once for each part of an id.

        `sent_at` is the monotonic moment up to which they have waited, `keep` what is kept of them besides. Gives
        what is known after them.
        """
        ...

    async def learn(self, target: str, usual: Usual) -> None:
        """Keep what is now a target's usual speed."""
        ...

    async def look(self, target: str) -> Reading:
        """What is known of a target; writes nothing."""
        ...

    async def apply(self, target: str, move: Move, judged: Circuit) -> Move | None:
        """Make a move if the circuit is still the judged one, and announce it; None if another was faster.

        Gives the move as it was made: a circuit that the store didn't have yet gets its epoch here.
        """
        ...

    def ahead_s(self, target: str) -> float:
        """How far the clock that a target's moves go by is ahead of the one that is told for all circuits."""
        ...

    async def circuits(self, targets: Sequence[str]) -> tuple[dict[str, Circuit], float]:
        """All circuits in one round trip, and the store's time; those whose keys are of another kind are left out."""
        ...

    async def seen(self, targets: Sequence[str]) -> Circuits:
        """All circuits that can be read, in one round trip. Raises StoreGoneError where none can."""
        ...

    async def moves(self, target: str, limit: int) -> list[Move]:
        """The newest moves of a target, newest first; of more than LEDGER that many."""
        ...

    async def histories(self, targets: Sequence[str]) -> dict[str, History]:
        """What is kept of each target's last day, in one round trip; keys of another kind are left out."""
        ...

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        """Take the one claim on a target, or renew it; False while another holder has it. It lapses by itself."""
        ...

    async def unclaim(self, target: str, holder: str) -> None:
        """Give a claim back; one that another has taken since stays as it is."""
        ...

    def announcements(self) -> AbstractAsyncContextManager[AsyncIterator[tuple[str, Circuit]]]:
        """Circuits as they move, from the moment of entering on, until the connection breaks or is silent."""
        ...
