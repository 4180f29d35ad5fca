"""Lengths of time in words."""

import pytest

from breaker.api import spans


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.0 s"),
        (0, "0.0 s"),
        (0.04, "0.04 s"),
        (0.0951, "0.1 s"),
        (4.23, "4.2 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (388, "6 min 28 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (86_399, "23 h 59 min"),
        (86_400, "1 d"),
        (270_000, "3 d 3 h"),
    ],
)
def test_a_time_span_is_said_to_the_second(seconds: float, text: str) -> None:
    assert spans.lasting(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "a moment"),
        (5, "about 5 s"),
        (89, "about 89 s"),
        (388, "about 6 min"),
        (7300, "about 2 h"),
        (200_000, "about 2 days"),
    ],
)
def test_a_time_span_is_said_as_people_say_it(seconds: float, text: str) -> None:
    assert spans.roughly(seconds) == text
