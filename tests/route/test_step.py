"""Which targets can't take a step."""

from collections.abc import Collection
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.circuit import Circuit, State, state
from breaker.route import Reason, Role, Route, Unable, choose, unable
from breaker.target import Ability, Provider, Target
from tests.route.test_choice import CIRCUITS, HELD, NOW, OPEN, SHARES

TOOLS, VISION, AUDIO = Ability.TOOLS, Ability.VISION, Ability.AUDIO
BARE = Target(provider=Provider(name="a", base_url="http://x/v1", wire="openai-chat"), model="m")
TEXT = replace(BARE, can=(), max_input_tokens=32_000)
CODER = replace(BARE, can=(TOOLS,), max_input_tokens=200_000)
EYES = replace(BARE, can=(TOOLS, VISION), max_input_tokens=64_000)


@pytest.mark.parametrize(
    ("target", "needs", "input_tokens", "lacks", "most"),
    [
        pytest.param(BARE, Ability, 10**9, None, None, id="what isn't known speaks for it"),
        pytest.param(CODER, [TOOLS], 200_000, None, None, id="just able"),
        pytest.param(CODER, [], 0, None, None, id="nothing is needed"),
        pytest.param(TEXT, [TOOLS], 0, (TOOLS,), None, id="it can do nothing"),
        pytest.param(CODER, [AUDIO, VISION, TOOLS], 0, (VISION, AUDIO), None, id="two, in the list's order"),
        pytest.param(CODER, [TOOLS], 200_001, (), 200_000, id="too long"),
        pytest.param(CODER, [VISION], 200_001, (VISION,), 200_000, id="both"),
        pytest.param(replace(BARE, max_input_tokens=9), [VISION], 10, (), 9, id="the limit alone is known"),
        pytest.param(replace(BARE, can=(TOOLS,)), [VISION], 10**9, (VISION,), None, id="the abilities alone are known"),
    ],
)
def test_a_target_takes_what_it_can(
    target: Target, needs: Collection[Ability], input_tokens: int, lacks: tuple[Ability, ...] | None, most: int | None
) -> None:
    found = unable([target], needs, input_tokens)

    assert found == (() if lacks is None else (Unable("a/m", lacks, most),))


# A route of four: the first two can do little, and the last takes everything.
ROUTE = Route(
    name="coder",
    targets=tuple(
        replace(target, provider=replace(BARE.provider, name=name))
        for name, target in (("a", TEXT), ("b", CODER), ("c", EYES), ("d", BARE))
    ),
)
KNOWN = Route(name="coder", targets=ROUTE.targets[:3])


@pytest.mark.parametrize(
    ("route", "circuits", "needs", "tokens", "target", "role", "reason"),
    [
        pytest.param(ROUTE, {}, [], 0, "a/m", "primary", "healthy", id="no needs"),
        pytest.param(ROUTE, {}, [TOOLS], 0, "b/m", "backup", "unable", id="the primary can't"),
        pytest.param(ROUTE, {}, [VISION], 0, "c/m", "backup", "unable", id="nor can the next"),
        pytest.param(ROUTE, {}, [AUDIO], 0, "d/m", "backup", "unable", id="of the last it isn't known"),
        pytest.param(ROUTE, {}, [], 100_000, "b/m", "backup", "unable", id="too long for the primary"),
        pytest.param(ROUTE, {"a": OPEN}, [TOOLS], 0, "b/m", "backup", "unable", id="out besides: it couldn't anyway"),
        pytest.param(ROUTE, {"b": OPEN}, [TOOLS], 0, "c/m", "backup", "unable", id="the next able one is out"),
        pytest.param(ROUTE, {"a": OPEN}, [], 0, "b/m", "backup", "slow", id="out, and able"),
        pytest.param(ROUTE, {"a": OPEN}, [], 20_000, "b/m", "backup", "slow", id="out, and long enough"),
        pytest.param(
            KNOWN,
            {"c": OPEN},
            [VISION],
            0,
            "c/m",
            "last_resort",
            "unable",
            id="it may answer, others can't",
        ),
        pytest.param(KNOWN, {"c": HELD}, [VISION], 0, "c/m", "last_resort", "unable", id="even one held by hand"),
        pytest.param(KNOWN, {}, [AUDIO], 0, "a/m", "last_resort", "unable", id="none can: all lack as much"),
        pytest.param(KNOWN, {}, [AUDIO, TOOLS], 0, "b/m", "last_resort", "unable", id="none can: the nearest"),
        pytest.param(KNOWN, {}, [], 10**6, "b/m", "last_resort", "unable", id="too long for all: the largest"),
        pytest.param(KNOWN, {"b": OPEN}, [], 10**6, "c/m", "last_resort", "unable", id="the largest in order"),
        pytest.param(
            KNOWN, {"a": OPEN, "b": OPEN, "c": HELD}, [AUDIO], 0, "a/m", "last_resort", "unable", id="none can, all out"
        ),
    ],
)
def test_a_step_goes_to_a_target_that_can_take_it(
    route: Route,
    circuits: dict[str, Circuit],
    needs: list[Ability],
    tokens: int,
    target: str,
    role: str,
    reason: str,
) -> None:
    known = {f"{name}/m": circuit for name, circuit in circuits.items()}

    decision = choose(route, known, NOW, unable=unable(route.targets, needs, tokens))

    assert (decision.target.name, decision.role, decision.reason) == (target, role, reason)


