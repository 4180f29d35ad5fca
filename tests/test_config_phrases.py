"""Phrases of a user's own gateways, from the file to the places that look for them."""

from pathlib import Path

import pytest

from breaker.wire.signs import PHRASES, Phrase
from monitor.config import ConfigError, load, phrases_in
from monitor.config.faults import Unfit
from monitor.config.phrases import MAX_PHRASES, TAIL, phrase
from tests.config_cases import FOLDER

SMALL = (FOLDER / "good-smallest.yaml").read_text()
OWN = SMALL + 'phrases:\n  - "  The relay is resting  "\n  - {text: "水泵站现在关闭", tail: 9}\n'
EXPECTED = (
    Phrase(id="own-1", text="The relay is resting", tail=TAIL),
    Phrase(id="own-2", text="水泵站现在关闭", tail=9),
)


def _written(folder: Path, text: str) -> Path:
    path = folder / "firstbyte.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_ones_own_stand_before_those_that_come_with_us(tmp_path: Path) -> None:
    settings = load(_written(tmp_path, OWN), {"ZAI_API_KEY": "key"})

    assert settings.phrases == (*EXPECTED, *PHRASES)
    assert {plan.phrases for plan in settings.targets} == {settings.phrases}


def test_without_any_those_that_come_with_us_are_looked_for(tmp_path: Path) -> None:
    assert load(_written(tmp_path, SMALL), {"ZAI_API_KEY": "key"}).phrases == PHRASES


def test_phrases_alone_need_no_variable(tmp_path: Path) -> None:
    text = OWN.replace("    models", "    api_key_env: NOWHERE_TO_BE_FOUND\n    models")

    assert phrases_in(_written(tmp_path, text))[:2] == EXPECTED


def test_phrases_alone_are_checked_with_the_whole_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'begin too\n.*\n.*has no key "phrasse"') as caught:
        phrases_in(_written(tmp_path, f"{SMALL}phrases: [Sure]\nphrasse: []\n"))
    assert len(caught.value.faults) == 2


def test_more_than_anyone_needs_are_a_fault(tmp_path: Path) -> None:
    lines = "".join(f"  - the relay says number {n}\n" for n in range(MAX_PHRASES + 1))

    with pytest.raises(ConfigError, match=f"phrases: there are {MAX_PHRASES + 1} of them"):
        phrases_in(_written(tmp_path, f"{SMALL}phrases:\n{lines}"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("   \n  ", id="blanks"),
        pytest.param("I'm sorry", id="an apology"),
        pytest.param("Here is", id="a begin"),
        pytest.param("**********************", id="signs alone"),
        pytest.param("\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000", id="no characters"),
        pytest.param("水泵站", id="three Chinese characters"),
        pytest.param("The relay\tis resting", id="a tab"),
        pytest.param("x" * 301, id="too long"),
    ],
)
def test_no_phrase(text: str) -> None:
    assert isinstance(phrase(text), Unfit)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Bad gateway", id="two words"),
        pytest.param("[Proxy Error]", id="in brackets"),
        pytest.param("服务繁忙", id="four Chinese characters"),
        pytest.param("The relay\nis resting", id="two lines"),
        pytest.param("x" * 300, id="long"),
    ],
)
def test_a_phrase(text: str) -> None:
    assert phrase(text) == text
