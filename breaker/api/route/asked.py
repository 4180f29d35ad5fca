"""What of a question the answer depends on, and nothing else that came from outside."""

from collections.abc import Iterator
from typing import NamedTuple

from breaker.api.problems import bad_fields, shortened
from breaker.route import Unable
from breaker.target import Ability

# What is longer names no session.
MAX_SESSION = 128
MAX_INPUT_TOKENS = 1_000_000_000
_NEEDS = {ability.value: ability for ability in Ability}


class Asked(NamedTuple):
    """For which route, which of its targets can't take the step, and how long after a circuit's close its session
    returns (None: at once). Whatever is asked, there are few different ones.
    """

    route: str
    unable: tuple[Unable, ...] = ()
    turn_s: float | None = None


def needs(text: str) -> frozenset[Ability]:
    """The needs in a list with commas; blanks around them don't matter, and an empty list has none.

    Raises ProblemError for one that isn't known, with all that are.
    """
    return frozenset(_needs(text))


def _needs(text: str) -> Iterator[Ability]:
    for word in filter(None, map(str.strip, text.split(","))):
        if word not in _NEEDS:
            wrong = f"there is no need {shortened(word)!r}; there are: {', '.join(_NEEDS)}"
            raise bad_fields([{"loc": ("needs",), "msg": wrong}])
        yield _NEEDS[word]
