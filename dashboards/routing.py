"""The dashboard of routes and circuits."""

from dashboards.frame import Dashboard, Row
from dashboards.panels import (
    COUNT,
    GREEN,
    GREY,
    ORANGE,
    RED,
    SHARE,
    UP_DOWN,
    VERDICTS,
    bars,
    colors,
    gauges,
    lines,
    timeline,
)
from dashboards.queries import TARGET, Query

_REQUESTS = "sum by (%s) (rate(firstbyte_route_requests_total[$__rate_interval]))"
_CALL = "histogram_quantile(%s, sum by (le) (rate(firstbyte_store_call_seconds_bucket[$__rate_interval])))"


_ROUTES = Row(
    title="Routes",
    panels=(
        lines(
            "Answers to agents by role",
            "What the target that agents were given is to their route. A last resort is out itself.",
            (Query(expr=_REQUESTS % "role", legend="{{role}}"),),
            "reqps",
            stacked=True,
            overrides=colors(primary=GREEN, backup=ORANGE, last_resort=RED),
        ),
        lines(
            "Answers to agents by target",
            "Which target agents were sent to, as shares.",
            (Query(expr=_REQUESTS % "provider, model", legend=TARGET),),
            "reqps",
            stacked=True,
            stack="percent",
        ),
        timeline(
            "Target given now",
            "Which target each route gave.",
            Query(expr="max by (route, provider, model) (firstbyte_route_target)", legend=f"{{{{route}}}}: {TARGET}"),
            {0: ("no", GREY), 1: ("given", GREEN)},
        ),
        lines(
            "Targets that are left",
            "Targets of each route whose circuit lets agents pass, beside all that it names.",
            (
                Query(expr="max by (route) (firstbyte_route_targets_available)", legend="{{route}} left"),
                Query(expr="max by (route) (firstbyte_route_targets)", legend="{{route}} named"),
            ),
            "short",
            defaults=COUNT,
        ),
        lines(
            "Answers from an old snapshot",
            "Answers that were given while the store was gone; agents see `stale: true`.",
            (
                Query(
                    expr="sum by (route) (rate(firstbyte_route_stale_answers_total[$__rate_interval]))",
                    legend="{{route}}",
                ),
            ),
            "reqps",
        ),
    ),
)
_CIRCUITS = Row(
    title="Circuits",
    panels=(
        bars(
            "Moves by cause",
            "How often which circuit moved, and why.",
            Query(
                expr="sum by (provider, model, cause) (increase(firstbyte_circuit_moves_total[$__rate_interval])) > 0",
                legend=f"{TARGET}: {{{{cause}}}}",
            ),
            height=10,
        ),
        gauges(
            "Share of time out of use",
            "How much of the shown time each circuit kept agents away: open, half-open, or held open by hand.",
            Query(
                expr="sort_desc(sum by (provider, model) (max by (provider, model, state)"
                ' (avg_over_time(firstbyte_circuit_state{state=~"open|half-open|held-open"}[$__range]))))',
                legend=TARGET,
                instant=True,
            ),
            "percentunit",
            steps=SHARE,
            defaults={"min": 0, "max": 1},
            height=10,
        ),
        bars(
            "Agents' reports by verdict",
            "What agents' own answers were, as far as they report them.",
            Query(
                expr="sum by (verdict) (increase(firstbyte_reports_total[$__rate_interval])) > 0", legend="{{verdict}}"
            ),
            overrides=VERDICTS,
        ),
        timeline(
            "Our own network",
            "Whether our own network seemed to be up. While it is down no circuit moves by itself.",
            Query(expr="1 - max by (instance) (firstbyte_self_suspect)", legend="{{instance}}"),
            UP_DOWN,
            width=12,
        ),
    ),
)
_ANSWER = "histogram_quantile(%s, sum by (le) (rate(firstbyte_route_answer_seconds_bucket[$__rate_interval])))"
_STORE = Row(
    title="Store",
    panels=(
        lines(
            "Answers to agents",
            "How long all replicas took for answers to `GET /route`, from memory; the network isn't in it.",
            (Query(expr=_ANSWER % "0.5", legend="p50"), Query(expr=_ANSWER % "0.99", legend="p99")),
            "s",
        ),
        lines(
            "Store calls",
            "How long the store took to answer, good calls of all replicas.",
            (Query(expr=_CALL % "0.5", legend="p50"), Query(expr=_CALL % "0.99", legend="p99", exemplar=True)),
            "s",
        ),
        lines(
            "Failed store calls",
            "Calls that the store refused or did not answer.",
            (
                Query(
                    expr="sum by (instance) (rate(firstbyte_store_call_failures_total[$__rate_interval]))",
                    legend="{{instance}}",
                ),
            ),
            "ops",
        ),
        lines(
            "Age of the snapshot",
            "How old each replica's view of all circuits is.",
            (Query(expr="max by (instance) (firstbyte_store_snapshot_age_seconds)", legend="{{instance}}"),),
            "s",
        ),
        lines(
            "Room for answers that wait for the store",
            "How much is taken of the room for answers while the store is gone; when it is full, the oldest go.",
            (
                Query(
                    expr="max by (instance) (firstbyte_store_answers_waiting / firstbyte_store_answers_waiting_most)",
                    legend="{{instance}}",
                ),
            ),
            "percentunit",
            width=8,
            defaults={"min": 0, "max": 1},
        ),
        lines(
            "How long answers wait for the store",
            "For how long the oldest answer of each replica has waited.",
            (Query(expr="max by (instance) (firstbyte_store_answers_oldest_seconds)", legend="{{instance}}"),),
            "s",
            width=8,
        ),
        bars(
            "Answers lost by cause",
            "Answers that never came into the store, and why.",
            Query(
                expr="sum by (cause) (increase(firstbyte_store_answers_dropped_total[$__rate_interval]))",
                legend="{{cause}}",
            ),
            width=8,
        ),
    ),
)
_TASKS = Row(
    title="Tasks",
    panels=(
        lines(
            "Claimed completions that were untrue",
            "Of the answers after which an agent would have called its task done, the share after which it was not.",
            (
                Query(
                    expr="sum by (provider) (increase(firstbyte_completions_prevented_total[$__rate_interval]))"
                    " / (sum by (provider) (increase(firstbyte_completions_claimed_total[$__rate_interval])) > 0)",
                    legend="{{provider}}",
                ),
            ),
            "percentunit",
            defaults={"min": 0, "max": 1},
            interval="5m",
        ),
        bars(
            "Prevented false completions",
            "How often an agent was kept from saying that its task is done, by whose answer it would have believed.",
            Query(
                expr="sum by (provider) (increase(firstbyte_completions_prevented_total[$__rate_interval])) > 0",
                legend="{{provider}}",
            ),
        ),
        bars(
            "Decisions by reason",
            "What agents were told when they asked whether their task is done, each decision once.",
            Query(
                expr="sum by (decision, reason) (increase(firstbyte_run_decisions_total[$__rate_interval])) > 0",
                legend="{{decision}}: {{reason}}",
            ),
        ),
        bars(
            "Operations by state",
            "What became of what agents set out to do; unknown means that nobody knows whether it happened.",
            Query(
                expr="sum by (state) (increase(firstbyte_run_operations_total[$__rate_interval])) > 0",
                legend="{{state}}",
            ),
            overrides=colors(succeeded=GREEN, failed=RED, unknown=ORANGE),
        ),
    ),
)
ROUTING = Dashboard(
    name="routing",
    title="Routing and circuits",
    description="What agents are told, why circuits move, which tasks were done, and whether the store keeps up.",
    variables=("route", "provider", "model"),
    rows=(_ROUTES, _CIRCUITS, _TASKS, _STORE),
)
