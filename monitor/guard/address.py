"""Reads where a request to the local door goes: `/v1/…` to the default route, `/ROUTE/v1/…` to a route by its name."""

import re
from typing import NamedTuple
from urllib.parse import unquote

_VERSIONED = re.compile(r"(?:/(?P<route>[^/]+))?/(?:v1|v1beta)(?P<behind>/.*)")


class Address(NamedTuple):
    """A route (None: the default one), and the path that continues a provider's base URL."""

    route: str | None
    behind: str


def read_address(path: str) -> Address:
    """What a path says, query and all; one without a version is a path at the default route."""
    found = _VERSIONED.fullmatch(path)
    if found is None:
        return Address(None, path)
    route = found["route"]
    return Address(None if route is None else unquote(route), found["behind"])
