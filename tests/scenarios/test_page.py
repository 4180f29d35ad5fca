"""The page of scenarios, against the tests that play them."""

import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks._peers_libraries import LIBRARIES
from benchmarks._peers_play import CANT, scenes
from benchmarks._peers_scenarios import scenarios

ROOT = Path(__file__).parents[2]
TESTS = re.compile(r"`(test_\w+\.py::test_\w+)`")


def test_the_page_names_every_scenario_there_is_and_no_other() -> None:
    page = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z]+-\d+): .*?`(test_\w+\.py::test_\w+)`", page, re.MULTILINE))

    assert rows == {scenario.id: scenario.test for scenario in scenarios(ROOT)}
    assert sorted(TESTS.findall(page)) == sorted(scenario.test for scenario in scenarios(ROOT))


def test_each_scenario_stands_once_and_says_what_happens() -> None:
    found = scenarios(ROOT)
    counts = Counter(scenario.id.partition("-")[0] for scenario in found)

    assert [scenario.test for scenario in found if not scenario.story] == []
    for group, count in counts.items():
        numbers = sorted(scenario.number for scenario in found if scenario.group == group)
        assert numbers == list(range(1, count + 1)), group


@pytest.mark.parametrize("name", LIBRARIES)
def test_each_scenario_is_played_to_each_library_or_it_is_said_why_not(name: str) -> None:
    assert {scenario.id for scenario in scenarios(ROOT)} == set(scenes(name)) | set(CANT)
