"""The dashboards: made from their definitions, right by the rules of Grafana's linter, and true to the code."""

import re
from typing import Any

import pytest
import yaml

from breaker.circuit import OPENS, Cause
from dashboards import ALL, Dashboard, queries
from tests.watching.grafana import CHOSEN, COMMITTED, FOLDER, annotations, panels, targets
from tests.watching.promql import exported, faults, selectors

KNOWN = exported()
UNITS = {"none", "short", "s", "percentunit", "currencyUSD", "reqps", "ops", "bytes"}
NAMED = {"job", "instance", "provider", "model", "route"}

each = pytest.mark.parametrize("dashboard", COMMITTED.values(), ids=COMMITTED)


@pytest.mark.parametrize("made", ALL, ids=lambda made: made.name)
def test_what_is_committed_is_what_its_definition_makes(made: Dashboard) -> None:
    assert (FOLDER / made.file).read_text() == made.text(), "make the dashboards anew: python -m dashboards"


def test_there_is_no_dashboard_without_a_definition() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(COMMITTED)
    assert len({dashboard["uid"] for dashboard in COMMITTED.values()}) == len(COMMITTED)


# The rules of Grafana's dashboard-linter


@each
def test_a_dashboard_has_the_form_that_grafana_10_to_13_read(dashboard: dict[str, Any]) -> None:
    assert dashboard["schemaVersion"] == 39
    assert dashboard["editable"] is False
    assert dashboard["tags"] == ["firstbyte"]
    assert not {"__inputs", "__requires", "id"} & set(dashboard)


@each
def test_the_data_source_is_chosen_by_a_variable(dashboard: dict[str, Any]) -> None:
    source = dashboard["templating"]["list"][0]

    assert (source["type"], source["name"], source["label"], source["query"]) == (
        "datasource",
        "datasource",
        "Data source",
        "prometheus",
    )


