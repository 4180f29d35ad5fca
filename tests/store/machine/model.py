"""What the store must keep of a target's answers, said once more in Python."""

from dataclasses import dataclass, field, replace
from math import floor

from breaker.answer import Answer, Part, Source
from breaker.log import BIN_S, Bin, Entry, Log, Weight, weigh
from breaker.policy import Policy
from breaker.usual import UNKNOWN, Usual
from breaker.verdict import Judgement, judge
from tests.store.machine.clock import shifted_entry, shifted_usual

KEPT = {Source.PROBE: 32, Source.REPORT: 64}
BINS, MODEST, ROW = 60, 20, 16
TOGETHER_US = 1_000_000


@dataclass
class Counted:
    """How many reports counted in ten seconds, and how many of them were kept one by one."""

    start: int
    kept: int = 0
    of: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("ok", "failure", "nothing", "late"), 0))


@dataclass(frozen=True)
class Kept:
    """An entry and what it counts as."""

    entry: Entry
    kind: str


@dataclass
class Model:
    """A target's log."""

    policy: Policy
    lists: dict[Source, list[Kept]] = field(default_factory=lambda: {source: [] for source in Source})
    bins: list[Counted] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    usual: Usual = UNKNOWN

    def log(self) -> Log:
        """The log as the store must give it."""
        return Log(
            probes=tuple(kept.entry for kept in self.lists[Source.PROBE]),
            reports=tuple(kept.entry for kept in self.lists[Source.REPORT]),
            bins=tuple(Bin(float(one.start), **one.of) for one in self.bins),
            usual=self.usual,
        )

    def newest(self) -> float:
        """When something counted last."""
        return max((kept.entry.at for entries in self.lists.values() for kept in entries), default=0.0)

    def record(self, answer: Answer, now: float, moved_at: float, waited_s: float = 0.0) -> bool:
        """Record an answer at a moment; False where it was known."""
        judgement, late, final = judge(answer), f'late "{answer.id}"', f'final "{answer.id}"'
        if final in self.ids or (answer.part is Part.LATE and late in self.ids):
            return False
        entries = self.lists[answer.source]
        place = next((i for i, kept in enumerate(entries) if kept.entry.answer.id == answer.id), None)
        kind = _kind(answer, judgement, self.policy)
        made = _entry(answer, judgement, now, waited_s)
        if place is not None:
            first = entries[place].entry
            entries[place] = Kept(replace(made, at=first.at, began=first.began, late=True), kind)
        elif late not in self.ids:
            self._append(Kept(made, kind), passes=now - answer.began_ago_s - waited_s > moved_at)
        self.ids.add(late if answer.part is Part.LATE else final)
        return True

    def _append(self, made: Kept, *, passes: bool) -> None:
        source = made.entry.answer.source
        entries = self.lists[source]
        if source is Source.REPORT and (counted := self._bin(floor(made.entry.at / BIN_S) * int(BIN_S))) is not None:
            row = len(entries) >= ROW and all(kept.kind == made.kind for kept in entries[-ROW:])
            counted.of[made.kind if passes else "nothing"] += 1
            if counted.kept >= MODEST and row:
                return
            counted.kept += 1
        if entries and 0 <= (ahead := round((entries[-1].entry.at - made.entry.at) * 1e6)) < TOGETHER_US:
            made = replace(made, entry=replace(made.entry, at=(round(made.entry.at * 1e6) + ahead + 1) / 1e6))
        entries.append(made)
        del entries[: -KEPT[source]]

    def _bin(self, start: int) -> Counted | None:
        """The bin of a moment; None where it has none any more."""
        for one in self.bins:
            if one.start == start:
                return one
        if len(self.bins) == BINS and self.bins[0].start > start:
            return None
        made = Counted(start)
        self.bins = sorted([*self.bins, made], key=lambda one: one.start)[-BINS:]
        return made

    def shift(self, by_s: int) -> None:
        """The clock was set."""
        for entries in self.lists.values():
            entries[:] = [replace(kept, entry=shifted_entry(kept.entry, by_s)) for kept in entries]
        for one in self.bins:
            one.start -= by_s
        self.usual = shifted_usual(self.usual, by_s)


def _kind(answer: Answer, judgement: Judgement, policy: Policy) -> str:
    weight = weigh(Entry(answer=answer, verdict=judgement.verdict, blame=judgement.blame, at=0.0, began=0.0), policy)
    if answer.part is Part.LATE:
        return "late"
    return {Weight.GOOD: "ok", Weight.SLOW: "late", Weight.FAILED: "failure"}.get(weight, "nothing")


def _entry(answer: Answer, judgement: Judgement, now: float, waited_s: float) -> Entry:
    now_us = round(now * 1e6)
    began_us = now_us - round((answer.began_ago_s + waited_s) * 1e6)
    at_us = now_us - round((max(0.0, answer.began_ago_s - answer.seconds) + waited_s) * 1e6)
    return Entry(
        answer=answer,
        verdict=judgement.verdict,
        blame=judgement.blame,
        at=max(at_us, 0) / 1e6,
        began=max(began_us, 0) / 1e6,
        late=answer.part is Part.LATE,
    )
