"""What holds for a circuit whatever happens to it, in whatever order, by whatever clock."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from breaker import circuit as circuits
from breaker.circuit import CLOCK_SLACK_S, OPENS, Cause, Circuit, Move, State
from breaker.log import BIN_S, Bin, Entry, Log, Weight, telling, weigh
from breaker.policy import Policy
from breaker.route import Role, Route, choose
from breaker.target import Provider, Target
from tests.circuit.made import said, usual_of
from tests.entries import by_agent, failed, good, refused, silent, slow

POLICIES = (
    Policy(),
    Policy(errors_row=1, slow_row=3, recover_row=1, wary_s=0.0),
    Policy(errors_row=3, slow_row=1, recover_row=3),
    Policy(probing=False),
    Policy(hold_growth=2.0, hold_max_s=1500.0, throttled_row=1, rate_answers=3),
)
KINDS: dict[str, Callable[..., Entry]] = {
    "good": good,
    "sluggish": partial(good, first_byte_s=30.0, seconds=31.0),
    "slow": slow,
    "failed": failed,
    "faulty request": refused,
    "silent": silent,
    "no credit": partial(said, status=402),
    "throttled": partial(said, status=429),
    "told to wait": partial(said, status=429, retry_after_s=90.0),
}
WITHSTOOD = ("good", "good", "failed", "slow", "silent", "no credit", "throttled", "told to wait")
BAD = (Weight.SLOW, Weight.FAILED, Weight.REFUSED)
USUAL = usual_of(2.0)
COLUMN = {Weight.GOOD: "ok", Weight.SLOW: "late", Weight.FAILED: "failure"}
CLOSES = (Cause.RECOVERED, Cause.UNVERIFIED, Cause.WAITED)
PRIMARY, BACKUP = (
    Target(provider=Provider(name=name, base_url="http://x/v1", wire="openai-chat"), model="m") for name in "pq"
)
ROUTE = Route(name="coder", targets=(PRIMARY, BACKUP))


class CircuitMachine(RuleBasedStateMachine):
    """One circuit with the log that a store would keep, moved as the switchboard moves it."""

    @initialize(policy=st.sampled_from(POLICIES))
    def begin(self, policy: Policy) -> None:
        self.policy = policy
        self.now = 1_000_000.0
        self.circuit = Circuit(epoch="e")
        self.log = Log(usual=USUAL)
        self.count = 0

    # What may happen

    @rule(
        kind=st.sampled_from(sorted(KINDS)),
        probe=st.booleans(),
        age_s=st.sampled_from([2.0, 45.0, 130.0, 700.0]),
        after_s=st.sampled_from([0.0, 5.0, 15.0, 60.0, 151.0]),
        confirms=st.booleans(),
        waited_s=st.sampled_from([0.0, 0.0, 0.0, 400.0]),
    )
    def answer(
        self, kind: str, probe: bool, age_s: float, after_s: float, confirms: bool = False, waited_s: float = 0.0
    ) -> None:
        self.now += after_s
        self.settle()
        opens = self.one_bad_probe_opens() and probe and kind == "failed" and waited_s == 0.0
        before = self.circuit
        asked = self.log.reports[-1].answer.id if confirms and probe and self.log.reports else None
        self.count += 1
        made = KINDS[kind](self.now - waited_s, began=self.now - waited_s - age_s, name=f"{self.count}", confirms=asked)
        if probe:
            self.log = replace(self.log, probes=(*self.log.probes, made)[-32:])
        else:
            self.report(by_agent(made))
        self.settle(newest=made if waited_s == 0.0 else None)
        if opens and made.began > before.moved_at:
            assert self.circuit.open_until == self.now + self.circuit.hold_s
        if probe:
            self.log = replace(self.log, usual=circuits.learnt(self.circuit, self.log, self.policy, made, self.now))

    def report(self, made: Entry) -> None:
        """Keep a report, and count it as the store does."""
        start = made.at // BIN_S * BIN_S
        counts = {b.start: b for b in self.log.bins}
        weight = weigh(made, self.policy) if made.began > self.circuit.moved_at else Weight.NOTHING
        column, found = COLUMN.get(weight, "nothing"), counts.get(start, Bin(start))
        counts[start] = replace(found, **{column: getattr(found, column) + 1})
        bins = tuple(sorted(counts.values(), key=lambda b: b.start))[-60:]
        self.log = replace(self.log, reports=(*self.log.reports, made)[-64:], bins=bins)

    @rule(bad=st.integers(0, 12), good_ones=st.integers(0, 12))
    def busy_agents(self, bad: int, good_ones: int) -> None:
        """Many reports within a moment."""
        for i in range(bad + good_ones):
            self.answer(kind="failed" if i % 2 < 1 and i // 2 < bad else "good", probe=False, age_s=1.0, after_s=0.1)

    @precondition(lambda self: self.circuit.open_until is None)
    @rule(kinds=st.lists(st.sampled_from(WITHSTOOD), max_size=20))
    def reports_that_it_withstands(self, kinds: list[str]) -> None:
        """As many bad ones as it is said to withstand, and good ones between them, leave it as it is."""
        for _ in range(10):
            self.answer(kind="good", probe=False, age_s=1.0, after_s=1.0)
        before, bad = self.circuit, sum(kind != "good" for kind in kinds)
        withstood = circuits.withstands(self.circuit, self.log, self.policy, self.now, bad)
        event(f"withstood: {withstood}")
        for kind in kinds:
            self.answer(kind=kind, probe=False, age_s=45.0 if kind == "silent" else 1.0, after_s=0.0)
        assert self.circuit == before or not withstood

    @rule(kind=st.sampled_from(["sluggish", "sluggish", "good"]), count=st.integers(4, 12))
    def probes_of_one_kind(self, kind: str, count: int) -> None:
        """A slump comes, or goes."""
        for _ in range(count):
            self.answer(kind=kind, probe=True, age_s=31.0, after_s=60.0)

    def one_bad_probe_opens(self) -> bool:
        """Half-open at rest, and no clock has been set back since the newest probe."""
        at_rest = circuits.due(self.circuit, self.log, self.policy, self.now) is None
        over = self.circuit.open_until is not None and self.now >= self.circuit.open_until
        return at_rest and over and all(entry.at <= self.now for entry in self.log.probes)

    @precondition(lambda self: self.circuit.open_until is None)
    @rule()
    def outage(self) -> None:
        """Enough bad probes to open any policy's circuit."""
        for _ in range(3):
            self.answer(kind="failed", probe=True, age_s=2.0, after_s=5.0)

    @precondition(lambda self: self.circuit.open_until is not None)
    @rule(then_s=st.sampled_from([0.0, 200.0, 400.0]))
    def good_probes(self, then_s: float) -> None:
        """Enough to close any policy's circuit, if they are still fresh when the hold ends."""
        for _ in range(3):
            self.answer(kind="good", probe=True, age_s=2.0, after_s=5.0)
        self.time_passes(then_s)

    @precondition(lambda self: self.circuit.open_until is not None)
    @rule(past_s=st.sampled_from([-0.001, 0.0, 0.1, 30.0]), watched=st.sampled_from([True, True, False]))
    def until_the_hold_ends(self, past_s: float, watched: bool) -> None:
        end = self.circuit.open_until or 0.0
        if watched and end - 10.0 > self.now:  # a bad probe shortly before keeps it from closing at its end
            self.answer(kind="failed", probe=True, age_s=2.0, after_s=end - 10.0 - self.now)
        self.now = max(self.now, end + past_s)
        self.settle()

    @precondition(lambda self: circuits.state(self.circuit, self.now) is State.HALF_OPEN)
    @rule(kind=st.sampled_from(["good", "good", "failed"]))
    def half_open_probe(self, kind: str) -> None:
        self.answer(kind=kind, probe=True, age_s=2.0, after_s=15.0)

    @rule(seconds=st.sampled_from([0.5, 20.0, 200.0, 5_000.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.settle()

    @rule(step_s=st.sampled_from([-5_000.0, -300.0, -0.9, 3_600.0]))
    def the_clock_is_set(self, step_s: float) -> None:
        self.now += step_s

    @rule(opened=st.booleans(), for_s=st.sampled_from([1.0, 100.0, 2_000.0]))
    def by_hand(self, opened: bool, for_s: float) -> None:
        until = self.now + for_s
        self.make(circuits.hold(self.circuit, self.now, opened=opened, who="ann", why="test", until=until))
        assert circuits.state(self.circuit, self.now) is (State.HELD_OPEN if opened else State.HELD_CLOSED)
        self.settle()
        assert self.circuit.held is not None
        assert self.circuit.held.until - self.now >= for_s - CLOCK_SLACK_S

    @rule()
    def let_go(self) -> None:
        held = self.circuit.held
        move = circuits.release(self.circuit, self.now, who="bob", why="test")
        assert (move is None) is (held is None)
        if move is not None:
            self.make(move)
            assert self.circuit.held is None
        self.settle()

    @rule(step_s=st.sampled_from([0.0, 0.0, -400.0, 400.0]))
    def the_store_forgets(self, step_s: float) -> None:
        known, self.now = self.circuit, self.now + step_s
        back = circuits.restored(known, Circuit(), self.now)
        if back is None:
            self.circuit, self.log = Circuit(epoch="f"), Log(usual=USUAL)
            return
        assert back.generation == known.generation + 1
        if known.open_until is not None:
            assert back.open_until is None or back.open_until <= known.open_until
        if known.held is not None:
            assert back.held is None or back.held.until <= known.held.until
        self.circuit, self.log = replace(back, epoch="f"), Log(usual=USUAL)
        self.settle()

    # How it is moved

    def settle(self, newest: Entry | None = None) -> None:
        """Make what is due, as often as something is; it comes to rest at once. No good newest answer opens."""
        for _ in range(4):
            move = circuits.due(self.circuit, self.log, self.policy, self.now)
            if move is None:
                return
            event(f"{move.before} -> {move.after}: {move.cause}")
            self.check(move)
            self.make(move)
            if newest is not None and weigh(newest, self.policy) is Weight.GOOD:
                assert move.cause not in OPENS or move.cause is Cause.SLUMP
        raise AssertionError(f"it doesn't come to rest: {move}")

    def make(self, move: Move) -> None:
        before, after = self.circuit, move.circuit
        assert after.generation == before.generation + 1
        assert after.epoch == before.epoch
        if move.cause is not Cause.MANUAL:  # by hand, a clock that was set may be noticed on the way
            assert move.before is circuits.state(before, self.now)
        assert move.after is circuits.state(after, self.now)
        assert move.why
        self.circuit = after

    def check(self, move: Move) -> None:
        before, after, now = self.circuit, move.circuit, self.now
        if move.cause in OPENS or move.cause in CLOSES:
            assert after.held == before.held
            assert after.moved_at == now
            assert all(entry.began > before.moved_at for entry in move.answers)
        if before.open_until is not None and now < before.open_until and after.open_until != before.open_until:
            refusal_over = move.cause is Cause.RECOVERED and before.cause is not None and before.cause.refusal
            assert refusal_over or move.cause is Cause.CLOCK  # else nothing shortens or lengthens a hold
        if move.cause in OPENS:
            self.check_opening(move, after)
        elif move.cause is Cause.RECOVERED and before.cause is not None and before.cause.refusal:
            assert weigh(move.answers[-1], self.policy) is Weight.GOOD
        elif move.cause is Cause.RECOVERED:
            assert before.open_until is not None
            assert now >= before.open_until
            assert [weigh(e, self.policy) for e in move.answers] == [Weight.GOOD] * self.policy.recover_row
            assert now - move.answers[-1].at <= self.policy.fresh_s
        elif move.cause in (Cause.UNVERIFIED, Cause.WAITED):
            assert before.open_until is not None
            assert now >= before.open_until
        elif move.cause is Cause.HOLD_OVER:
            assert before.held is not None
            assert now >= before.held.until
            assert after == replace(before, held=None, generation=after.generation)
        else:
            assert move.cause is Cause.CLOCK

    def check_opening(self, move: Move, made: Circuit) -> None:
        assert move.answers
        weights = {weigh(entry, self.policy) for entry in move.answers}
        assert made.open_until is not None
        if move.cause is Cause.RATE_LIMITED:
            assert weights == {Weight.THROTTLED}
            assert self.now < made.open_until <= self.now + max(made.hold_s, self.policy.hold_s)
            return
        assert weights <= ({Weight.GOOD, Weight.SLOW} if move.cause is Cause.SLUMP else set(BAD))
        assert self.policy.hold_s <= made.hold_s <= max(self.policy.hold_max_s, self.policy.hold_s)
        assert made.open_until == self.now + made.hold_s
        if move.cause in (Cause.SLOW, Cause.ERRORS):
            gaps = self.gaps(move.answers)
            if self.circuit.open_until is not None:  # any since the hold's end, as long as the monitor isn't silent
                assert gaps.pop() < self.policy.silent_s
            assert all(gap <= self.policy.row_gap_s for gap in gaps)

    # What holds at every moment

    @invariant()
    def no_hold_is_longer_than_it_was_made(self) -> None:
        if self.circuit.open_until is not None:
            righted = circuits.due(self.circuit, self.log, self.policy, self.now)
            circuit = righted.circuit if righted else self.circuit
            assert circuit.open_until is None or circuit.open_until - self.now <= self.longest_s + CLOCK_SLACK_S

    @property
    def longest_s(self) -> float:
        return max(self.circuit.hold_s, self.policy.hold_s)

    @invariant()
    def an_open_circuit_says_why(self) -> None:
        if self.circuit.open_until is not None:
            assert self.circuit.cause in OPENS

    @invariant()
    def looking_changes_nothing_and_misses_nothing(self) -> None:
        probes = telling(self.log.probes, self.policy, self.circuit.moved_at)
        newest = [e for e in probes if e.at <= self.now + CLOCK_SLACK_S][-self.policy.errors_row :]
        if circuits.due(self.circuit, self.log, self.policy, self.now) is not None:
            return  # a clock was set and nobody has looked since
        failures = [e for e in newest if weigh(e, self.policy) is Weight.FAILED]
        if self.circuit.open_until is None and len(failures) == self.policy.errors_row:
            assert any(gap > self.policy.row_gap_s for gap in self.gaps(failures))

    def gaps(self, entries: Sequence[Entry]) -> list[float]:
        """From the end of each to the begin of the next, and from the last to now."""
        begins = [*(entry.began for entry in entries[1:]), self.now]
        return [begin - entry.at for entry, begin in zip(entries, begins, strict=True)]

    @invariant()
    def without_any_answer_it_closes(self) -> None:
        """There is no dead end: the clock alone leads out of every state."""
        circuit, now = self.circuit, self.now
        for _ in range(40):  # old bad probes may open it anew, where a clock was set; that ends as well
            while (move := circuits.due(circuit, self.log, self.policy, now)) is not None:
                circuit = move.circuit
            then = circuits.next_due(circuit, self.log, self.policy, now)
            if then is None:
                assert circuits.state(circuit, now) is State.CLOSED
                return
            assert then > now
            now = then
        raise AssertionError("it never closes")

    @invariant()
    def agents_are_sent_where_they_may_go(self) -> None:
        decision = choose(ROUTE, {PRIMARY.name: self.circuit}, self.now)
        passes = circuits.state(self.circuit, self.now).passes
        assert decision.role is (Role.PRIMARY if passes else Role.BACKUP)
        assert (decision.until_s or 1.0) > 0
        alone = choose(Route(name="x", targets=(PRIMARY,)), {PRIMARY.name: self.circuit}, self.now)
        assert (alone.role is Role.LAST_RESORT) is not passes
        assert passes or (alone.retry_after_s or 0.0) > 0


CircuitMachine.TestCase.settings = settings(
    max_examples=150, stateful_step_count=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestCircuit = CircuitMachine.TestCase
