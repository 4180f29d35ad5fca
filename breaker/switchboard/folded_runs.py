"""What this process knows of the runs that were asked for last."""

from collections import OrderedDict
from typing import NamedTuple

from breaker.run.packing import Packed

# Of one with fifty answers and as many operations some 13 KB are kept.
MOST_BYTES = 48_000_000
# What an entry takes besides.
_BESIDES = 500


class Kept(NamedTuple):
    """A run as bytes, and the stamp of the facts that are in it; None where nothing is known."""

    stamp: str = ""
    packed: Packed | None = None

    @property
    def bytes(self) -> int:
        """The room that it takes."""
        return sum(map(len, self.packed or ())) + _BESIDES


UNKNOWN = Kept()


class FoldedRuns:
    """Runs as they were last folded, by their names; the newest, as many as have room in `most_bytes`."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, name: str) -> Kept:
        """What is known of a run; nothing where nothing is."""
        return self._kept.get(name, UNKNOWN)

    def keep(self, name: str, kept: Kept) -> None:
        """Know this of a run from now on."""
        self.drop(name)
        self._kept[name] = kept
        self.bytes += kept.bytes
        while self.bytes > self._most_bytes:
            self.drop(next(iter(self._kept)))

    def drop(self, name: str) -> None:
        """Know nothing of a run any longer."""
        before = self._kept.pop(name, None)
        if before is not None:
            self.bytes -= before.bytes
