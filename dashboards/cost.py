"""The dashboard of what probes cost."""

from dashboards.frame import Dashboard, Row
from dashboards.panels import GREEN, ORANGE, RED, bars, gauges, lines, stat
from dashboards.queries import TARGET, Query
from dashboards.tables import Column, table

_COST = "firstbyte_probe_cost_usd_total"
_BY = "provider, model"
_USED = ((None, GREEN), (0.8, ORANGE), (1, RED))
_CENTS = {"decimals": 2}


def _spent(span: str) -> str:
    return f"sum(increase({_COST}[{span}]))"


_MONEY = Row(
    title="Money",
    panels=(
        stat(
            "Last 24 hours",
            "What probes cost, where the price is configured.",
            _spent("1d"),
            "currencyUSD",
            defaults=_CENTS,
        ),
        stat(
            "Last 7 days",
            "What probes cost, where the price is configured.",
            _spent("7d"),
            "currencyUSD",
            defaults=_CENTS,
        ),
        stat(
            "30 days at this pace",
            "Thirty times the last 24 hours.",
            f"30 * {_spent('1d')}",
            "currencyUSD",
            defaults=_CENTS,
        ),
        stat(
            "1000 good probes",
            "What probes cost in 24 hours, failed ones too, for a thousand good ones.",
            f"1000 * {_spent('1d')} / sum(increase(firstbyte_probe_duration_seconds_count[1d]))",
            "currencyUSD",
            defaults=_CENTS,
        ),
        gauges(
            "Budget of the day that is used",
            "The spent share of each provider's budget of today (UTC). From 1 on one turn in ten is probed.",
            Query(expr="max by (provider) (firstbyte_probe_budget_used_ratio)", legend="{{provider}}", instant=True),
            "percentunit",
            width=8,
            height=4,
            steps=_USED,
            defaults={"min": 0, "max": 1},
        ),
        lines(
            "Cost by provider",
            "US dollars an hour.",
            (Query(expr=f"3600 * sum by (provider) (rate({_COST}[$__rate_interval]))", legend="{{provider}}"),),
            "currencyUSD",
            stacked=True,
            interval="5m",
            defaults=_CENTS,
        ),
        table(
            "Cost by target",
            "The last 24 hours of each target.",
            (
                Column(title="Cost", expr=f"sum by ({_BY}) (increase({_COST}[1d]))", unit="currencyUSD", decimals=2),
                Column(
                    title="Probes",
                    expr=f"sum by ({_BY}) (increase(firstbyte_probes_total[1d]))",
                    unit="short",
                    decimals=0,
                ),
                Column(
                    title="Tokens", expr=f"sum by ({_BY}) (increase(firstbyte_probe_tokens_total[1d]))", unit="short"
                ),
            ),
            width=12,
        ),
    ),
)
_USE = Row(
    title="What it goes to",
    panels=(
        lines(
            "Tokens by type",
            "Prompt and completion tokens a second, as the provider counts them, else by size.",
            (
                Query(
                    expr="sum by (token_type) (rate(firstbyte_probe_tokens_total[$__rate_interval]))",
                    legend="{{token_type}}",
                ),
            ),
            "short",
            stacked=True,
            interval="5m",
        ),
        lines(
            "Probes a minute",
            "Probes that came to their end. Half-open circuits are probed more often, spent budgets less.",
            (Query(expr=f"60 * sum by ({_BY}) (rate(firstbyte_probes_total[$__rate_interval]))", legend=TARGET),),
            "short",
            interval="5m",
        ),
        bars(
            "Probes left out by cause",
            "Turns at which nothing was sent. `claimed` is another replica's probe, which is as it should be.",
            Query(
                expr="sum by (cause) (increase(firstbyte_probes_skipped_total[$__rate_interval])) > 0",
                legend="{{cause}}",
            ),
        ),
        stat(
            "Tokens of the day's budget",
            "What each provider may spend a day, in tokens.",
            "max by (provider) (firstbyte_probe_budget_tokens)",
            "short",
            width=12,
            height=8,
            legend="{{provider}}",
            named=True,
        ),
    ),
)
COST = Dashboard(
    name="cost",
    title="Probe cost",
    description="What probes cost, in money and in tokens, and what bounds it.",
    variables=("provider", "model"),
    rows=(_MONEY, _USE),
)
