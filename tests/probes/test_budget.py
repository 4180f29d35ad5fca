import pytest

from breaker.answer import Answer, Ended
from breaker.policy import Policy
from breaker.target import Provider, Target
from monitor.budget import Cost, Level, Purse, cost, day_of, estimate, estimates
from monitor.settings import Budget, Price, ProbeShape, TargetPlan

UNLIMITED = Budget()
PRICE = Price(input_usd=1.0, output_usd=4.0)


def answer(**facts: object) -> Answer:
    told: dict[str, object] = {"target": "p/m", "id": "1", "ended": Ended.COMPLETE, "seconds": 2.0, "status": 200}
    return Answer(**(told | {"prompt_bytes": 36_000} | facts))  # type: ignore[arg-type] # a table of facts


def plan(
    model: str = "m", *, provider: str = "p", price: Price | None = PRICE, budget: Budget = UNLIMITED, **policy: object
) -> TargetPlan:
    account = Provider(name=provider, base_url="http://127.0.0.1/v1", wire="openai-chat")
    return TargetPlan(
        target=Target(provider=account, model=model),
        policy=Policy(**policy),  # type: ignore[arg-type] # numbers of a policy
        probe=ProbeShape(prompt_tokens=9_000, max_tokens=1_000),
        price=price,
        budget=budget,
    )


@pytest.mark.parametrize(
    ("facts", "prompt", "completion"),
    [
        pytest.param({"prompt_tokens": 9_100, "completion_tokens": 30}, 9_100, 30, id="as the provider counted"),
        pytest.param({"text_chars": 400, "reasoning_chars": 40}, 9_000, 110, id="by size where nobody counted"),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0}, 9_000, 0, id="a gateway that counts nothing"),
        pytest.param({"ended": Ended.SILENCE, "status": None}, 9_000, 0, id="silence may have read the prompt"),
        pytest.param({"ended": Ended.UNREACHABLE, "status": None}, 0, 0, id="no connection"),
        pytest.param({"status": 429}, 0, 0, id="refused"),
    ],
)
def test_cost_is_what_was_counted_or_else_the_size(facts: dict[str, object], prompt: int, completion: int) -> None:
    found = cost(answer(**facts), PRICE)

    assert (found.prompt_tokens, found.completion_tokens, found.tokens) == (prompt, completion, prompt + completion)
    assert found.usd == pytest.approx((prompt + 4 * completion) / 1e6)


def test_without_a_price_tokens_count_and_money_does_not() -> None:
    assert cost(answer(prompt_tokens=9_000, completion_tokens=9), None) == Cost(
        prompt_tokens=9_000, completion_tokens=9
    )


def test_costs_add_up() -> None:
    one = Cost(prompt_tokens=1, completion_tokens=2, usd=0.5)

    assert one + one == Cost(prompt_tokens=2, completion_tokens=4, usd=1.0)


@pytest.mark.parametrize(
    ("budget", "tokens", "usd", "share", "level"),
    [
        pytest.param(Budget(), 10**9, 1e6, None, Level.FREE, id="no limit"),
        pytest.param(Budget(tokens_per_day=1000), 799, 9.0, 0.799, Level.FREE, id="below the warning"),
        pytest.param(Budget(tokens_per_day=1000), 800, 0.0, 0.8, Level.WARNED, id="four fifths"),
        pytest.param(Budget(tokens_per_day=1000), 1000, 0.0, 1.0, Level.SPENT, id="all"),
        pytest.param(Budget(tokens_per_day=1000, usd_per_day=1.0), 10, 0.9, 0.9, Level.WARNED, id="the fuller of two"),
        pytest.param(Budget(usd_per_day=0.0), 0, 0.0, 1.0, Level.SPENT, id="a budget of nothing is spent"),
    ],
)
def test_level_follows_the_spent_share(
    budget: Budget, tokens: int, usd: float, share: float | None, level: Level
) -> None:
    purse = Purse(budget)
    purse.note("2026-11-30", tokens, usd)

    assert purse.share("2026-11-30") == share
    assert purse.level("2026-11-30") is level


def test_each_level_is_told_once_a_day() -> None:
    purse = Purse(Budget(tokens_per_day=100))

    told = [purse.note("monday", tokens, 0.0) for tokens in (10, 80, 85, 100, 120)]
    told += [purse.note("tuesday", tokens, 0.0) for tokens in (10, 90, 95)]

    assert told == [None, Level.WARNED, None, Level.SPENT, None, None, Level.WARNED, None]


def test_a_new_day_begins_at_nothing_before_anything_is_spent() -> None:
    purse = Purse(Budget(tokens_per_day=100))
    purse.note("monday", 100, 1.0)

    assert purse.level("tuesday") is Level.FREE
    assert purse.totals("tuesday") == (0, 0.0)
    assert purse.totals("monday") == (100, 1.0)


def test_days_are_those_of_utc() -> None:
    assert [day_of(0.0), day_of(86_399.9), day_of(86_400.0)] == ["1970-01-01", "1970-01-01", "1970-01-02"]


def test_a_target_is_estimated_at_its_full_length_each_interval() -> None:
    found = estimate(plan(budget=Budget(usd_per_day=9.36)))

    assert found.probes_per_day == 1440
    assert found.tokens_per_day == 14_400_000
    assert found.usd_per_day == pytest.approx(1440 * 0.013)
    assert found.share == pytest.approx(2.0)


def test_a_target_without_probing_costs_nothing() -> None:
    found = estimate(plan(probing=False, price=None))

    assert (found.probes_per_day, found.tokens_per_day, found.usd_per_day, found.share) == (0.0, 0, 0.0, None)


def test_a_provider_is_the_sum_of_its_targets_and_unknown_where_one_price_is() -> None:
    plans = [plan("a"), plan("b", interval_s=120.0), plan("c", provider="q", price=None)]

    first, second = estimates(plans)

    assert (first.name, first.probes_per_day, first.tokens_per_day) == ("p", 2160, 21_600_000)
    assert first.usd_per_day == pytest.approx(2160 * 0.013)
    assert (second.name, second.usd_per_day) == ("q", None)
