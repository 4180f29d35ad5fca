"""Queries: each metric gets the filters of its dashboard's variables, so that none can be forgotten."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from breaker import circuit
from breaker.circuit import Cause
from monitor.metrics import names

_METRIC = re.compile(
    r"(?<![\w:])(firstbyte_\w+|process_\w+|python_\w+|scrape_samples_scraped|up)(?![\w:(])(\{([^}]*)\})?"
)
_LABELS = {metric.name: metric.labels for metric in names.ALL}

# What a circuit is, as one number: 0 closed, 1 half-open, 2 open, 3 held by hand.
STATE = """max by (provider, model) (
  firstbyte_circuit_state{state=~"held-.+"} * 3
  or firstbyte_circuit_state{state="open"} * 2
  or firstbyte_circuit_state{state="half-open"} * 1
  or firstbyte_circuit_state{state="closed"} * 0
)"""
OPENS = "|".join(cause for cause in Cause if cause in circuit.OPENS)
CLOSES = "recovered|unverified|waited"
TARGET = "{{provider}}/{{model}}"
# What each route gives now, as the state of its target's circuit.
GIVEN = f"""(max by (route, provider, model) (firstbyte_route_target) == 1)
* on (provider, model) group_left () {STATE}"""


@dataclass(frozen=True, kw_only=True)
class Query:
    """One query. `instant` asks for now alone, `table` and `heatmap` are the forms in which Grafana reads it."""

    expr: str
    legend: str = ""
    instant: bool = False
    form: str = "time_series"
    exemplar: bool = False


def filtered(expr: str, variables: Collection[str]) -> str:
    """The expression with `job`, `instance` and whichever of these variables a metric has as a label."""

    def one(found: re.Match[str]) -> str:
        name, inside = found[1], found[3] or ""
        labels = _LABELS.get(re.sub(r"_(bucket|sum|count)$", "", name), _LABELS.get(name, ()))
        asked = ["job", "instance", *(label for label in labels if label in variables)]
        filters = [f'{label}=~"${label}"' for label in asked if not re.search(rf"\b{label}\s*[=!]", inside)]
        return f"{name}{{{', '.join([*filters, *([inside] if inside else [])])}}}"

    return _METRIC.sub(one, expr)


def share(part: str, whole: str, by: str, span: str) -> str:
    """What share one counter is of another over a span."""
    return f"sum by ({by}) (increase({part}[{span}])) / sum by ({by}) (increase({whole}[{span}]))"
