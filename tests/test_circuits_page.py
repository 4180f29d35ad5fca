"""docs/circuits.md names every cause, state and number, and its example sentences are those of the code."""

import re
from dataclasses import Field, fields, replace
from pathlib import Path

import pytest

from breaker.answer import Ended
from breaker.circuit import OPENS, Cause, Circuit, State, due
from breaker.log import Log
from breaker.policy import Policy
from breaker.verdict import Blame, Verdict
from tests.api.scenes import knows
from tests.entries import by_agent, entry, failed, good, probes, silent, slow

PAGE = (Path(__file__).parents[1] / "docs" / "circuits.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))
AT = 100_000.0
FAILURE = Blame.PROVIDER_FAILURE


@pytest.mark.parametrize("cause", Cause)
def test_the_page_names_every_cause(cause: Cause) -> None:
    assert f"`{cause.value}`" in PAGE


@pytest.mark.parametrize("cause", [*sorted(OPENS), Cause.MANUAL])
def test_what_opens_a_circuit_has_a_section(cause: Cause) -> None:
    assert re.search(rf"^### (.*\b)?{cause.value}\b", PAGE, re.MULTILINE)


@pytest.mark.parametrize("state", State)
def test_the_page_names_every_state(state: State) -> None:
    assert state.value.replace("held-open", "held").replace("held-closed", "held") in PAGE


@pytest.mark.parametrize("field", fields(Policy), ids=lambda field: field.name)
def test_the_page_names_every_number_with_its_default(field: Field[object]) -> None:
    default = str(field.default).lower() if isinstance(field.default, bool) else f"{field.default:g}"

    assert re.search(rf"`{field.name}` {re.escape(default)}(?![\d.]*\d)", PAGE)


def late_twice() -> Log:
    first = by_agent(replace(slow(AT - 60), answer=replace(slow(AT - 60).answer, first_byte_s=43.1)))
    confirms = silent(AT, name="p", confirms=first.answer.id)
    return Log(probes=(confirms,), reports=(first,))


def failed_twice() -> Log:
    first = by_agent(failed(AT - 10))
    unreachable = entry(AT, status=None, first_byte_s=None, ended=Ended.UNREACHABLE, confirms=first.answer.id)
    return Log(probes=(unreachable,), reports=(first,))


def half_failed() -> Log:
    """Every second one, the second of them with nothing in it."""
    made = [failed(AT - 60 * i, status=502) if i % 2 == 0 else good(AT - 60 * i) for i in range(9, -1, -1)]
    nothing = entry(AT - 360)
    made[3] = replace(nothing, answer=replace(nothing.answer, text_chars=0), verdict=Verdict.EMPTY, blame=FAILURE)
    return probes(*made)


def slumped() -> Log:
    late = [good(AT - 60 * i, first_byte_s=20.0 + i) for i in range(7, -1, -1)]
    return knows(probes(*late), usual_s=5.0)


def throttled() -> Log:
    asked = entry(AT, status=429, first_byte_s=None)
    return probes(replace(asked, answer=replace(asked.answer, retry_after_s=30.0)))


def out_of_credit() -> Log:
    return probes(entry(AT, status=402, first_byte_s=None))


@pytest.mark.parametrize(
    ("section", "log", "exact"),
    [
        pytest.param("slow", late_twice(), True, id="slow"),
        pytest.param("errors", failed_twice(), True, id="errors"),
        pytest.param("error_rate", half_failed(), True, id="error_rate"),
        pytest.param("slump", slumped(), False, id="slump"),
        pytest.param("rate_limited", throttled(), True, id="rate_limited"),
        pytest.param("quota", out_of_credit(), True, id="quota"),
    ],
)
def test_an_example_is_what_the_ledger_says(section: str, log: Log, exact: bool) -> None:
    """One that ends in dots goes on; where numbers are made up, the words between them are the same."""
    (example,) = re.findall(r"^> opened [\d:]+ because (.*)$", SECTIONS[section], re.MULTILINE)

    move = due(Circuit(epoch="e"), log, Policy(), AT)

    assert move is not None
    assert move.cause.value == section
    said = move.why if exact else _numberless(move.why)
    told = example if exact else _numberless(example)
    assert said.startswith(told.removesuffix("…")) if told.endswith("…") else said == told


def _numberless(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?", "N", text)
