"""How the dashboards' pictures tell values."""

import math
from typing import Any

import pytest

from dashboards.panels import SHARE, STATES, stat
from tests.watching.values import colour, colour_of, overridden, told


def field(unit: str, **more: Any) -> dict[str, Any]:
    """A field as a panel has it."""
    made: dict[str, Any] = stat("A", "A.", "up", unit, **more).as_json(1, 0, 0, ())["fieldConfig"]["defaults"]
    return made


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "s", "0 s"),
        (0.0123, "s", "12.3 ms"),
        (75, "s", "1.25 min"),
        (0.4625, "percentunit", "46.2%"),
        (1, "percentunit", "100%"),
        (3.14159, "currencyUSD", "$3.14"),
        (260_000, "short", "260 K"),
        (0, "short", "0"),
        (2**26, "bytes", "64 MiB"),
        (7.5, "reqps", "7.5 req/s"),
        (math.nan, "short", "no data"),
    ],
)
def test_a_value_has_its_unit_and_two_decimals_at_most(value: float, unit: str, text: str) -> None:
    assert told(value, field(unit)) == text


def test_a_panel_says_how_many_decimals() -> None:
    assert told(2, field("currencyUSD", defaults={"decimals": 2})) == "$2.00"


def test_a_mapped_value_is_its_word_in_its_colour() -> None:
    states = field("none", words=STATES)

    assert (told(0, states), colour_of(0, states)) == ("closed", colour("green"))
    assert (told(2, states), colour_of(2, states)) == ("open", colour("red"))


@pytest.mark.parametrize(("value", "name"), [(0, "green"), (0.01, "orange"), (0.2, "red")])
def test_a_value_has_the_colour_of_the_threshold_that_it_has_reached(value: float, name: str) -> None:
    assert colour_of(value, field("percentunit", steps=SHARE)) == colour(name)


def test_an_override_counts_for_its_series_alone() -> None:
    override = {"matcher": {"id": "byName", "options": "a"}, "properties": [{"id": "unit", "value": "s"}]}
    panel = stat("A", "A.", "up", "short", overrides=(override,)).as_json(1, 0, 0, ())

    assert [overridden(panel, name)["unit"] for name in ("a", "b")] == ["s", "short"]
