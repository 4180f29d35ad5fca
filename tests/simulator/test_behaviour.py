"""Telling a behaviour in JSON and in a line."""

import pytest

from monitor.simulator import MEANINGS, Behaviour, BehaviourName


def test_every_behaviour_has_a_meaning() -> None:
    assert set(MEANINGS) == set(BehaviourName)


def test_a_behaviour_is_read_from_json() -> None:
    read = Behaviour.read({"behaviour": "first_byte_after", "after_s": 3})

    assert read == Behaviour(name=BehaviourName.FIRST_BYTE_AFTER, after_s=3)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("healthy", Behaviour(), id="a name"),
        pytest.param("stall, tokens=3", Behaviour(name=BehaviourName.STALL, tokens=3), id="a number"),
        pytest.param("healthy,headers_s=null", Behaviour(headers_s=None), id="none"),
        pytest.param(
            "gateway_text,phrase=Try again",
            Behaviour(name=BehaviourName.GATEWAY_TEXT, phrase="Try again"),
            id="text",
        ),
    ],
)
def test_a_behaviour_is_read_from_a_line(line: str, expected: Behaviour) -> None:
    assert Behaviour.parse(line) == expected


def test_what_a_behaviour_tells_reads_as_itself() -> None:
    behaviour = Behaviour(name=BehaviourName.HTTP_ERROR, status=429, retry_after_s=30, phrase="wait")

    assert Behaviour.read(behaviour.told()) == behaviour


def test_an_unknown_behaviour_names_the_ones_there_are() -> None:
    with pytest.raises(ValueError, match=r"unknown behaviour 'staal'; there are: healthy, .*, http_error"):
        Behaviour.parse("staal")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("stall,token=3", "unknown parameter 'token'; there are: first_byte_s, ", id="unknown"),
        pytest.param("stall,tokens", "'tokens' is not of the form name=value", id="no value"),
        pytest.param("stall,tokens=1.5", "tokens must be a whole number, not 1.5", id="half a token"),
        pytest.param("stall,tokens=-1", "tokens must be from 0 to 100000, not -1", id="negative"),
        pytest.param("healthy,first_byte_s=soon", "first_byte_s must be a number, not 'soon'", id="text"),
        pytest.param("healthy,first_byte_s=true", "first_byte_s must be a number, not True", id="truth"),
        pytest.param("healthy,first_byte_s=null", "first_byte_s must be a number, not None", id="none"),
        pytest.param("healthy,first_byte_s=NaN", "first_byte_s must be from 0 to 1000000, not nan", id="nan"),
        pytest.param("healthy,tokens_per_s=0", "tokens_per_s must be more than 0", id="no flow"),
        pytest.param("http_error,status=418", "status 418 is not one of 400, 401, ", id="status"),
        pytest.param("gateway_text,phrase=7", "phrase must be text, not 7", id="phrase"),
    ],
)
def test_a_parameter_that_can_t_be_is_refused(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Behaviour.parse(line)
