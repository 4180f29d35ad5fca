"""The rules that are shipped: they hold together with the code, with their tests and with the runbooks."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from breaker.circuit import OPENS
from breaker.verdict import Verdict
from tests.processes import ROOT
from tests.watching.promql import exported, faults, selectors

FOLDER = ROOT / "deploy" / "prometheus"
RUNBOOKS = ROOT / "docs" / "runbooks"


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def rules(name: str) -> list[dict[str, Any]]:
    return [rule for group in load(FOLDER / name)["groups"] for rule in group["rules"]]


RECORDING, ALERTS = rules("recording.yml"), rules("alerts.yml")
TESTED = [
    check
    for name in ("alerts_test.yml", "alerts_slow_test.yml")
    for test in load(FOLDER / name)["tests"]
    for check in test["alert_rule_test"]
]
KNOWN = exported() | {rule["record"]: {"provider", "model"} for rule in RECORDING}


def tool(*words: str) -> str:
    done = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(
            ("promtool", "check", "rules", "--lint=all", "--lint-fatal", "recording.yml", "alerts.yml"), id="rules"
        ),
        pytest.param(("promtool", "check", "config", "prometheus.yml"), id="Prometheus"),
        pytest.param(("amtool", "check-config", "../alertmanager/alertmanager.yml"), id="Alertmanager"),
        *(pytest.param(("promtool", "test", "rules", path.name), id=path.name) for path in FOLDER.glob("*_test.yml")),
    ],
)
def test_their_own_tools_find_no_fault(words: tuple[str, ...]) -> None:
    assert "SUCCESS" in tool(*words)


@pytest.mark.parametrize("rule", RECORDING + ALERTS, ids=lambda rule: rule.get("record") or rule["alert"])
def test_a_rule_asks_for_nothing_that_is_not_there(rule: dict[str, Any]) -> None:
    assert list(selectors(rule["expr"]))
    assert faults(rule["expr"], KNOWN) == []
    assert set(re.findall(r"\$labels\.(\w+)", str(rule.get("annotations")))) <= {
        "provider",
        "model",
        "route",
        "instance",
        "form",
    }


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("firstbyte_probe_total", "no metric firstbyte_probe_total"),
        ('firstbyte_probes_total{target="a"}', "firstbyte_probes_total has no label target"),
        ('firstbyte_circuit_state{state="half_open"}', "firstbyte_circuit_state: no state half_open"),
        ("sum by (target) (firstbyte_probes_total)", "nothing has the label target"),
        (
            'firstbyte_probe_first_byte_seconds_bucket{le="41.0"}',
            "firstbyte_probe_first_byte_seconds_bucket: no le 41.0",
        ),
    ],
)
def test_a_mistake_in_an_expression_is_found(expression: str, fault: str) -> None:
    assert faults(expression, KNOWN) == [fault]


def test_what_is_recorded_is_used_by_an_alert_or_a_dashboard() -> None:
    read = "".join(path.read_text() for path in [FOLDER / "alerts.yml", *(ROOT / "dashboards").glob("*.json")])

    assert [rule["record"] for rule in RECORDING if rule["record"] not in read] == []


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_fires_in_one_test_and_is_quiet_in_another(alert: dict[str, Any]) -> None:
    of_it = [bool(check["exp_alerts"]) for check in TESTED if check["alertname"] == alert["alert"]]

    assert set(of_it) == {True, False}


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_says_in_a_sentence_what_it_is_and_has_a_page(alert: dict[str, Any]) -> None:
    name, told = alert["alert"], alert["annotations"]
    page = (RUNBOOKS / f"{name}.md").read_text()

    assert name.startswith("Firstbyte")
    assert alert["labels"]["severity"] in ("critical", "warning", "info")
    assert told["runbook_url"] == f"docs/runbooks/{name}.md"
    assert re.fullmatch(r"[A-Z][^{}]+\.", told["summary"])
    assert told["description"].endswith(".")
    assert re.findall(r"^#+ (.+)", page, re.MULTILINE) == [name, "Meaning", "Impact", "Check", "Fix"]
    assert f"[{name}]({name}.md): {told['summary']}" in (RUNBOOKS / "README.md").read_text()


def test_there_is_no_page_without_its_alert() -> None:
    assert {path.stem for path in RUNBOOKS.glob("F*.md")} == {alert["alert"] for alert in ALERTS}


def test_the_pages_name_only_metrics_that_there_are() -> None:
    named = {name for path in RUNBOOKS.glob("*.md") for name in re.findall(r"\bfirstbyte_\w+", path.read_text())}

    assert named - set(KNOWN) == set()


def test_flapping_counts_what_opens_a_circuit() -> None:
    (flapping,) = [alert for alert in ALERTS if alert["alert"] == "FirstbyteCircuitFlapping"]
    (selector,) = selectors(flapping["expr"])

    assert set(selector.matchers["cause"][1].split("|")) == OPENS


def test_every_verdict_is_the_providers_fault_or_is_left_out_of_its_error_budget() -> None:
    burned = {value for rule in RECORDING if "failures" in rule["record"] for value in _values(rule["expr"], "verdict")}
    refusals = {Verdict.RATE_LIMITED, Verdict.QUOTA, Verdict.AUTH, Verdict.NOT_FOUND}
    ours = {Verdict.LENGTH, Verdict.FILTERED, Verdict.CONTEXT_TOO_LONG, Verdict.BAD_REQUEST, Verdict.CANCELLED}

    assert burned == refusals | ours


def _values(expression: str, label: str) -> list[str]:
    return [v for one in selectors(expression) if label in one.matchers for v in one.matchers[label][1].split("|")]


def test_what_is_inhibited_is_an_alert_of_ours() -> None:
    names = {alert["alert"] for alert in ALERTS}
    for rule in load(ROOT / "deploy" / "alertmanager" / "alertmanager.yml")["inhibit_rules"]:
        source, *targets = (
            re.findall(r'alertname=~?"(.+)"', each) for each in (*rule["source_matchers"], *rule["target_matchers"])
        )
        assert set(source) <= names
        for pattern in (one for each in targets for one in each):
            assert any(re.fullmatch(pattern, name) for name in names), pattern
