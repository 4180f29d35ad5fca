"""What a client decides while the service is away; the clock is the test's own."""

import copy
from collections.abc import Iterable

import pytest
from hypothesis import given as given_by_hypothesis
from hypothesis import strategies as st

from breaker.answer import Answer
from breaker.client import Spot
from breaker.client.alone import Alone
from breaker.client.plan import UNREADABLE, Plan, agreeing, given, read
from breaker.client.said import Decision, Needs, Source
from breaker.client.step import Step
from breaker.policy import Policy
from breaker.route import turn_s
from breaker.verdict import judge
from tests.api.world import failed, good, slow
from tests.client import serving

A, B, C = "zai/glm-5.3-flash", "open/glm", "own/small"
SPOTS: list[Spot] = [
    {"target": A, "base_url": "https://a.example", "wire": "openai-chat", "api_key_env": "A_KEY"},
    {"target": B, "base_url": "https://b.example", "wire": "openai-chat"},
]
CLOSED: dict[str, object] = {
    "generation": 0,
    "cause": None,
    "since_s": None,
    "open_s": None,
    "hold_s": 0.0,
    "held": None,
}
OPEN = {**CLOSED, "generation": 3, "cause": "slow", "since_s": 200.0, "open_s": 400.0, "hold_s": 600.0}
# A session that returns in the middle of the ramp.
SESSION = next(f"s{i}" for i in range(1000) if 25.0 < turn_s(f"s{i}") < 35.0)


def said(**circuits: dict[str, object]) -> dict[str, object]:
    """What GET /routes says of one route over A, B and C."""
    return {
        "stale": False,
        "routes": [{"route": "coder", "targets": [A, B, C], "max_open_share": 1.0}],
        "targets": [
            {
                "target": name,
                "base_url": f"https://{place}.example",
                "wire": "openai-chat",
                "api_key_env": None,
                "can": None,
                "max_input_tokens": None,
                "circuit": circuits.get(place, CLOSED),
                "policy": {"slow_s": 20.0, "hold_s": 600.0, "something_newer": 3.0},
            }
            for place, name in (("a", A), ("b", B), ("c", C))
        ],
    }


def decision(target: str = A, **other: object) -> Decision:
    return Decision.read(serving.decision(target=target, primary=A, **other))


class World:
    """A client's knowledge without a service, from the moment 1000 on."""

    def __init__(self, *, plan: dict[str, object] | None = None, last: Decision | None = None) -> None:
        self.alone = Alone(SPOTS, SESSION)
        self.last = last
        self.steps: list[Step] = []
        if plan is not None:
            self.alone.told(read(plan, 1000.0))

    def step(self, facts: dict[str, object], at: float) -> None:
        answer = Answer.from_facts(facts)
        step = Step(answer, judge(answer), at)
        self.steps.append(step)
        self.alone.take(step)

    def told(self, at: float) -> tuple[str, str, Source]:
        found = self.alone.decide("coder", self.last, 1000.0, self.steps, at)
        assert found is not None
        return found.target, found.reason, found.source


def test_what_was_given_is_used_in_its_order_until_it_fails() -> None:
    world = World()
    assert world.told(1000.0) == (A, "healthy", Source.PRIMARY)

    world.step(failed("1", age_s=0.4), 1001.0)
    assert world.told(1001.0) == (A, "healthy", Source.PRIMARY)

    world.step(failed("2", age_s=0.4), 1002.0)
    assert world.told(1002.0) == (B, "errors", Source.LOCAL)
    assert world.told(1601.0) == (B, "errors", Source.LOCAL)
    # The hold is over; this session returns at its own turn.
    assert world.told(1602.1) == (B, "returning", Source.LOCAL)
    assert world.told(1640.0) == (A, "healthy", Source.LOCAL)


def test_one_bad_answer_soon_after_the_hold_opens_again() -> None:
    world = World()
    world.told(1000.0)
    for name, at in (("1", 1001.0), ("2", 1002.0)):
        world.step(failed(name, age_s=0.4), at)
    assert world.told(1640.0)[0] == A

    world.step(failed("3", age_s=0.4), 1650.0)

    assert world.told(1650.0) == (B, "errors", Source.LOCAL)


def test_where_too_much_was_asked_it_is_left_for_as_long_as_it_asks() -> None:
    world = World()
    world.told(1000.0)
    for name, at in (("1", 1001.0), ("2", 1002.0)):
        world.step({**failed(name, age_s=0.4), "status": 429, "retry_after_s": 30.0}, at)

    assert world.told(1002.0) == (B, "rate_limited", Source.LOCAL)
    assert world.told(1031.9)[:2] == (B, "rate_limited")
    assert world.told(1070.0)[:2] == (A, "healthy")


