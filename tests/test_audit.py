"""The audit of agents' tasks: what is written, what never is, and the schema of a line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from breaker.done import decide
from breaker.run import Effect, Fact, State, fold
from breaker.switchboard import Concluded, Staged
from breaker.verdict import Verdict
from monitor.audit import Audit, AuditError, auditing, schema
from monitor.settings import AuditPlan
from tests.run.made import answer, bad, wrote

DOCS = Path(__file__).parents[1] / "docs"
LOW, HIGH = "00000000", "ffffffff"
SECRET = "customer-5512"


def concluded(mark: str, *facts: Fact) -> Concluded:
    return Concluded(mark=mark, ruling=decide(fold(facts)), provider="zai", claim=True)


def staged(mark: str, state: State) -> Staged:
    stage = wrote(SECRET, 3, state, reference=SECRET, error=SECRET, idempotency_key=SECRET, seconds=2.0, at_s=4.0)
    return Staged(mark=mark, stage=stage)


def written(share: float, *told: Staged | Concluded) -> list[dict[str, Any]]:
    lines: list[bytes] = []
    audit = Audit(lines.append, share)
    for one in told:
        audit.staged(one) if isinstance(one, Staged) else audit.concluded(one)
    return [json.loads(line) for line in lines]


FAILED = concluded(HIGH, bad(1, Verdict.EMPTY))
DONE = concluded(HIGH, answer(1))


def test_what_was_not_done_failed_or_is_unknown_is_always_written() -> None:
    told: list[Staged | Concluded] = [FAILED, DONE, *(staged(HIGH, state) for state in State)]

    assert [(line["kind"], line.get("state")) for line in written(0.0, *told)] == [
        ("decision", None),
        ("operation", "unknown"),
        ("operation", "failed"),
    ]
    assert len(written(1.0, *told)) == len(told)


def test_of_the_rest_a_share_of_runs_is_written_whole() -> None:
    low: list[Staged | Concluded] = [concluded(LOW, answer(1)), staged(LOW, State.SUCCEEDED)]

    assert len(written(0.2, *low, DONE, staged(HIGH, State.SUCCEEDED))) == 2
    marks = [f"{number * 0x0101_0101:08x}" for number in range(256)]
    assert len(written(0.2, *(concluded(mark, answer(1)) for mark in marks))) == 52


def test_no_name_no_id_and_nothing_from_outside_is_in_a_line() -> None:
    facts: list[Fact] = [
        wrote(SECRET, 1, State.FAILED, error=SECRET, reference=SECRET),
        answer(2, id=SECRET, target="zai/glm"),
    ]
    lines = written(1.0, concluded(LOW, *facts), staged(LOW, State.FAILED))

    assert SECRET not in json.dumps(lines)
    assert lines[0]["operations"] == {"succeeded": 0, "failed": 1, "unknown": 0, "executing": 0, "planned": 0}
    assert (lines[1]["keyed"], lines[1]["seconds"], lines[1]["at_s"]) == (True, 2.0, 4.0)


def test_the_three_records_stay_apart() -> None:
    (line,) = written(0.0, FAILED)

    assert line["protocol"] == {"ended": "complete", "status": 200, "finish": "stop"}
    assert line["detector"] == {"verdict": "empty", "class": "provider_failure", "why": "a test"}
    assert line["checks"] == {"passed": 0, "failed": 0, "unknown": 0}


def fits(line: object, shape: Any) -> bool:  # Any: a JSON schema
    """Whether a value fits a schema, as far as ours go."""
    if "oneOf" in shape:
        return sum(fits(line, one) for one in shape["oneOf"]) == 1
    if "const" in shape:
        return bool(line == shape["const"])
    if isinstance(line, dict):
        known = shape.get("properties", {})
        whole = shape["type"] == "object" and set(shape["required"]) <= set(line) <= set(known)
        return whole and all(fits(value, known[name]) for name, value in line.items())
    kinds: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "boolean": (bool,),
        "integer": (int,),
        "number": (int, float),
        "null": (type(None),),
        "array": (list,),
        "object": (),
    }
    named = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
    of_kind = any(type(line) in kinds[name] for name in named)
    items = all(fits(one, shape["items"]) for one in line) if isinstance(line, list) else True
    return of_kind and items and line in shape.get("enum", [line])


@pytest.mark.parametrize(
    "told",
    [[FAILED, DONE, concluded(LOW)], [staged(LOW, state) for state in State]],
    ids=["decisions", "operations"],
)
def test_every_line_is_as_the_schema_says(told: Sequence[Staged | Concluded]) -> None:
    shape = json.loads((DOCS / "audit.schema.json").read_text(encoding="utf-8"))

    assert all(fits(line, shape) for line in written(1.0, *told))
    assert not fits({**written(1.0, *told)[0], "tool": "refund"}, shape)


def test_the_schema_and_the_example_of_the_page_are_those_of_the_code() -> None:
    page = (DOCS / "audit.schema.json").read_text(encoding="utf-8")
    example = (DOCS / "runs.md").read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]

    assert page == json.dumps(schema(), indent=2) + "\n", "python -m monitor.audit >docs/audit.schema.json"
    assert fits(json.loads(example), schema())


def test_it_goes_to_a_file_that_grows(tmp_path: Path) -> None:
    plan = AuditPlan(to=str(tmp_path / "audit.jsonl"), share=1.0)
    for _ in range(2):
        with auditing(plan) as (made,):
            made.audit.concluded(DONE)
            made.audit.staged(staged(LOW, State.SUCCEEDED))

    lines = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["decision", "operation"] * 2


def test_a_full_disk_costs_lines_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    with auditing(AuditPlan(to="/dev/full", share=1.0)) as (made,):
        for _ in range(3):
            made.audit.concluded(DONE)

    assert made.outlet.dropped == 3
    assert [record.getMessage() for record in caplog.records] == [
        "lines of the audit are lost: they can't be written, or not as fast as they come"
    ]


def test_it_goes_to_the_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    with auditing(AuditPlan(to="stdout")) as (made,):
        made.audit.concluded(FAILED)

    assert json.loads(capfd.readouterr().out)["kind"] == "decision"


def test_without_a_place_nothing_is_written() -> None:
    with auditing(AuditPlan()) as audits:
        assert audits == ()


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="below `audit: to`"), auditing(AuditPlan(to=str(tmp_path))):
        pass


def test_what_reads_is_told_apart_from_what_writes() -> None:
    (line,) = written(0.0, staged(HIGH, State.FAILED))

    assert line["effect"] == Effect.WRITE
