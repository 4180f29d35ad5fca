"""The page about the configuration says what holds."""

import re
import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from breaker.policy import Policy
from breaker.target import Ability
from monitor.config import load, reference
from monitor.config.keys import BUDGET, POLICY, PRICE, PROBE
from monitor.config.shapes import Section
from monitor.settings import Budget, Price, ProbeShape

_PAGE = Path(__file__).parent.parent / reference.PAGE
WEBHOOKS = dict.fromkeys(("SLACK_WEBHOOK_URL", "NTFY_TOPIC_URL"), "https://hooks.example/secret")
_EXAMPLES = re.findall(r"```yaml\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_tables_of_the_page_are_those_of_the_keys() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    assert reference.filled(page) == page, "run: python -m monitor.config.reference"


def test_stale_table_is_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    shutil.copy(_PAGE, page)
    page.write_text(page.read_text(encoding="utf-8").replace("| 40 |", "| 41 |"), encoding="utf-8")
    reference.main(page)
    assert page.read_text(encoding="utf-8") == _PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("section", "owner"),
    [(POLICY, Policy), (PROBE, ProbeShape), (BUDGET, Budget), (PRICE, Price)],
    ids=["policy", "probe", "budget", "price"],
)
def test_every_field_has_a_key_and_every_key_a_field(section: Section, owner: type) -> None:
    assert [key.name for key in section.keys] == [field.name for field in fields(owner)]


@pytest.mark.parametrize("section", [POLICY, PROBE], ids=["policy", "probe"])
def test_page_explains_every_number_with_its_default(section: Section) -> None:
    page = _PAGE.read_text(encoding="utf-8")
    for key in section.keys:
        assert re.search(
            rf"^\| `{key.name}` \| [^|]+ \| {re.escape(key.default)} \| {re.escape(key.line)} \|$", page, re.MULTILINE
        )


@pytest.mark.parametrize("text", _EXAMPLES)
def test_example_of_the_page_has_no_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "firstbyte.yaml"
    path.write_text(text, encoding="utf-8")
    assert load(path, dict.fromkeys(("ZAI_API_KEY", "OPENROUTER_API_KEY", "STORE_PASSWORD"), "key") | WEBHOOKS).targets


def test_the_page_explains_every_ability() -> None:
    page = _PAGE.read_text(encoding="utf-8")

    assert re.findall(r"^\| `(\w+)` \| (?!.*\|.*\|)", page.split("#### What a model can do")[1], re.MULTILINE) == [
        *Ability
    ]
