"""Writes the pieces of a scrape, as the Python client does."""

from collections.abc import Mapping
from functools import lru_cache

from prometheus_client.core import Exemplar
from prometheus_client.utils import floatToGoString


def head(name: str, kind: str, meaning: str, *, openmetrics: bool) -> str:
    """What stands above the lines of a metric."""
    shown = name.removesuffix("_total") if openmetrics else name
    escaped = _escaped(meaning) if openmetrics else _escaped_but_quotes(meaning)
    return f"# HELP {shown} {escaped}\n# TYPE {shown} {kind}\n"


@lru_cache(maxsize=4096)  # most are small counts
def number(value: float) -> str:
    """A value, or a bucket's bound."""
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call] # the library leaves it untyped
    return text


def braced(labels: Mapping[str, str]) -> str:
    """Labels; nothing where there are none."""
    if not labels:
        return ""
    return "{" + ",".join([f'{name}="{_escaped(value)}"' for name, value in sorted(labels.items())]) + "}"


def behind(exemplar: Exemplar) -> str:
    """What stands behind a value that has an exemplar."""
    return f" # {braced(exemplar.labels)} {number(exemplar.value)} {exemplar.timestamp}"


def _escaped(text: str) -> str:
    return _escaped_but_quotes(text).replace('"', r"\"")


def _escaped_but_quotes(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")