def test_a_good_answer_between_two_failures_keeps_the_circuit_closed() -> None:
    world = World()
    world.told(1000.0)
    for i, facts in enumerate([failed("1", age_s=0.4), good("2", age_s=1.0), failed("3", age_s=0.4)]):
        world.step(facts, 1001.0 + i)

    assert world.told(1005.0)[0] == A


def test_steps_from_before_the_loss_count_too() -> None:
    world = World(plan=said())
    world.step(failed("1", age_s=0.4), 1001.0)
    world.step(failed("2", age_s=0.4), 1002.0)

    assert world.told(1003.0) == (B, "errors", Source.LOCAL)


def test_a_late_part_counts_at_once_and_its_end_does_not_count_again() -> None:
    world = World()
    world.told(1000.0)
    late = {"target": A, "id": "1", "ended": "pending", "seconds": 41.0, "part": "late"}
    world.step(late, 1041.0)
    world.step(late, 1041.5)
    world.step(slow("1"), 1052.0)
    world.step(slow("1"), 1053.0)
    assert world.told(1053.0)[0] == A

    world.step({**late, "id": "2"}, 1100.0)
    assert world.told(1100.0) == (B, "slow", Source.LOCAL)


def test_half_of_many_bad_answers_open_it() -> None:
    world = World()
    world.told(1000.0)
    for i in range(24):
        facts = failed(f"{i}", age_s=0.1) if i % 2 else good(f"{i}", age_s=1.5, seconds=1.5, first_byte_s=0.2)
        world.step(facts, 1001.0 + i)

    assert world.told(1030.0) == (B, "error_rate", Source.LOCAL)


def test_where_nothing_has_been_said_of_a_target_its_steps_change_nothing() -> None:
    world = World()
    world.told(1000.0)
    for name in "12":
        world.step({**failed(name, age_s=0.4), "target": "un/known"}, 1001.0)

    assert world.told(1002.0) == (A, "healthy", Source.PRIMARY)


def test_what_the_service_told_goes_on_and_its_holds_last_until_it_would_have_given_its_probes_up() -> None:
    world = World(plan=said(a=OPEN), last=decision(B, role="backup", reason="slow", until_s=400.0, since_s=200.0))

    assert world.told(1001.0) == (B, "slow", Source.KEPT)
    assert world.told(1399.0) == (B, "slow", Source.KEPT)
    assert world.told(1462.0) == (A, "healthy", Source.LOCAL)


def test_one_that_was_half_open_stays_out_for_a_while() -> None:
    world = World(plan=said(a={**OPEN, "open_s": 0.0}))
    patience_s = Policy().silent_s

    assert world.told(1001.0)[0] == B
    assert world.told(1000.0 + patience_s)[0] == B
    assert world.told(1001.0 + patience_s + 60.0)[0] == A


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        pytest.param(decision(A), A, id="nothing moved"),
        pytest.param(decision(B, role="backup", reason="errors", until_s=500.0), B, id="the primary is out"),
        pytest.param(decision(C, role="backup", reason="quota"), C, id="two are out"),
        pytest.param(decision(B, role="backup", reason="returning"), A, id="the primary is back"),
        pytest.param(decision(C, role="last_resort", reason="errors"), A, id="a last resort tells of no order"),
        pytest.param(decision("new/one", role="backup", reason="errors"), A, id="a target that isn't in the plan"),
    ],
)  # fmt: skip
def test_a_decision_that_is_newer_than_the_plan_goes_on(last: Decision, expected: str) -> None:
    assert World(plan=said(), last=last).told(1001.0)[0] == expected


def test_a_target_that_the_service_chose_is_in_order_whatever_the_plan_said() -> None:
    assert World(plan=said(a=OPEN), last=decision(A)).told(1001.0)[0] == A


def test_where_the_service_has_told_nothing_but_a_decision_that_goes_on_with_the_callers_targets_behind_it() -> None:
    world = World(last=decision("new/one"))
    assert world.told(1001.0) == ("new/one", "healthy", Source.KEPT)

    for name in "12":
        world.step({**failed(name, age_s=0.4), "target": "new/one"}, 1002.0)

    assert world.told(1003.0) == (A, "errors", Source.LOCAL)
    assert World(last=decision(B, role="backup", reason="errors")).told(1001.0) == (B, "errors", Source.KEPT)


