"""Prints the dashboards as TypeScript, for Grafana's own types to judge: see typescript.sh."""

import json
import sys
from collections.abc import Iterator

from dashboards import ALL
from dashboards.panels import Json

_PANELS = {
    "bargauge": "BarGauge",
    "heatmap": "Heatmap",
    "stat": "Stat",
    "state-timeline": "StateTimeline",
    "table": "Table",
    "timeseries": "TimeSeries",
}
# An enum's value stands in JSON as a word.
_HEAD = """\
import type { Dashboard, Panel } from "@grafana/schema";
type Words<T> = T extends string ? string : T extends (infer U)[] ? Words<U>[] :
  T extends object ? { [K in keyof T]: Words<T[K]> } : T;
"""
# Keys of the data source's own, which the types of a dashboard don't know.
_PROMETHEUS = ("expr", "step", "titleFormat", "textFormat", "useValueForTime")


def typescript() -> Iterator[str]:
    """The lines of a module, each of which is an error where a key or a value is wrong."""
    yield _HEAD
    for kind, name in _PANELS.items():
        folder = f"@grafana/schema/dist/esm/raw/composable/{kind.replace('-', '')}/panelcfg/x"
        yield f'import type * as {name} from "{folder}/{name}PanelCfg_types.gen";'
    for i, dashboard in enumerate(ALL):
        made = dashboard.as_json()
        panels = made.pop("panels")
        for annotation in made["annotations"]["list"]:
            for key in _PROMETHEUS:
                annotation.pop(key, None)
        yield _checked(f"dashboard{i}", "Partial<Dashboard>", made)
        for panel in panels:
            yield from _panel(f"{i}_{panel['id']}", panel)


def _panel(number: str, panel: Json) -> Iterator[str]:
    if panel["type"] == "row":
        return
    name, defaults = _PANELS[panel["type"]], panel["fieldConfig"]["defaults"]
    yield _checked(f"panel{number}", "Partial<Panel>", panel)
    yield _checked(f"options{number}", f"Partial<{name}.Options>", panel["options"])
    if "custom" in defaults and name != "Table":
        yield _checked(f"custom{number}", f"Partial<{name}.FieldConfig>", defaults["custom"])


def _checked(name: str, kind: str, value: Json) -> str:
    return f"export const {name}: Words<{kind}> = {json.dumps(value)};"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in typescript())
