"""Agents' tasks: takes their facts in, and decides whether one is done."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from breaker.done import Bounds, Decision, decide
from breaker.errors import StoreError
from breaker.logged import STORE_TROUBLE
from breaker.run import Fact, Run, Stage, codec
from breaker.run.digests import key_of
from breaker.run.fold import NOTHING, more
from breaker.run.packing import pack, unpack
from breaker.store.contract import Added, Claim, KeptRun, RunStore
from breaker.switchboard import last_runs
from breaker.switchboard.folded_runs import MOST_BYTES, FoldedRuns, Kept
from breaker.switchboard.listeners import Concluded, Listeners, Staged, tell

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """A run as the store has it: since when, in seconds since 1970, and what is known; `mark` names it to others."""

    mark: str
    began: float | None
    run: Run


class Decided(NamedTuple):
    """What was decided of a run, and the stamp of what that rests on: while that is the same, so is the decision.

    The stamp is empty where the decision isn't counted yet, so that it is made once more.
    """

    stamp: str
    decision: Decision


class Runs:
    """The runs of all agents; each call asks the store, and of a run that is known here only what is new.

    `most_bytes` of what is known are kept.
    """

    def __init__(self, store: RunStore, listeners: Listeners, most_bytes: int = MOST_BYTES) -> None:
        self._store = store
        self._folded = FoldedRuns(most_bytes)
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
        known = self._folded.get(name)
        kept, found = await self._run(name, known, await self._store.read(name, known.stamp))
        return Followed(mark=mark_of(name), began=kept.began, run=found)

    async def done(self, run: str, bounds: Bounds, said: str = "") -> Decided | None:
        """Whether a run's task may be called done; None where its stamp is that of what was said. Raises StoreError."""
        name = key_of(run)
        known = self._folded.get(name)
        kept = await self._store.read(name, known.stamp or said)
        if kept.stamp == said:
            return None
        kept, found = await self._run(name, known, kept)
        decision = decide(found, bounds)
        counted = kept.began is None or await self._counted(name, kept, decision)
        return Decided(kept.stamp if counted else "", decision)

    async def last(self, limit: int) -> last_runs.Last:
        """The last decisions of all runs, and how often a claim of completion was untrue. Raises StoreError."""
        return last_runs.read(await self._store.last(limit))

    async def _run(self, name: str, known: Kept, kept: KeptRun) -> tuple[KeptRun, Run]:
        """A run as it now is, by what was known of it and what the store told since; and all that the store tells."""
        before = NOTHING if kept.whole else unpack(known.packed) if known.packed else None
        folded = before and more(before, codec.read(kept.lines), overfull=kept.overfull)
        if folded is None:
            return await self._run(name, known, await self._store.read(name))
        if kept.stamp != known.stamp and kept.began is not None:
            self._folded.keep(name, Kept(kept.stamp, pack(folded)))
        return kept, folded.run

    async def _counted(self, name: str, kept: KeptRun, decision: Decision) -> bool:
        """Let a decision be counted; whether it is: it holds as well where a full store takes no note of it."""
        try:
            await self._conclude(name, kept, decision)
        except StoreError as error:
            _log.warning("a decision about a run isn't counted: %s", error, extra=STORE_TROUBLE())
            return False
        return True

    async def _conclude(self, name: str, kept: KeptRun, decision: Decision) -> None:
        """Let a decision be counted, once however often and by whomever it is asked for."""
        last = decision.last
        decided = f"{','.join(decision.reasons)} {'' if last is None else last.id}"
        claimed = last.id if last is not None and decision.claimed else ""
        if (kept.decided, kept.claimed) == (decided, claimed or kept.claimed):
            return
        new, claim = await self._store.conclude(name, decided, claimed)
        if not (new or claim):
            return
        provider = None if last is None else last.target.partition("/")[0]
        counted = Claim(provider=provider, prevented=decision.prevented) if claim and provider else None
        mark = mark_of(name)
        tell(self._listeners.concluded, Concluded(mark=mark, decision=decision, provider=provider, claim=claim))
        await self._store.note(last_runs.write(mark, decision, provider), counted)


def mark_of(name: str) -> str:
    """The few letters by which a run is named to those who don't know its id."""
    return name[:8]
