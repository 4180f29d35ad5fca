"""When a client knows that its service doesn't answer."""

import pytest

from breaker.client.run.journal import KNOWN_S
from breaker.client.silence import FRESH_S, SILENT_S, Silence


@pytest.mark.parametrize(
    ("questions", "at", "lasts"),
    [
        pytest.param([], 100.0, False, id="nobody has asked"),
        pytest.param([(100.0, 102.0)], 102.0, True, id="one was given up"),
        pytest.param([(100.0, 101.0)], 101.0, False, id="it was given up too soon to say so"),
        pytest.param([(103.0, 104.0), (107.0, 108.0)], 108.0, True, id="two were, without an answer between them"),
        pytest.param([(103.0, 104.0), (113.0, 114.0)], 114.0, False, id="two were, long after each other"),
        pytest.param([(100.0, 102.0), 103.0], 103.0, False, id="it has answered since"),
        pytest.param([101.0, (100.0, 102.0)], 102.0, False, id="it answered another one meanwhile"),
        pytest.param([(100.0, 102.0), 103.0, (103.5, 104.5)], 104.5, False, id="it is counted anew after an answer"),
        pytest.param([(103.0, 105.0), (100.0, 110.0)], 110.0, True, id="one that was asked before ends later"),
        pytest.param([(100.0, 102.0)], 102.0 + FRESH_S, False, id="nobody has asked for long"),
    ],
)
def test_a_service_is_silent_that_lets_all_questions_wait(
    questions: list[float | tuple[float, float]], at: float, *, lasts: bool
) -> None:
    silence = Silence()
    for question in questions:
        if isinstance(question, tuple):
            silence.unheard(*question)
        else:
            silence.heard(question)

    assert silence.lasts(at) is lasts


def test_it_is_known_by_the_time_for_which_a_first_write_waits() -> None:
    assert SILENT_S <= KNOWN_S
