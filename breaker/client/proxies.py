"""Names the proxy of the environment that can't be used, without its password."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.request import getproxies

from breaker.client.http import httpx

# Those that httpx reads.
_KINDS = ("http", "https", "all")
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*://"
# Whatever stands before the last @ may be a password.
_SECRET = re.compile(rf"({_SCHEME})?.*@", re.DOTALL)
_PLACE = re.compile(rf"(?:{_SCHEME})?(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::\d+)?/?", re.ASCII)


@contextmanager
def usable_proxies(error: Callable[[str], Exception]) -> Iterator[None]:
    """For making something of httpx's that goes by the environment's proxies.

    Where one can't be used (SOCKS needs a package of its own) this raises an error of the caller's, made of a sentence
    with the variable, its value without name and password, and the remedy.
    """
    try:
        yield
    except (ImportError, ValueError, httpx.InvalidURL):
        named = next(_unfit(), None)
        if named is None:
            raise
        raise error(f"{named} can't be used: name a proxy like http://HOST:PORT, or unset it") from None


def _unfit() -> Iterator[str]:
    proxies = getproxies()
    for kind in _KINDS:
        url = proxies.get(kind, "")
        if url and not _fits(url if "://" in url else f"http://{url}"):
            yield f"the proxy {_name(kind)}={_shown(url)}"


def _fits(url: str) -> bool:
    try:
        return httpx.Proxy(url).url.scheme in ("http", "https")
    except (ValueError, httpx.InvalidURL):
        return False


def _name(kind: str) -> str:
    lower = f"{kind}_proxy"
    return lower if os.environ.get(lower) else lower.upper()


def _shown(url: str) -> str:
    bare = _SECRET.sub(r"\1", url, count=1)
    return bare if _PLACE.fullmatch(bare) else "(not shown)"
