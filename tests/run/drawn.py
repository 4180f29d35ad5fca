"""Facts of runs as hypothesis draws them: few ids and places, so that they often meet."""

from hypothesis import strategies as st

from breaker.run import Effect, Fact, Outcome, State
from breaker.run.facts import Check, Stage
from breaker.verdict import Blame, Verdict
from tests.run.made import answer

_PLACES, _IDS = st.integers(0, 6), st.sampled_from("abc")
_KINDS = st.sampled_from([(Verdict.OK, Blame.OK), (Verdict.TOOL_CALL, Blame.OK), (Verdict.EMPTY, Blame.INCONCLUSIVE)])
_STEPS = st.builds(
    lambda id_, seq, kind, calls: answer(seq, id=id_, verdict=kind[0], blame=kind[1], calls=calls),
    _IDS,
    _PLACES,
    _KINDS,
    st.sampled_from([None, "aa", "bb"]),
)
_STAGES = st.builds(
    Stage,
    id=_IDS,
    seq=_PLACES,
    tool=st.sampled_from(["refund", "mail"]),
    state=st.sampled_from(State),
    effect=st.sampled_from(Effect),
    attempt=st.integers(1, 2),
    needs=st.sampled_from([(), ("b",)]),
    replaces=st.sampled_from([(), ("a",), ("c",)]),
    required=st.sampled_from([None, True, False]),
    idempotency_key=st.sampled_from([None, "k"]),
    retryable=st.sampled_from([None, True]),
    result=st.sampled_from([None, "ab" * 8]),
    reference=st.none(),
    error=st.none(),
    arguments=st.none(),
    seconds=st.none(),
    at_s=st.sampled_from([None, 1.5]),
)
_CHECKS = st.builds(
    Check, id=_IDS, seq=_PLACES, name=st.sampled_from(["tests", "lint"]), outcome=st.sampled_from(Outcome)
)
FACTS: st.SearchStrategy[Fact] = st.one_of(_STEPS, _STAGES, _CHECKS)
# What is told at one time, after what was told before.
TOLD = st.lists(st.lists(FACTS, max_size=4), max_size=6)
