"""Which metrics, labels and values an expression names, and which there are."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from breaker.circuit import Cause, State
from breaker.route import Role
from breaker.verdict import Verdict
from monitor.exchange.phases import Phase
from monitor.logs.flood import LEVELS
from monitor.metrics import Skip, names
from monitor.settings import Form

_SELECTOR = re.compile(
    r"(?<![\w:])((?:provider_model:)?firstbyte_[\w:]+|up|scrape_samples_scraped|process_\w+|python_\w+)(?![\w:(])(\{[^}]*\})?"
)
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
# What Prometheus, or whoever finds the targets, adds to every series.
FOUND = {"job", "instance", "pod"}
# Label values that come from closed lists.
CLOSED: dict[str, set[str]] = {
    "state": {*State},
    "verdict": {*Verdict},
    "cause": {*Cause, *Skip},
    "role": {*Role},
    "phase": {*Phase},
    "level": {*LEVELS},
    "skip_when_fresh": {"true", "false"},
    "form": {*Form},
    "token_type": {"prompt", "completion"},
    "le": {f"{bound:.1f}" for bound in names.ANSWER_S},
}


class Selector(NamedTuple):
    """One metric as it is asked for: its name, and what is asked of each label as operator and value."""

    name: str
    matchers: dict[str, tuple[str, str]]


def selectors(expression: str) -> Iterator[Selector]:
    """All metrics that an expression names."""
    for name, braces in _SELECTOR.findall(expression):
        yield Selector(name, {label: (op, value) for label, op, value in _MATCHER.findall(braces)})


def groupings(expression: str) -> set[str]:
    """All labels that an expression groups or joins by."""
    return {label.strip() for inside in _GROUPING.findall(expression) for label in inside.split(",") if label.strip()}


def exported() -> dict[str, set[str]]:
    """Every series that the service exports, with its labels."""
    series: dict[str, set[str]] = {}
    for metric in names.ALL:
        labels = set(metric.labels)
        if metric.kind is names.Kind.HISTOGRAM:
            series |= {f"{metric.name}_{end}": labels for end in ("sum", "count")}
            series[f"{metric.name}_bucket"] = labels | {"le"}
        else:
            series[metric.name] = labels
    ours = ("cpu_seconds_total", "resident_memory_bytes", "open_fds", "max_fds", "start_time_seconds")
    series |= {f"process_{name}": set() for name in ours}
    return series | {"up": set(), "scrape_samples_scraped": set(), "python_gc_collections_total": {"generation"}}


def faults(expression: str, known: dict[str, set[str]]) -> list[str]:
    """What an expression asks for that there isn't."""
    found = []
    asked = list(selectors(expression))
    for name, matchers in asked:
        if name not in known:
            found.append(f"no metric {name}")
            continue
        found += [f"{name} has no label {label}" for label in matchers if label not in known[name] | FOUND]
        found += [f"{name}: no {label} {value}" for label, value in _literals(matchers) if value not in CLOSED[label]]
    labels = {label for name, _ in asked for label in known.get(name, ())} | FOUND
    return found + [f"nothing has the label {label}" for label in groupings(expression) - labels]


def _literals(matchers: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for label, (op, value) in matchers.items():
        if label in CLOSED:
            for one in value.split("|") if op.endswith("~") else [value]:
                if re.fullmatch(r"[\w.-]+", one) and not one.endswith(".+"):
                    yield label, one
