import pytest

from breaker.answer import Finish
from breaker.wire.signs import _SIGNS, PHRASES, finish_of

TABLES = ["codes", "sayings", "kinds", "finishes", "finish_faults"]
WORDS = ["parties", "troubles", "log_levels", "speakers"]


@pytest.mark.parametrize("entry", _SIGNS, ids=[entry["who"] for entry in _SIGNS])
def test_every_sign_has_a_source_and_a_date(entry: dict[str, object]) -> None:
    assert entry["source"]
    assert entry["seen"]
    assert entry.keys() <= {"who", "source", "seen", *TABLES, *WORDS, "phrases", "cues"}


@pytest.mark.parametrize("part", TABLES)
def test_signs_stand_once_and_in_small_letters(part: str) -> None:
    signs = [sign for entry in _SIGNS for sign in entry.get(part, {})]

    assert len(set(signs)) == len(signs)
    assert [sign.lower() for sign in signs] == signs


def test_phrases_have_ids_of_their_own() -> None:
    assert not [phrase.id for phrase in PHRASES if phrase.id.startswith("like-")]
    assert len({phrase.id for phrase in PHRASES}) == len(PHRASES)
    assert all(phrase.tail >= 0 and phrase.text == phrase.text.lstrip() for phrase in PHRASES)


def test_a_finish_is_known_in_any_letters() -> None:
    assert finish_of("STOP") is Finish.STOP
    assert finish_of("unheard of") is Finish.OTHER
