"""The first firstbyte.yaml."""

from pathlib import Path

import pytest

from monitor.config import ConfigError, load, starter
from monitor.config.known import KNOWN

_ALL = {known.variable: f"key-of-{known.name}" for known in KNOWN}


def _written(path: Path, environ: dict[str, str]) -> Path:
    path.write_text(starter(environ), encoding="utf-8")
    return path


@pytest.mark.parametrize("variable", _ALL)
def test_starter_for_one_key_has_no_fault_and_one_target(tmp_path: Path, variable: str) -> None:
    environ = {variable: "key"}
    (plan,) = load(_written(tmp_path / "f.yaml", environ), environ).targets
    assert plan.target.provider.api_key_env == variable
    assert plan.target.provider.base_url.startswith("https://")


def test_starter_for_all_keys_has_no_fault_and_one_route_over_all(tmp_path: Path) -> None:
    found = load(_written(tmp_path / "f.yaml", _ALL), _ALL)
    assert len(found.targets) == len(KNOWN)
    assert [route.name for route in found.routes] == ["coder"]
    assert len(found.routes[0].targets) == len(KNOWN)


def test_starter_shows_no_key() -> None:
    assert "key-of-" not in starter(_ALL)


@pytest.mark.parametrize("value", ["", " ", "key\n", "two words"], ids=["empty", "blank", "line-end", "words"])
def test_key_that_would_be_a_fault_is_as_good_as_none(value: str) -> None:
    assert starter({"ZAI_API_KEY": value}) == starter({})


def test_without_a_key_the_example_names_the_variables_and_lacks_nothing_else(tmp_path: Path) -> None:
    text = starter({})
    assert all(known.variable in text for known in KNOWN)
    with pytest.raises(ConfigError) as caught:
        load(_written(tmp_path / "f.yaml", {}), {})
    assert [fault.wrong for fault in caught.value.faults] == [
        "the environment variable ZAI_API_KEY is not set",
        "the environment variable OPENROUTER_API_KEY is not set",
    ]


def test_starter_ends_with_what_a_day_of_probing_costs() -> None:
    costs = starter({"ZAI_API_KEY": "key", "GROQ_API_KEY": "key"}).rpartition("\n\n")[2]
    assert "1,440 probes a day" in costs
    assert "15.9 million tokens a day of each target, 31.8 million in this file" in costs


def test_commented_numbers_are_good_once_the_signs_are_taken_away(tmp_path: Path) -> None:
    environ = {"ZAI_API_KEY": "key"}
    lines = starter(environ).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("# policy:"))
    last = next(number for number, line in enumerate(lines) if line.startswith("# What probing costs"))
    freed = [*lines[:first], *(line.removeprefix("# ").removeprefix("#") for line in lines[first:last])]
    path = tmp_path / "f.yaml"
    path.write_text("\n".join(freed), encoding="utf-8")
    plan = load(_written(tmp_path / "g.yaml", environ), environ).targets[0]
    assert load(path, environ).targets[0] == plan
    assert len(freed) > first + 20


def test_no_two_known_providers_share_a_name_or_a_variable() -> None:
    assert len({known.name for known in KNOWN}) == len({known.variable for known in KNOWN}) == len(KNOWN)
