"""Runs as they really arrive: in any order, twice, late, with gaps where a process died between two calls."""

import random
from collections import defaultdict

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from breaker.done import Ruling, decide
from breaker.run import Effect, Fact, Outcome, Says, Stage, State, Step, codec, fold
from breaker.verdict import Blame, Verdict
from monitor.metrics.runs import possible
from tests.run.made import answer, check, wrote

POSSIBLE = set(possible())
OVER = (State.SUCCEEDED, State.FAILED, State.UNKNOWN)
KINDS = st.sampled_from(
    [
        (Verdict.OK, Blame.OK),
        (Verdict.TOOL_CALL, Blame.OK),
        (Verdict.EMPTY, Blame.PROVIDER_FAILURE),
        (Verdict.GATEWAY_TEXT, Blame.INCONCLUSIVE),
        (Verdict.LENGTH, Blame.CALLER_FAULT),
        (Verdict.CANCELLED, Blame.INCONCLUSIVE),
    ]
)
ENDS = st.sampled_from([State.SUCCEEDED, State.FAILED, State.UNKNOWN])


class Runs(RuleBasedStateMachine):
    """An agent that works, a way on which what it tells may be late or come twice, and whoever decides at the end."""

    begun = Bundle("begun")

    def __init__(self) -> None:
        super().__init__()
        self.seq = 0
        self.under_way: list[Fact] = []
        self.arrived: list[Fact] = []
        self.attempts = defaultdict[str, int](int)
        self.keyed: dict[str, bool] = {}

    def tell(self, fact: Fact) -> None:
        self.under_way.append(fact)

    def next(self) -> int:
        self.seq += 1
        return self.seq

    # The agent

    @rule(kind=KINDS, says=st.sampled_from([None, *Says]), calls=st.sampled_from(["aa", "bb", "cc"]))
    def answers(self, kind: tuple[Verdict, Blame], says: Says | None, calls: str) -> None:
        verdict, blame = kind
        called = calls if verdict is Verdict.TOOL_CALL else None
        self.tell(answer(self.next(), calls=called, verdict=verdict, blame=blame, says=says))

    @rule(
        target=begun,
        name=st.sampled_from("abcd"),
        writes=st.booleans(),
        keyed=st.booleans(),
        required=st.sampled_from([None, True, False]),
        need=st.sampled_from([(), ("a",), ("b",), ("a", "c")]),
    )
    def begins(
        self, name: str, *, writes: bool, keyed: bool, required: bool | None, need: tuple[str, ...]
    ) -> tuple[str, int]:
        self.attempts[name] += 1
        effect = Effect.WRITE if writes else Effect.READ
        key = "k" if self.keyed.setdefault(name, keyed) else None
        attempt = min(self.attempts[name], 20)
        more = {"effect": effect, "required": required, "idempotency_key": key, "attempt": attempt, "needs": need}
        self.tell(wrote(name, self.next(), State.EXECUTING, **more))
        return name, attempt

    @rule(which=begun, state=ENDS)
    def ends(self, which: tuple[str, int], state: State) -> None:
        """Never called for some: their process has died."""
        name, attempt = which
        key = "k" if self.keyed[name] else None
        self.tell(wrote(name, self.next(), state, attempt=attempt, idempotency_key=key))

    @rule()
    def somebody_looks_and_all_has_happened(self) -> None:
        for name, attempts in self.attempts.items():
            key = "k" if self.keyed[name] else None
            for attempt in range(1, min(attempts, 20) + 1):
                self.tell(wrote(name, self.next(), State.SUCCEEDED, attempt=attempt, idempotency_key=key))
        self.tell(check(self.next(), Outcome.PASSED))
        self.tell(answer(self.next()))

    @rule(name=st.sampled_from("abcd"))
    def plans(self, name: str) -> None:
        self.tell(wrote(name, self.next(), State.PLANNED))

    @rule(outcome=st.sampled_from(Outcome))
    def checks(self, outcome: Outcome) -> None:
        self.tell(check(self.next(), outcome))

    # The way

    @rule(data=st.data())
    def arrives(self, data: st.DataObject) -> None:
        if self.under_way:
            place = data.draw(st.integers(0, len(self.under_way) - 1))
            self.arrived.append(self.under_way.pop(place))

    @rule(data=st.data())
    def arrives_again(self, data: st.DataObject) -> None:
        if self.arrived:
            self.arrived.append(data.draw(st.sampled_from(self.arrived)))

    @rule()
    def all_arrive(self) -> None:
        self.arrived += self.under_way
        self.under_way.clear()

    # Whoever decides

    def ruling(self) -> Ruling:
        return decide(fold(self.arrived))

    @invariant()
    def nothing_is_done_while_the_last_answer_is_none(self) -> None:
        steps = [fact for fact in self.arrived if isinstance(fact, Step)]
        last = max(steps, key=lambda step: step.seq, default=None)
        if self.ruling().completion_allowed:
            assert last is not None
            assert last.blame is Blame.OK
            assert last.verdict is Verdict.OK

    @invariant()
    def nothing_is_done_while_a_needed_operation_has_not_surely_succeeded(self) -> None:
        if self.ruling().completion_allowed:
            stages = defaultdict[str, list[Stage]](list)
            for fact in self.arrived:
                if isinstance(fact, Stage):
                    stages[fact.id].append(fact)
            assert [name for name, found in stages.items() if needed(found) and not surely(found)] == []

    @invariant()
    def nothing_is_done_while_a_check_speaks_against_it(self) -> None:
        if self.ruling().completion_allowed:
            assert all(one.outcome is Outcome.PASSED for one in fold(self.arrived).checks)

    @invariant()
    def the_same_evidence_gives_the_same_decision_in_whatever_order_it_came(self) -> None:
        lines = {codec.write(fact) for fact in self.arrived}
        read = codec.read(list(lines))
        shuffled = [*self.arrived, *self.arrived[::2]]
        random.Random(len(shuffled)).shuffle(shuffled)

        assert len(read) == len(lines)
        assert decide(fold(shuffled)) == decide(fold(read)) == self.ruling()

    @invariant()
    def it_is_one_of_the_decisions_that_are_counted(self) -> None:
        ruling = self.ruling()

        assert (ruling.completion, ruling.reason) in POSSIBLE

    @invariant()
    def a_message_never_says_more(self) -> None:
        ruling = self.ruling()

        assert ruling.message.startswith("The task is done.") is ruling.completion_allowed
        assert ("is not done" in ruling.message) is not ruling.completion_allowed


def needed(stages: list[Stage]) -> bool:
    said = [one.required for one in stages if one.required is not None]
    return any(said) if said else any(one.effect is Effect.WRITE for one in stages)


def surely(stages: list[Stage]) -> bool:
    """Whether an operation has happened once, by a reckoning of its own: by the last end told of each attempt."""
    attempts = defaultdict[int, list[Stage]](list)
    for one in stages:
        attempts[one.attempt].append(one)
    ends = {}
    for number, found in attempts.items():
        over = sorted((one for one in found if one.state in OVER), key=lambda one: one.seq)
        begun = any(one.state is State.EXECUTING for one in found)
        ends[number] = over[-1].state if over else State.EXECUTING if begun else State.PLANNED
    harmless = any(one.idempotency_key for one in stages) or all(one.effect is Effect.READ for one in stages)
    doubtful = {State.EXECUTING, State.UNKNOWN} & set(ends.values())
    return State.SUCCEEDED in ends.values() and (harmless or not doubtful)


Runs.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestRuns = Runs.TestCase
