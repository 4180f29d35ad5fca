import math
from dataclasses import fields, replace
from typing import Any

import pytest

from breaker.attempt import Limits
from breaker.attempt.limits import _BOUNDS
from breaker.policy import Policy


def test_the_defaults_are_those_of_the_service() -> None:
    assert (Limits().first_byte_s, Limits().silence_s) == (Policy().slow_s, Policy().silence_s)


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_a_number_out_of_its_range_is_refused(name: str) -> None:
    numbers: list[Any] = [_BOUNDS[name][0] - 1, _BOUNDS[name][1] + 1, math.nan]
    for wrong in numbers:
        with pytest.raises(ValueError, match=name):
            replace(Limits(), **{name: wrong})
