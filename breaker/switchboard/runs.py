"""Agents' tasks: takes their facts in, and decides whether one is done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from breaker.cache import Cache
from breaker.done import Bounds, Ruling, decide
from breaker.run import Fact, Run, Stage, codec
from breaker.run.digests import key_of
from breaker.run.fold import NOTHING, more
from breaker.run.packing import Packed, pack, unpack
from breaker.store.contract import Added, KeptRun, RunStore
from breaker.switchboard import last_runs
from breaker.switchboard.concluding import Concluding, mark_of
from breaker.switchboard.listeners import Listeners, Staged, tell

# Of runs as they were last folded; of one with fifty answers and as many operations some 13 KB are kept.
MOST_BYTES = 48_000_000
# What a kept run takes besides.
_BESIDES = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """A run as the store has it: since when, in seconds since 1970, and what is known; `mark` names it to others."""

    mark: str
    began: float | None
    run: Run


class Decided(NamedTuple):
    """What was decided of a run, and the stamp of what that rests on: while that is the same, so is the decision."""

    stamp: str
    ruling: Ruling


class _Known(NamedTuple):
    """A run as it was last folded, and the stamp of the facts that are in it; None where nothing is known."""

    stamp: str = ""
    packed: Packed | None = None

    @property
    def bytes(self) -> int:
        """The room that it takes."""
        return sum(map(len, self.packed or ())) + _BESIDES


_UNKNOWN = _Known()


class Runs:
    """The runs of all agents; each call asks the store, and of a run that is known here only what is new.

    `most_bytes` of what is known are kept.
    """

    def __init__(self, store: RunStore, listeners: Listeners, most_bytes: int = MOST_BYTES) -> None:
        self._store = store
        self._folded = Cache[str, _Known](most_bytes)
        self._concluding = Concluding(store, listeners)
        self._listeners = listeners

    async def add(self, run: str, facts: Sequence[Fact]) -> bool:
        """Add facts to a run, each once; False where some aren't kept since there are too many. Raises StoreError."""
        name = key_of(run)
        became = await self._store.add(name, [codec.write(fact) for fact in facts])
        for fact, what in zip(facts, became, strict=True):
            if isinstance(fact, Stage) and what is Added.NEW:
                tell(self._listeners.staged, Staged(mark=mark_of(name), stage=fact))
        return Added.LEFT_OUT not in became

    async def read(self, run: str) -> Followed:
        """All that is known of a run; empty where nothing is. Raises StoreError."""
        name = key_of(run)
        known = self._folded.get(name, _UNKNOWN)
        kept, found = await self._run(name, known, await self._store.read(name, known.stamp))
        return Followed(mark=mark_of(name), began=kept.began, run=found)

    async def done(self, run: str, bounds: Bounds, said: str = "") -> Decided | None:
        """Whether a run's task may be called done; None where its stamp is that of what was said. Raises StoreError."""
        name = key_of(run)
        known = self._folded.get(name, _UNKNOWN)
        kept = await self._store.read(name, known.stamp or said)
        if kept.stamp == said:
            self._concluding.go_on()
            return None
        kept, found = await self._run(name, known, kept)
        ruling = decide(found, bounds)
        if kept.began is not None:
            await self._concluding.conclude(name, kept, ruling)
        return Decided(kept.stamp, ruling)

    async def last(self, limit: int) -> last_runs.Last:
        """The last decisions of all runs, and how often a claim of completion was untrue. Raises StoreError."""
        await self._concluding.settled()
        return last_runs.read(await self._store.last(limit))

    async def drain(self, within_s: float) -> None:
        """Let all that has been decided be counted, for so long at most."""
        await self._concluding.drain(within_s)

    async def _run(self, name: str, known: _Known, kept: KeptRun) -> tuple[KeptRun, Run]:
        """A run as it now is, by what was known of it and what the store told since; and all that the store tells."""
        if kept.whole:
            known = _UNKNOWN
        before = unpack(known.packed) if known.packed else NOTHING
        useful = kept.whole or known.packed
        folded = more(before, codec.read(kept.lines), overfull=kept.overfull) if useful else None
        if folded is None:
            return await self._run(name, _UNKNOWN, await self._store.read(name))
        if kept.stamp != known.stamp and kept.began is not None:
            known = _Known(kept.stamp, pack(folded, before, known.packed))
            self._folded.keep(name, known, known.bytes)
        return kept, folded.run