def test_what_is_held_by_hand_stays_so_until_its_end() -> None:
    held = {**CLOSED, "held": {"opened": True, "since_s": 40.0, "until_s": 100.0}}
    world = World(plan=said(a=held))

    assert world.told(1001.0) == (B, "manual", Source.KEPT)
    assert world.told(1101.0)[0] == A


def test_when_the_service_is_back_its_word_counts_alone() -> None:
    world = World(plan=said())
    world.told(1000.0)
    for name in "12":
        world.step(failed(name, age_s=0.4), 1001.0)
    assert world.told(1002.0)[0] == B

    world.alone.back("coder")
    world.steps.clear()

    assert world.told(1003.0) == (A, "healthy", Source.KEPT)


def besides(world: World, tried: Iterable[str], at: float = 1001.0) -> tuple[str, str] | None:
    found = world.alone.besides("coder", list(tried), world.last, 1000.0, at)
    return None if found is None else (found.target, found.role)


def test_besides_what_was_tried_comes_the_next_that_is_in_order() -> None:
    world = World(plan=said(b=OPEN))

    assert besides(world, []) == (A, "primary")
    assert besides(world, [A]) == (C, "backup")
    assert besides(world, [A, C]) == (B, "last_resort")
    assert besides(world, [A, B, C]) is None


def test_besides_knows_what_own_steps_came_to() -> None:
    world = World(plan=said())
    world.told(1000.0)
    for name in "12":
        world.step({**failed(name, age_s=0.4), "target": B}, 1001.0)

    assert besides(world, [A], 1002.0) == (C, "backup")


def test_a_route_that_nobody_told_of_is_not_known() -> None:
    alone = Alone({"coder": SPOTS}, SESSION)

    assert alone.decide("reviewer", None, 0.0, [], 1000.0) is None
    assert alone.besides("reviewer", [], None, 0.0, 1000.0) is None
    assert alone.fitting("reviewer", Needs(), None, 0.0, 1000.0) is None
    assert alone.policy(A) is None


def test_numbers_of_a_policy_are_taken_as_far_as_they_are_known_and_work() -> None:
    known = read(said(), 1000.0).policies[A]
    broken = said()
    broken["targets"][0]["policy"] = {"slow_s": 500.0}  # type: ignore[index] # a list of objects

    assert (known.slow_s, known.hold_s) == (20.0, 600.0)
    assert read(broken, 1000.0).policies[A] == Policy()


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"routes": [{"route": "coder", "targets": [], "max_open_share": 1.0}]}, id="no targets"),
        pytest.param({"routes": [{"route": "coder", "targets": ["x/y"], "max_open_share": 1.0}]}, id="an unknown one"),
        pytest.param({"routes": [{"route": "coder", "targets": [A], "max_open_share": "all"}]}, id="no number"),
        pytest.param({"routes": 3}, id="no list"),
        pytest.param({"targets": [{"target": "a"}]}, id="no target"),
    ],
)
def test_what_is_no_plan_raises_what_the_caller_expects(wrong: dict[str, object]) -> None:
    with pytest.raises(UNREADABLE):
        read({**said(), **wrong} if wrong else {}, 1000.0)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(A),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@given_by_hypothesis(st.data())
def test_a_plan_that_is_wrong_anywhere_is_read_or_refused_and_decides(data: st.DataObject) -> None:
    wrong = copy.deepcopy(said(a={**OPEN, "held": {"opened": True, "since_s": 1.0, "until_s": 9.0}}))
    spoil(wrong, data)
    try:
        plan = read(wrong, 1000.0)
    except UNREADABLE:
        return
    alone = Alone(SPOTS, SESSION)
    alone.told(plan)

    found = alone.decide("coder", decision(B, role="backup"), 1000.0, [], 1001.0)

    other = alone.besides("coder", [A], None, 0.0, 1001.0)

    assert found is None or found.target in (A, B, C)
    assert other is None or other.target in (B, C)


def spoil(value: object, data: st.DataObject) -> None:
    """Put something else somewhere into a value."""
    while isinstance(value, (dict, list)) and value:
        place = data.draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value))))
        inner = value[place]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            value[place] = data.draw(_JSON)
            return
        value = inner


def test_the_only_route_and_the_default_one_need_no_name() -> None:
    one = given("coder", SPOTS)
    many = Plan(routes={"a": one.routes["coder"], "default": one.routes["coder"]}, policies={}, circuits={}, told=True)

    assert one.route(None) is one.routes["coder"]
    assert many.route(None) is many.routes["default"]
    assert many.route("b") is None
    assert agreeing(one, decision("x/y"), 0.0) is one
