"""What one process knows of all targets: their circuits, their last answers, and the store's time."""

from dataclasses import replace

from breaker.circuit import Circuit
from breaker.log import Log
from breaker.store.contract import Reading
from breaker.switchboard.clock import StoreClock
from breaker.usual import UNKNOWN

# Between two reads of all circuits; a move whose announcement was lost is known within this.
REFRESH_S = 0.5
# A snapshot older than this is served as stale: two reads in a row have failed.
STALE_AFTER_S = 1.0


class Snapshot:
    """The circuits as they were last read or heard of, the newest of each, and the store's time.

    Every `at` is a moment of our own monotonic clock.
    """

    def __init__(self) -> None:
        self.circuits: dict[str, Circuit] = {}
        self.logs: dict[str, Log] = {}
        self.clock: StoreClock | None = None
        self._read_at: float | None = None
        self._left: dict[str, str] = {}  # each circuit's epoch before its present one

    def now(self, at: float) -> float | None:
        """The store's time as far as it is known here; None before the first read."""
        return None if self.clock is None else self.clock.now(at)

    def age_s(self, at: float) -> float | None:
        """How old all this is, at most; None before the first read."""
        return None if self._read_at is None else at - self._read_at

    def stale(self, at: float) -> bool:
        """Whether the store hasn't answered lately."""
        age = self.age_s(at)
        return age is None or age > STALE_AFTER_S

    def was_read(self, began: float, ended: float, now: float) -> None:
        """All circuits have been read between two moments, when the store's time was `now`."""
        self.clock = StoreClock.read(began, ended, now, self.clock)
        self._read_at = began

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
        """Whether a circuit that was read is another than the known one."""
        known = self.circuits.get(name)
        return known is None or (known.epoch, known.generation) != (circuit.epoch, circuit.generation)

    def remembered(self, target: str, reading: Reading) -> Reading:
        """The reading, with the usual speed that is known here where the store has lost it."""
        known = self.logs.get(target, Log()).usual
        lost = reading.log.usual == UNKNOWN != known
        return replace(reading, log=replace(reading.log, usual=known)) if lost else reading
