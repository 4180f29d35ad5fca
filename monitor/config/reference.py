"""Writes the tables of docs/configuration.md from the keys: `python -m monitor.config.reference`."""

import re
import sys
from pathlib import Path

from monitor.config.keys import (
    AUDIT,
    BUDGET,
    DOOR,
    ENVIRONMENT,
    LOG,
    MODEL,
    NOTIFY,
    PHRASE,
    POLICY,
    PRICE,
    PROBE,
    PROVIDER,
    ROOT,
    ROUTE,
    STORE,
)
from monitor.config.kinds import Kind
from monitor.config.shapes import Either, Key, Listing, Named, Section

_SECTIONS = (
    ROOT,
    STORE,
    DOOR,
    LOG,
    NOTIFY,
    AUDIT,
    PROVIDER,
    MODEL,
    PRICE,
    BUDGET,
    ROUTE,
    POLICY,
    PROBE,
    PHRASE,
    ENVIRONMENT,
)
_PLACE = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
PAGE = Path("docs/configuration.md")


def filled(page: str) -> str:
    """The page with a fresh table between each pair of marks `<!-- keys: NAME -->` and `<!-- end -->`."""
    tables = {section.name: _table(section) for section in _SECTIONS}
    return _PLACE.sub(lambda match: f"{match[1]}{tables[match[2]]}{match[3]}", page)


def _table(section: Section) -> str:
    rows = [f"| `{key.name}` | {_holds(key)} | {_default(key)} | {key.line} |\n" for key in section.keys]
    return "".join(["| key | holds | default | |\n| --- | --- | --- | --- |\n", *rows])


def _holds(key: Key) -> str:
    match key.holds:
        case Kind(words=words):
            return words
        case Section():
            return "keys"
        case Either(holds=kind):
            return f"{kind.words} or keys"
        case Named(name=name, holds=Listing()):
            return f"lists or keys by {name} name"
        case Named(name=name):
            return f"keys by {name} name"
        case Listing(holds=kind, or_keys=keys):
            return f"a list, each {kind.words}{' or keys' if keys else ''}"


def _default(key: Key) -> str:
    return "**needed**" if key.required else key.default


def main(page: Path = PAGE) -> None:
    """Write the page's tables anew."""
    page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
