"""What is counted of agents' tasks: closed lists and configured providers, nothing from outside."""

import pytest
from prometheus_client import CollectorRegistry

from breaker.done import decide
from breaker.run import Fact, State, fold
from breaker.switchboard import Concluded, Staged
from breaker.verdict import Verdict
from monitor.metrics.runs import RunMetrics, possible
from tests.run.made import answer, bad, wrote


def concluded(*facts: Fact, provider: str | None = "zai", claim: bool = True) -> Concluded:
    return Concluded(mark="0" * 8, ruling=decide(fold(facts)), provider=provider, claim=claim)


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> RunMetrics:
    made = RunMetrics(registry)
    made.renew(["zai", "own", "zai"])
    return made


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(f"firstbyte_{name}_total", labels)


def test_claims_that_were_untrue_are_counted_by_provider(registry: CollectorRegistry, metrics: RunMetrics) -> None:
    metrics.concluded(concluded(answer(1)))
    metrics.concluded(concluded(bad(1, Verdict.EMPTY)))
    metrics.concluded(concluded(bad(1, Verdict.EMPTY), claim=False))
    metrics.concluded(concluded(answer(1), provider="of-another-replica"))
    metrics.concluded(concluded(provider=None, claim=False))

    assert value(registry, "completions_claimed", provider="zai") == 2
    assert value(registry, "completions_prevented", provider="zai") == 1
    assert value(registry, "completions_claimed", provider="own") == 0
    assert value(registry, "completions_claimed", provider="of-another-replica") is None


def test_decisions_are_counted_by_what_decides(registry: CollectorRegistry, metrics: RunMetrics) -> None:
    metrics.concluded(concluded(wrote("a", 1, State.FAILED), answer(2)))

    assert value(registry, "run_decisions", decision="failed", reason="operation_failed") == 1
    assert value(registry, "run_decisions", decision="completed", reason="agreed") == 0


def test_operations_are_counted_by_state(registry: CollectorRegistry, metrics: RunMetrics) -> None:
    metrics.staged(Staged(mark="0" * 8, stage=wrote("a", 1, State.UNKNOWN)))

    assert value(registry, "run_operations", state="unknown") == 1
    assert value(registry, "run_operations", state="succeeded") == 0


def test_every_series_is_there_from_the_start(registry: CollectorRegistry, metrics: RunMetrics) -> None:
    for completion, reason in possible():
        assert value(registry, "run_decisions", decision=completion.value, reason=reason.value) == 0


def test_of_a_provider_that_went_nothing_is_shown(registry: CollectorRegistry, metrics: RunMetrics) -> None:
    metrics.renew(["own"])

    assert value(registry, "completions_claimed", provider="zai") is None
    assert value(registry, "completions_claimed", provider="own") == 0
