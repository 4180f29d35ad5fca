"""The dashboard that is looked at first."""

from dashboards.frame import Dashboard, Row
from dashboards.panels import (
    FIRST_BYTE,
    GREEN,
    ORANGE,
    RED,
    SHARE,
    STATES,
    VERDICTS,
    bars,
    lines,
    stat,
    timeline,
)
from dashboards.queries import GIVEN, STATE, TARGET, Query, share
from dashboards.tables import Column, table

_BY = "provider, model"
# A sample stands for the moment at which its scrape began, and may tell of one a little later.
_AGE = f"clamp_min(time() - max by ({_BY}) (firstbyte_probe_last_finished_timestamp_seconds), 0)"
_LAST = f"max by ({_BY}) (firstbyte_probe_last_first_byte_seconds)"
_QUANTILE = f"max by ({_BY}) (quantile_over_time(%s, firstbyte_probe_last_first_byte_seconds[$window]))"

_GOOD = {0: ("failed", RED), 1: ("good", GREEN)}
_PROVIDER = "/d/firstbyte-provider?var-provider=${__data.fields.provider}&${datasource:queryparam}&${__url_time_range}"


def _failed(span: str) -> str:
    return share("firstbyte_probe_failures_total", "firstbyte_probes_total", _BY, span)


_NOW = Row(
    title="Now",
    panels=(
        stat(
            "Targets that take agents",
            "Targets whose circuit is closed, or held closed by hand.",
            f'sum(max by ({_BY}) (firstbyte_circuit_state{{state=~"closed|held-closed"}}))',
            "short",
            steps=((None, RED), (1, GREEN)),
        ),
        stat(
            "Routes without a target",
            "Routes all of whose targets are out: agents get the least bad one.",
            "count(max by (route) (firstbyte_route_targets_available) == 0) or vector(0)",
            "short",
            steps=((None, GREEN), (1, RED)),
        ),
        stat(
            "Open circuits",
            "Targets that no agent is sent to: open, half-open or held open by hand.",
            f'sum(max by ({_BY}) (firstbyte_circuit_state{{state=~"open|half-open|held-open"}}))',
            "short",
            steps=((None, GREEN), (1, ORANGE)),
        ),
        stat(
            "Most failed probes",
            "Of whose probes the largest share failed in the window. Failures of all kinds, our own key's too.",
            f"topk(1, {_failed('$window')})",
            "percentunit",
            legend=TARGET,
            named=True,
            steps=SHARE,
        ),
        stat(
            "Oldest last probe",
            "How long ago the last probe ended of the target that has waited longest. Old data is no good news.",
            f"topk(1, {_AGE})",
            "s",
            legend=TARGET,
            named=True,
            steps=((None, GREEN), (120, ORANGE), (180, RED)),
        ),
        stat(
            "Probe cost, 24 h",
            "What probes cost in the last 24 hours, where the price is configured.",
            "sum(increase(firstbyte_probe_cost_usd_total[1d]))",
            "currencyUSD",
            defaults={"decimals": 2},
        ),
        stat(
            "Where routes lead now",
            "The target that agents get on each route, and its circuit. Whoever gets an open one got the least bad.",
            GIVEN,
            "none",
            width=24,
            words=STATES,
            legend=f"{{{{route}}}}: {TARGET}",
            named=True,
        ),
    ),
)
_CIRCUITS = Row(
    title="Targets",
    panels=(
        timeline(
            "Circuits",
            "What state each target's circuit was in. All replicas say the same.",
            Query(expr=STATE, legend=TARGET),
            STATES,
        ),
        table(
            "Targets",
            "Each target now and in the window. Quantiles are of the probes' own first bytes, failures left out.",
            (
                Column(title="Circuit", expr=STATE, unit="none", words=STATES),
                Column(title="Failed, window", expr=_failed("$window"), unit="percentunit", steps=SHARE),
                Column(title="Failed, 24 h", expr=_failed("1d"), unit="percentunit", steps=SHARE),
                Column(title="First byte p50", expr=_QUANTILE % "0.5", unit="s", steps=FIRST_BYTE),
                Column(title="First byte p95", expr=_QUANTILE % "0.95", unit="s", steps=FIRST_BYTE),
                Column(title="Last first byte", expr=_LAST, unit="s", steps=FIRST_BYTE),
                Column(
                    title="Last probe", expr=f"min by ({_BY}) (firstbyte_probe_last_good)", unit="none", words=_GOOD
                ),
                Column(title="Ended ago", expr=_AGE, unit="s", steps=((None, GREEN), (180, RED))),
                Column(
                    title="Cost, 24 h",
                    expr=f"sum by ({_BY}) (increase(firstbyte_probe_cost_usd_total[1d]))",
                    unit="currencyUSD",
                    decimals=2,
                ),
            ),
            links=(
                {
                    "title": "This provider",
                    "url": _PROVIDER,
                    "targetBlank": False,
                },
            ),
        ),
    ),
)
_OVER_TIME = Row(
    title="Over time",
    panels=(
        lines(
            "First byte of each probe",
            "From the request to the first part of the model's answer, a point a probe; none for one that failed.",
            (Query(expr=_LAST, legend=TARGET),),
            "s",
            slow=True,
            points=True,
            log=True,
            height=10,
        ),
        bars(
            "Failed probes by verdict",
            "What the answers of failed probes were, all targets together.",
            Query(
                expr="sum by (verdict) (increase(firstbyte_probe_failures_total[$__rate_interval])) > 0",
                legend="{{verdict}}",
            ),
            overrides=VERDICTS,
            height=10,
        ),
    ),
)
OVERVIEW = Dashboard(
    name="overview",
    title="Overview",
    description="Whether agents are served, by which targets, and what is wrong with the others.",
    variables=("provider", "model", "window"),
    rows=(_NOW, _CIRCUITS, _OVER_TIME),
)
