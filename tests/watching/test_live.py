"""Every query of every dashboard and every rule, asked of a real Prometheus that scrapes a real service."""

import math
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.processes import started
from tests.watching.grafana import COMMITTED, Asked, annotations, filled, targets
from tests.watching.live import Watched, watching

# Of these there is nothing to see while all goes on as it does here.
NOTHING_HAPPENS = {f"{dashboard['uid']}: Started anew" for dashboard in COMMITTED.values()}
in_one_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def watched(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Watched]:
    """The same for all tests here."""
    async with watching(tmp_path_factory.mktemp("watched")) as seen:
        yield seen


def in_range(unit: str, value: float) -> bool:
    """Whether a value can be what its unit says; counters are extrapolated a little beyond what was counted."""
    return 0 <= value <= (1.1 if unit == "percentunit" else math.inf)


@in_one_loop
@pytest.mark.parametrize("name", COMMITTED)
async def test_every_query_of_a_dashboard_has_an_answer_that_its_legend_and_unit_fit(
    watched: Watched, name: str
) -> None:
    asked: list[Asked] = [*targets(COMMITTED[name]), *annotations(COMMITTED[name])]
    wrong: list[tuple[str, object]] = []
    for one in asked:
        found = await watched.series(filled(one.expr))
        values = [value for _, all_ in found for value in all_ if not math.isnan(value)]
        legend = set(re.findall(r"\{\{(\w+)\}\}", one.legend))
        if one.where not in NOTHING_HAPPENS and not values:
            wrong.append((one.where, "nothing"))
        if one.unit != "percentunit" or "Processor" not in one.where:
            wrong += [(one.where, value) for value in values if not in_range(one.unit, value)]
        wrong += [(one.where, labels) for labels, _ in found if not legend <= set(labels)]

    assert wrong == []


@in_one_loop
async def test_the_variables_have_values(watched: Watched) -> None:
    for name, expected in {
        "provider": {"good", "slow", "refusing", "lying", "flapping"},
        "model": {"m"},
        "route": {"coder", "broken"},
        "job": {"firstbyte"},
    }.items():
        assert set(await watched.asks(f"label/{name}/values")) == expected


@in_one_loop
async def test_every_rule_is_evaluated_without_a_fault(watched: Watched) -> None:
    groups = (await watched.asks("rules"))["groups"]
    rules = [rule for group in groups for rule in group["rules"]]

    assert {rule["name"]: rule.get("lastError") for rule in rules if rule["health"] != "ok"} == {}
    assert len(rules) > 20


@in_one_loop
async def test_what_is_exported_has_no_fault_in_its_form(watched: Watched, tmp_path: Path) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        text = (await client.get(f"{watched.service}/metrics")).text
    (tmp_path / "metrics").write_text(text)
    command = ("sh", "-c", "promtool check metrics < metrics")
    async with started(env={"PATH": "/usr/bin:/bin"}, cwd=tmp_path, command=command) as tool:
        assert (await tool.end(), tool.said) == (0, [])

    assert 'le="40.0"' in text


@in_one_loop
async def test_a_target_costs_a_bounded_number_of_series(watched: Watched) -> None:
    ((_, values),) = await watched.series('count({job="firstbyte", provider="good"})')

    assert 80 < max(values) <= 150
