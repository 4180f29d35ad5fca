"""How Grafana tells a value: unit, decimals, mappings and colours, as a panel's field says."""

import math
from collections.abc import Mapping
from typing import Any

Field = Mapping[str, Any]

_COLOURS = {
    "green": "#2e9e63",
    "yellow": "#d9a800",
    "orange": "#e07b1a",
    "red": "#d64541",
    "blue": "#3f74c9",
    "purple": "#8a55c7",
    "text": "#b4b9c1",
}
# Towards white or black, and how far.
_SHADES = {"": (0, 0.0), "semi-dark": (0, 0.2), "dark": (0, 0.4), "light": (255, 0.35), "super-light": (255, 0.6)}
_SCALES: Mapping[str, tuple[tuple[float, str], ...]] = {
    "s": ((86_400, " d"), (3600, " h"), (60, " min"), (1, " s"), (1e-3, " ms"), (1e-6, " µs")),
    "bytes": ((2**30, " GiB"), (2**20, " MiB"), (2**10, " KiB"), (1, " B")),
    "short": ((1e9, " Bil"), (1e6, " Mil"), (1e3, " K"), (1, "")),
    "percentunit": ((0.01, "%"),),
    "reqps": ((1, " req/s"),),
    "ops": ((1, " ops/s"),),
}


def told(value: float, field: Field) -> str:
    """A value as text: its mapping's word, else a number with its unit and two decimals at most."""
    if math.isnan(value):
        return str(field.get("noValue", "no data"))
    if (word := _mapping(value, field)) is not None:
        return str(word["text"])
    unit, decimals = field["unit"], field.get("decimals")
    if unit == "currencyUSD":
        return "$" + _number(value, decimals)
    by, name = scale(value, unit)
    return _number(value / by, decimals) + name


def scale(value: float, unit: str) -> tuple[float, str]:
    """By what a value of its size is divided, and the name that follows then."""
    scales = _SCALES.get(unit, ((1, ""),))
    return next((each for each in scales if abs(value or 1) >= each[0]), scales[-1])


def colour_of(value: float, field: Field) -> str:
    """Of its mapping, else of the threshold that it has reached."""
    if (word := _mapping(value, field)) is not None:
        return colour(word["color"])
    steps = field["thresholds"]["steps"]
    return colour([each["color"] for each in steps if each["value"] is None or value >= each["value"]][-1])


def colour(name: str) -> str:
    """What Grafana's word for a colour, as `red` or `light-red`, looks like here."""
    shade, _, hue = name.rpartition("-")
    towards, share = _SHADES[shade]
    parts = (int(_COLOURS[hue][i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (towards - part) * share):02x}" for part in parts)


def words(field: Field) -> list[tuple[float, str, str]]:
    """All mappings of a field: value, word and colour."""
    return [(float(value), each["text"], colour(each["color"])) for value, each in _options(field).items()]


def overridden(panel: Mapping[str, Any], name: str) -> Field:
    """The field of one series or column: the panel's defaults with what its overrides say."""
    field = dict(panel["fieldConfig"]["defaults"])
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["options"] == name:
            field |= {each["id"]: each["value"] for each in override["properties"]}
    return field


def _options(field: Field) -> Mapping[str, Any]:
    mappings = field.get("mappings", [])
    return mappings[0]["options"] if mappings else {}


def _mapping(value: float, field: Field) -> Mapping[str, Any] | None:
    return _options(field).get(f"{value:g}")


def _number(value: float, decimals: int | None) -> str:
    if decimals is not None:
        return f"{value:.{decimals}f}"
    text = f"{value:.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