def test_a_step_that_the_primary_cannot_take_waits_for_no_clock_of_it() -> None:
    decision = choose(ROUTE, {"a/m": OPEN}, NOW, unable=unable(ROUTE.targets, [TOOLS]))

    assert (decision.until_s, decision.ends_s, decision.valid_for_s) == (None, None, 5.0)
    assert (decision.able, [each.target for each in decision.unable]) == (True, ["a/m"])


def test_where_the_first_that_can_is_out_its_end_bounds_the_answer() -> None:
    soon = replace(OPEN, open_until=NOW + 2)

    decision = choose(ROUTE, {"b/m": soon}, NOW, unable=unable(ROUTE.targets, [TOOLS]))

    assert (decision.until_s, decision.ends_s, decision.valid_for_s) == (None, 2.0, 2.0)


def test_a_target_that_cannot_take_the_step_has_no_time_to_come_back() -> None:
    decision = choose(KNOWN, {}, NOW, unable=unable(KNOWN.targets, [AUDIO]))

    assert (decision.able, decision.retry_after_s, decision.state) == (False, None, State.CLOSED)
    assert (decision.crowded, len(decision.unable)) == (False, 3)


def test_only_targets_that_can_take_the_step_are_awaited() -> None:
    out = {"a/m": replace(OPEN, open_until=NOW + 7), "c/m": OPEN}

    assert choose(KNOWN, out, NOW, unable=unable(KNOWN.targets, [VISION])).retry_after_s == 400.0


def test_what_is_offered_since_too_many_are_out_is_decided_for_all_steps() -> None:
    route = replace(KNOWN, max_open_share=0.34)  # one may be out; of the others the one is offered that is less bad
    out = {"b/m": replace(OPEN, open_until=NOW + 7), "c/m": OPEN}

    assert choose(route, out, NOW, unable=unable(route.targets, [TOOLS])).target.name == "b/m"
    assert choose(route, out, NOW, unable=unable(route.targets, [VISION])).target.name == "c/m"
    assert not choose(route, out, NOW, unable=unable(route.targets, [VISION])).crowded


CANS = st.none() | st.lists(st.sampled_from(Ability), unique=True).map(tuple)
LIMITS = st.none() | st.sampled_from([8_000, 32_000, 128_000])
TARGETS = st.lists(st.tuples(CANS, LIMITS, CIRCUITS), min_size=1, max_size=5)


@given(TARGETS, SHARES, st.sets(st.sampled_from(Ability)), st.integers(0, 200_000))
def test_whoever_can_take_a_step_gets_it_and_the_answer_is_true(
    drawn: list[tuple[tuple[Ability, ...] | None, int | None, Circuit]],
    share: float,
    needs: set[Ability],
    tokens: int,
) -> None:
    targets = tuple(
        Target(provider=replace(BARE.provider, name=f"p{i}"), model="m", can=can, max_input_tokens=most)
        for i, (can, most, _) in enumerate(drawn)
    )
    known = {target.name: circuit for target, (_, _, circuit) in zip(targets, drawn, strict=True)}
    lacking = unable(targets, needs, tokens)

    decision = choose(Route(name="x", targets=targets, max_open_share=share), known, NOW, unable=lacking)

    able = [t for t in targets if (t.can is None or needs <= set(t.can)) and tokens <= (t.max_input_tokens or tokens)]
    assert {each.target for each in lacking} == {t.name for t in targets if t not in able}
    assert decision.target in (able or targets)
    assert decision.able is (decision.target in able)
    assert decision.state is state(known[decision.target.name], NOW)
    assert (decision.role is Role.LAST_RESORT) is not (decision.able and decision.state.passes)
    assert (decision.reason is Reason.UNABLE) is (targets[0] not in able)
    if any(state(known[t.name], NOW).passes for t in able) and share == 1.0:
        assert decision.state.passes


@given(st.lists(st.tuples(CANS, LIMITS), min_size=3, max_size=3), st.data())
def test_few_different_answers_come_of_any_steps(
    drawn: list[tuple[tuple[Ability, ...] | None, int | None]], data: st.DataObject
) -> None:
    targets = [replace(BARE, model=f"m{i}", can=can, max_input_tokens=most) for i, (can, most) in enumerate(drawn)]
    steps = data.draw(st.lists(st.tuples(st.sets(st.sampled_from(Ability)), st.integers(0, 10**9)), max_size=50))

    found = {unable(targets, needs, tokens) for needs, tokens in steps}

    longest = {None if most is None else most for _, most in drawn}
    assert len(found) <= 2 ** len(Ability) * (len(longest) + 1)
