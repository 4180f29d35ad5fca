"""The dashboard of one provider."""

from dashboards.frame import Dashboard, Row
from dashboards.panels import FIRST_BYTE, SHARE, STATES, VERDICTS, Panel, bars, heatmap, lines, stat, timeline
from dashboards.queries import STATE, TARGET, Query, share

_BY = "provider, model"


def _failed(span: str) -> str:
    return share("firstbyte_probe_failures_total", "firstbyte_probes_total", "provider", span)


def _quantile(share_: float) -> str:
    return f"quantile_over_time({share_}, firstbyte_probe_last_first_byte_seconds[$window])"


def _last(what: str) -> Query:
    return Query(
        expr=f"max by ({_BY}) (firstbyte_probe_last_{what}_seconds)", legend=f"{TARGET} {what.replace('_', ' ')}"
    )


def _first_byte(title: str, share_: float) -> Panel:
    told = f"First bytes of {share_:.0%} of the window's good probes came within this, of the slowest model."
    slowest = f"topk(1, max by ({_BY}) ({_quantile(share_)}))"
    return stat(title, told, slowest, "s", width=3, steps=FIRST_BYTE, legend="{{model}}", named=True)


_NOW = Row(
    title="Now",
    panels=(
        stat(
            "Circuits",
            "The state of each model's circuit.",
            STATE,
            "none",
            width=6,
            words=STATES,
            legend="{{model}}",
            named=True,
        ),
        stat(
            "Last move",
            "How long ago a circuit of this provider last moved by itself; no data if none has.",
            "clamp_min(time() - max(firstbyte_circuit_last_move_timestamp_seconds), 0)",
            "s",
            width=3,
        ),
        stat("Failed, 24 h", "Failed probes, a share of all.", _failed("1d"), "percentunit", width=3, steps=SHARE),
        stat("Failed, 7 d", "Failed probes, a share of all.", _failed("7d"), "percentunit", width=3, steps=SHARE),
        _first_byte("First byte p50", 0.5),
        _first_byte("First byte p95", 0.95),
        _first_byte("First byte p99", 0.99),
    ),
)
_TIMES = Row(
    title="Times",
    panels=(
        timeline(
            "Circuits over time",
            "What state each model's circuit was in.",
            Query(expr=STATE, legend=TARGET),
            STATES,
            height=6,
        ),
        lines(
            "First byte, headers and end of each probe",
            "One point a probe. A gap between headers and first byte is a model that thinks or waits its turn.",
            (_last("headers"), _last("first_byte"), _last("duration")),
            "s",
            slow=True,
            points=True,
            log=True,
            height=10,
        ),
        lines(
            "Phases before the first byte",
            "How long the last probe took to connect, to agree on TLS, to send, to wait; of several models the mean.",
            (
                Query(
                    expr=f"avg by (phase) (max by ({_BY}, phase) (firstbyte_probe_last_phase_seconds))",
                    legend="{{phase}}",
                ),
            ),
            "s",
            stacked=True,
            height=10,
        ),
        lines(
            "Quantiles of the first byte",
            "Of the good probes within the window; exact, since each probe is a point of its own.",
            tuple(
                Query(expr=f"max by ({_BY}) ({_quantile(each)})", legend=f"{TARGET} p{each * 100:g}")
                for each in (0.5, 0.95, 0.99)
            ),
            "s",
            slow=True,
            height=10,
        ),
        lines(
            "Share with a first byte in time",
            "Good probes whose first byte came within the chosen seconds, a share of all probes, failed ones too.",
            (
                Query(
                    expr=share(
                        'firstbyte_probe_first_byte_seconds_bucket{le="$slo"}', "firstbyte_probes_total", _BY, "$window"
                    ),
                    legend=TARGET,
                ),
            ),
            "percentunit",
            defaults={"min": 0, "max": 1},
            height=10,
        ),
        heatmap(
            "First bytes",
            "How many probes had their first byte after how long. Dots are single probes, with their ids.",
            Query(
                expr="sum by (le) (increase(firstbyte_probe_first_byte_seconds_bucket[$__rate_interval]))",
                legend="{{le}}",
                form="heatmap",
                exemplar=True,
            ),
            "s",
        ),
    ),
)
_ANSWERS = Row(
    title="Answers",
    panels=(
        bars(
            "Failed probes by verdict",
            "What the answers of failed probes were.",
            Query(
                expr="sum by (verdict) (increase(firstbyte_probe_failures_total[$__rate_interval])) > 0",
                legend="{{verdict}}",
            ),
            overrides=VERDICTS,
        ),
        bars(
            "Agents' reports by verdict",
            "What agents' own answers were, as far as they report them.",
            Query(
                expr="sum by (verdict) (increase(firstbyte_reports_total[$__rate_interval])) > 0", legend="{{verdict}}"
            ),
            overrides=VERDICTS,
        ),
        bars(
            "Slow probes",
            "Probes whose first byte came later than the policy's limit, or not within it.",
            Query(expr=f"sum by ({_BY}) (increase(firstbyte_probe_slow_total[$__rate_interval])) > 0", legend=TARGET),
        ),
        lines(
            "Tokens a second",
            "Completion tokens of probes by the seconds between first byte and end. A slow flow shows here.",
            (
                Query(
                    expr=f'sum by ({_BY}) (increase(firstbyte_probe_tokens_total{{token_type="completion"}}[$window]))'
                    f" / (sum by ({_BY}) (increase(firstbyte_probe_duration_seconds_sum[$window]))"
                    f" - sum by ({_BY}) (increase(firstbyte_probe_first_byte_seconds_sum[$window])) > 0)",
                    legend=TARGET,
                ),
            ),
            "short",
        ),
    ),
)
PROVIDER = Dashboard(
    name="provider",
    title="Provider",
    description="One provider and its models: how quick, how reliable, and what went wrong.",
    variables=("provider", "model", "window", "slo"),
    single="provider",
    rows=(_NOW, _TIMES, _ANSWERS),
)
