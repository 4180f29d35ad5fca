"""Reads what the store keeps of targets, each line once for as long as it stands there."""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from breaker.circuit import Move
from breaker.history import History, Sample, Slot
from breaker.log import Bin, Entry, Log
from breaker.logged import STORE_TROUBLE
from breaker.store import codec
from breaker.store.contract import Weighed
from breaker.usual import read as read_usual

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class Known(Generic[_T]):
    """What some lines meant when they were read last; what isn't read again is forgotten."""

    def __init__(self) -> None:
        self._last: dict[str, _T | None] = {}

    def __len__(self) -> int:
        return len(self._last)

    def read(self, lines: Sequence[str], read: Callable[[str], _T | None]) -> list[_T | None]:
        """What the lines mean, None for those that can't be read; only new ones are read."""
        last = self._last
        self._last = now = {line: last[line] if line in last else read(line) for line in lines}
        return [now[line] for line in lines]


class _Target:
    """What is known of one target's lines: all that is read again and again stays alike but for a few."""

    def __init__(self) -> None:
        self.probes, self.reports = Known[Entry](), Known[Entry]()
        self.bins, self.slots, self.samples = Known[Bin](), Known[Slot](), Known[Sample]()


class Reader:
    """Makes logs and histories of the store's lines; those of another version are left out, which is said once."""

    def __init__(self) -> None:
        self._targets = defaultdict[str, _Target](_Target)
        self._told: set[str] = set()

    def log(
        self,
        target: str,
        lists: Sequence[Sequence[str]],
        usual: str | None,
        written: Mapping[str, Weighed],
    ) -> Log:
        """A target's log by its lists: probes, reports and bins. `written`: see `codec.read_entry`."""
        known, (probes, reports, bins) = self._targets[target], lists

        def entry(line: str) -> Entry | None:
            return codec.read_entry(line, written)

        return Log(
            probes=tuple(self._readable(known.probes.read(probes, entry))),
            reports=tuple(self._readable(known.reports.read(reports, entry))),
            bins=tuple(self._readable(known.bins.read(bins, codec.read_bin))),
            usual=read_usual(usual or ""),
        )

    def history(self, target: str, slots: Sequence[str], samples: Sequence[str]) -> History:
        """What is kept of a target's last day."""
        known = self._targets[target]
        read = self._readable(known.samples.read(samples, codec.read_sample))
        return History(
            slots=tuple(self._readable(known.slots.read(slots, codec.read_slot))),
            samples=tuple(sorted(read, key=lambda sample: sample.at)),  # one that waited came later than it counted
        )

    def moves(self, lines: Sequence[str]) -> list[Move]:
        """The moves of a ledger."""
        return self._readable([codec.read_move(line) for line in lines])

    def tell_once(self, words: str, *numbers: int) -> None:
        """Log a trouble with so many lines or keys, the first time that it is met."""
        if words not in self._told:
            self._told.add(words)
            _log.warning(words, *numbers, extra=STORE_TROUBLE(count=numbers[0]))

    def _readable(self, found: Sequence[_T | None]) -> list[_T]:
        """What could be read; the first time that something couldn't, it is said."""
        readable = [one for one in found if one is not None]
        if len(readable) < len(found):
            missing = len(found) - len(readable)
            self.tell_once("%d of %d lines in the store are another version's and are left out", missing, len(found))
        return readable
