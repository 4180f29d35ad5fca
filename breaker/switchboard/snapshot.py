"""What one process knows of all targets: their circuits, their last answers, and the store's time."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from breaker.circuit import Circuit
from breaker.history import History
from breaker.log import Log
from breaker.store.contract import Reading
from breaker.switchboard.clock import StoreClock
from breaker.usual import UNKNOWN

# Between two reads of all circuits; a move whose announcement was lost is known within this.
REFRESH_S = 0.5
# A snapshot that could not be read anew is stale when it is older than the first; whatever the reason, when it is older
# than the second. Of two reads one may fail. Where none has failed we stood still ourselves, and are about to read.
STALE_AFTER_S = 1.0
OLD_AFTER_S = 3.0


class Snapshot:
    """The circuits as they were last read or heard of, the newest of each, and the store's time.

    Every `at` is a moment of our own monotonic clock.
    """

    def __init__(self) -> None:
        self.circuits: dict[str, Circuit] = {}
        self.logs: dict[str, Log] = {}
        self.histories: dict[str, History] = {}
        self.clock: StoreClock | None = None
        self._read_at: float | None = None
        self.trouble = ""  # why the last read has failed; empty where it hasn't
        self.behind: dict[str, float | None] = {}  # circuits that weren't read with the others, and when they last were
        self.part_trouble = ""  # why those weren't
        self._left: dict[str, str] = {}  # each circuit's epoch before its present one

    def now(self, at: float) -> float | None:
        """The store's time as far as it is known here; None before the first read."""
        return None if self.clock is None else self.clock.now(at)

    def age_s(self, at: float, names: Collection[str] | None = None) -> float | None:
        """How old what is known of some targets is, at most; None before the first read. Without names: of all."""
        reads = [self._read_at, *(self.behind[name] for name in self._behind(names))]
        known = [read for read in reads if read is not None]
        return at - min(known) if len(known) == len(reads) else None

    def fresh_s(self, at: float, names: Collection[str] | None = None) -> float:
        """For how long it will be fresh if nothing is read; 0 where it is stale."""
        age_s, failed = self.age_s(at, names), self.trouble or self._behind(names)
        return 0.0 if age_s is None else max((STALE_AFTER_S if failed else OLD_AFTER_S) - age_s, 0.0)

    def answered(self, at: float, name: str) -> bool:
        """Whether a circuit was read when it was last to be, which isn't long ago."""
        return not self.trouble and name not in self.behind and self.fresh_s(at, [name]) > 0

    def told_time(self, began: float, ended: float, now: float) -> None:
        """The store's time was `now` somewhere between two moments."""
        self.clock = StoreClock.read(began, ended, now, self.clock)

    def was_read(self, began: float, ended: float, gone: Mapping[str, str] | None = None) -> bool:
        """Circuits were read between two moments; whether that is a change.

        `gone` are circuits that couldn't be read, and why.
        """
        gone = gone or {}
        change = bool(self.trouble) or self.fresh_s(ended, ()) == 0 or gone.keys() != self.behind.keys()
        self.behind = {name: self.behind.get(name, self._read_at) for name in gone}
        self.part_trouble = next(iter(gone.values()), "")
        self._read_at = began if self._read_at is None else max(began, self._read_at)
        self.trouble = ""
        return change

    def _behind(self, names: Collection[str] | None) -> list[str]:
        return [name for name in self.behind if names is None or name in names]

    def not_read(self, trouble: str) -> bool:
        """They couldn't be read because of something; whether that is a change."""
        change, self.trouble = not self.trouble, trouble
        return change

    def forget_all_but(self, names: Collection[str]) -> None:
        """Forget all other targets."""
        for known in (self.circuits, self.logs, self.histories, self._left, self.behind):
            for name in [name for name in known if name not in names]:
                del known[name]

    def keep(self, name: str, circuit: Circuit) -> None:
        """Know this circuit from now on."""
        known = self.circuits.get(name)
        if known is not None and known.epoch != circuit.epoch:
            self._left[name] = known.epoch
        self.circuits[name] = circuit

    def news(self, name: str, circuit: Circuit) -> bool:
        """Whether a circuit that was announced is newer than what is known.

        Epochs have no order, but what was left behind is old: an announcement may come later than what was read.
        """
        known = self.circuits.get(name)
        if known is not None and known.epoch == circuit.epoch:
            return known.generation < circuit.generation
        return circuit.epoch != self._left.get(name)

    def differs(self, name: str, circuit: Circuit) -> bool:
        """Whether a circuit that was read is another than the known one.

        One that has moved as often may be another: a copy from before the last move has moved on in its own way.
        """
        return self.circuits.get(name) != circuit

    def remembered(self, target: str, reading: Reading) -> Reading:
        """The reading, with the usual speed that is known here where the store has lost it."""
        known = self.logs.get(target, Log()).usual
        lost = reading.log.usual == UNKNOWN != known
        return replace(reading, log=replace(reading.log, usual=known)) if lost else reading