@each
def test_job_and_instance_are_chosen_and_lists_follow_the_time(dashboard: dict[str, Any]) -> None:
    variables = {one["name"]: one for one in dashboard["templating"]["list"]}
    asked = [one for one in variables.values() if one["type"] == "query"]

    assert {"job", "instance"} <= set(variables)
    for one in asked:
        assert one["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert one["label"] == one["name"].title()
        assert one["refresh"] == 2
        assert faults(one["query"]["query"], KNOWN) == []
    for name in ("job", "instance"):
        assert variables[name]["multi"]
        assert variables[name]["allValue"] == ".+"


@each
def test_every_panel_says_what_it_shows_from_where_and_in_which_unit(dashboard: dict[str, Any]) -> None:
    for panel in panels(dashboard):
        where = panel["title"]
        assert where, panel["id"]
        assert re.fullmatch(r"[A-Z`].*\.", panel["description"], re.DOTALL), where
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, where
        assert panel["targets"], where
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS, where
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"]), where


@each
def test_every_metric_is_filtered_by_job_and_instance_and_by_what_can_be_chosen(dashboard: dict[str, Any]) -> None:
    chosen = {one["name"] for one in dashboard["templating"]["list"]} & NAMED
    for asked in [*targets(dashboard), *annotations(dashboard)]:
        found = list(selectors(asked.expr))
        assert found, asked
        for name, matchers in found:
            wanted = {"job", "instance"} | (chosen & KNOWN[name])
            assert {label for label in wanted if matchers.get(label) == ("=~", f"${label}")} == wanted, asked


@each
def test_counters_are_seen_as_rates_over_grafanas_own_interval(dashboard: dict[str, Any]) -> None:
    for asked in targets(dashboard):
        assert not re.search(r"\bi?rate\((?:(?!\[\$__rate_interval\])[^\[])*\[(?!\$__rate_interval\])", asked.expr), (
            asked
        )
        for counter in re.finditer(r"firstbyte_\w+_(?:total|bucket|sum|count)\{[^}]*\}(\[[^\]]+\])?", asked.expr):
            before = asked.expr[: counter.start()]
            assert re.search(r"\b(rate|irate|increase)\($", before), asked
            assert counter[1], asked


# What holds them together


@each
def test_a_dashboard_asks_for_nothing_that_is_not_there(dashboard: dict[str, Any]) -> None:
    for asked in [*targets(dashboard), *annotations(dashboard)]:
        assert faults(asked.expr, KNOWN) == [], asked


@each
def test_a_variable_that_is_used_is_defined_and_one_that_is_defined_is_used(dashboard: dict[str, Any]) -> None:
    defined = {one["name"] for one in dashboard["templating"]["list"]}
    text = str({**dashboard, "templating": [one["query"] for one in dashboard["templating"]["list"]]})
    used = {name for pair in re.findall(r"\$(\w+)|\$\{(\w+)", text) for name in pair if name}

    assert {name for name in used if not name.startswith("__")} == defined
    assert {name for name in used if name.startswith("__")} <= {name for name in CHOSEN if "__" in name} | {
        "__all",
        "__data",
        "__url_time_range",
    }


@each
def test_no_two_panels_share_a_place_or_a_number(dashboard: dict[str, Any]) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not taken & cells, panel["title"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


@each
def test_rows_of_numbers_are_filled(dashboard: dict[str, Any]) -> None:
    lines: dict[int, int] = {}
    for panel in panels(dashboard):
        if panel["type"] in ("stat", "bargauge") and panel["gridPos"]["h"] == 4:
            lines[panel["gridPos"]["y"]] = lines.get(panel["gridPos"]["y"], 0) + panel["gridPos"]["w"]

    assert set(lines.values()) <= {24}, lines


@each
def test_a_dashboard_leads_to_the_others_and_to_the_status_page(dashboard: dict[str, Any]) -> None:
    others, page = dashboard["links"]

    assert (others["type"], others["tags"], others["keepTime"]) == ("dashboards", ["firstbyte"], True)
    assert page["url"] == "${status_page:raw}"
    for uid in re.findall(r"/d/([\w-]+)", str(dashboard)):
        assert uid in {one["uid"] for one in COMMITTED.values()}


def test_times_of_first_bytes_show_the_limit_that_the_policy_names() -> None:
    shown = [panel for dashboard in COMMITTED.values() for panel in panels(dashboard) if panel["type"] == "timeseries"]
    limits = {
        panel["title"]: target["legendFormat"]
        for panel in shown
        for target in panel["targets"]
        if "firstbyte_probe_slow_limit_seconds" in target["expr"]
    }
    dashed = {
        panel["title"]: each["matcher"]["options"]
        for panel in shown
        for each in panel["fieldConfig"]["overrides"]
        if "custom.lineStyle" in {one["id"] for one in each["properties"]}
    }

    assert set(limits) == {
        "First byte of each probe",
        "First byte, headers and end of each probe",
        "Quantiles of the first byte",
    }
    assert dashed == limits


@each
def test_a_number_of_one_target_says_which(dashboard: dict[str, Any]) -> None:
    for panel in panels(dashboard):
        exprs = [target["expr"] for target in panel["targets"]]
        if panel["type"] == "stat" and re.match(r"topk|max by|\(max by", exprs[0]):
            assert panel["options"]["textMode"] == "value_and_name", panel["title"]
            assert "{{" in panel["targets"][0]["legendFormat"], panel["title"]


def test_what_closes_a_circuit_is_a_cause_that_opens_none() -> None:
    assert set(queries.CLOSES.split("|")) <= set(Cause) - OPENS


def test_every_metric_of_the_service_is_looked_at_somewhere() -> None:
    """What no dashboard and no rule asks for is named here with its reason."""
    rules = "".join(path.read_text() for path in (FOLDER.parent / "deploy" / "prometheus").glob("[ar]*s.yml"))
    seen = rules + "".join((FOLDER / f"{name}.json").read_text() for name in COMMITTED)
    unseen = {name for name in KNOWN if name.startswith("firstbyte_") and name not in seen}

    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in unseen} - {
        re.sub(r"_(bucket|sum|count)$", "", name) for name in KNOWN if name in seen
    } == {
        "firstbyte_event_readers_dropped_total",  # such a reader resumes where it was, and misses nothing
        "firstbyte_probe_budget_usd",  # the share that is used is shown
    }


def test_grafana_expects_points_as_often_as_prometheus_scrapes() -> None:
    deploy = FOLDER.parent / "deploy"
    source = yaml.safe_load((deploy / "grafana/provisioning/datasources/prometheus.yml").read_text())["datasources"][0]
    scraping = yaml.safe_load((deploy / "prometheus/prometheus.yml").read_text())["global"]

    assert source["jsonData"]["timeInterval"] == scraping["scrape_interval"]
    assert source["type"] == "prometheus"
