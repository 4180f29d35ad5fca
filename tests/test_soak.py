"""The verdict of the soak, both ways: on what grows, on what doesn't, and on what can't be told."""

import random

import pytest

from benchmarks._soak_found import CALM, Sample, told
from benchmarks._soak_waits import Waits


def samples(
    minutes: float,
    *,
    an_hour: float = 0.0,
    noise: float = 0.01,
    waited: float = 0.0,
    jump: float = 0.0,
    machine: float = 0.0,
    slower: float = 0.0,
) -> list[Sample]:
    """What a service would show whose memory grows by `an_hour` of it in an hour, and once by a jump at a quarter.

    In an hour a machine gets slower by `machine`, and the service on it by `slower`.
    """
    chance, found = random.Random(7), []
    for number in range(round(minutes * 30)):
        hours = number / 1800
        level = 1 + an_hour * hours + (jump if number > minutes * 7.5 else 0.0)
        one, other = (1 + chance.uniform(-noise, noise) for _ in range(2))
        beside = 1000 * (1 + machine * hours)
        p99 = 2 * beside * other * (1 + slower * hours)
        found.append(Sample(2.0 * number, 100 * level * one, 4.0, 65, 300, 200, p99, beside, waited))
    return found


@pytest.mark.parametrize(
    ("found", "minutes", "well", "said"),
    [
        pytest.param(samples(10), 10, True, "", id="level"),
        pytest.param(samples(10, an_hour=0.05), 10, True, "", id="within the bound"),
        pytest.param(samples(10, an_hour=0.5), 10, False, "10%: it grows", id="a leak"),
        pytest.param(samples(10, an_hour=0.5, noise=0.0), 10, False, "10%: it grows", id="a leak without noise"),
        pytest.param(samples(10, an_hour=0.25), 10, False, "10%: it grows", id="a slow leak"),
        pytest.param(samples(10, jump=0.2), 10, False, "10%: can't be told: it rose in one half alone", id="a jump"),
        pytest.param(samples(10, noise=0.5), 10, False, "10%: can't be told", id="too much noise"),
        pytest.param(samples(10, an_hour=-1.5, noise=0.15), 10, True, "", id="a fall amid noise"),
        pytest.param(samples(10, machine=5.0), 10, True, "100%", id="a machine that gets slower"),
        pytest.param(samples(10, machine=-0.9, slower=3.0), 10, False, "100%: it grows", id="a service that does"),
        pytest.param(
            samples(10, waited=CALM + 0.1), 10, False, "was busy with others: can't be told", id="a busy machine"
        ),
        pytest.param(samples(0.5, an_hour=9.0), 0.5, True, "Too short to tell a slope", id="too short"),
    ],
)
def test_what_grows_is_told_from_what_does_not(
    found: list[Sample], minutes: float, well: bool, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(found, minutes) is well
    assert said in capsys.readouterr().out


def test_a_wait_is_counted_from_the_look_before_to_the_look_after() -> None:
    waits = Waits()
    waits._moments, waits._sums = [0.0, 1.0, 2.0, 3.0], [0.0, 0.1, 0.7, 0.7]

    assert waits.between(1.2, 1.8) == pytest.approx(0.6)
    assert waits.between(2.0, 9.0) == 0.0
    assert Waits().between(0.0, 1.0) == 0.0
