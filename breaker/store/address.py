"""The URL of several servers in its parts: one of them behind Sentinel, or all of a cluster."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from breaker.store.options import BadUrlError, read_options

_FORMS = {
    "redis": "redis://host:6379/0",
    "redis+sentinel": "redis+sentinel://host:26379,host:26379/service",
    "redis+cluster": "redis+cluster://host:6379,host:6379",
}
_PARTS = re.compile(r"(rediss?)\+(sentinel|cluster)://(?:([^/?#]*)@)?([^/?#@]+)(/[^?#]*)?(?:\?([^#]*))?", re.ASCII)
# What Sentinel itself allows in a name.
SERVICE = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
# Options of the servers' connections that sentinels' connections need too.
_SHARED = ("ssl_", "socket_")
_SENTINEL = "sentinel_"


class Form(Enum):
    """How servers stand behind a URL; its value is the port where none is given."""

    SENTINEL = 26_379
    CLUSTER = 6_379


class Host(NamedTuple):
    """Where a server listens."""

    name: str
    port: int

    def __str__(self) -> str:
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Several servers: `hosts` are the sentinels, or some nodes of a cluster. `service` is what sentinels call it."""

    form: Form
    scheme: str
    hosts: tuple[Host, ...]
    service: str = ""
    database: int = 0
    auth: str = field(default="", repr=False)  # as it is written
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def place(self) -> str:
        """The URL without user, password and options, as an error may show it."""
        hosts = ",".join(map(str, self.hosts))
        return f"{self.scheme}+{self.form.name.lower()}://{hosts}{self.service and f'/{self.service}'}"

    def place_of(self, host: Host) -> str:
        """Where one of the servers is, as an error may show it."""
        return f"{self.scheme}://{host}"

    def url_of(self, host: Host) -> str:
        """The URL of one server, with all that it takes to connect."""
        own = [(name, value) for name, value in self.options if not name.startswith(_SENTINEL)]
        return self._url(self.auth, host, f"/{self.database}", own)

    def url_of_sentinel(self, host: Host) -> str:
        """The URL of a sentinel, which has a user and a password of its own."""
        said = dict(self.options)
        user, password = (quote(said.get(f"{_SENTINEL}{name}", ""), safe="") for name in ("username", "password"))
        return self._url(
            f"{user}:{password}" if user or password else "",
            host,
            "",
            [(name, value) for name, value in self.options if name.startswith(_SHARED)],
        )

    def _url(self, auth: str, host: Host, path: str, options: Iterable[tuple[str, str]]) -> str:
        query = urlencode(list(options))
        return f"{self.scheme}://{auth and f'{auth}@'}{host}{path}{query and f'?{query}'}"


def read(url: str) -> Address | None:
    """The parts of a URL; None for one that isn't of several servers. Raises BadUrlError.

    What stands behind the ? of one server's URL is checked too; the rest of it is redis-py's.
    """
    kind = url.partition("://")[0]
    if "+" not in kind:
        read_options(kind, url.partition("#")[0].partition("?")[2])
        return None
    form = _FORMS.get(kind.replace("rediss", "redis"))
    found = _PARTS.fullmatch(url)
    if form is None or found is None:
        known = form or ", ".join(_FORMS.values())
        raise BadUrlError("can't be read", f"write it as {known}")
    scheme, name, auth, hosts, path, query = found.groups()
    if "@" in (auth or ""):
        raise BadUrlError("has more than one @", "write user:password@ once, before all hosts; in a password %40")
    service, database = _path(name, path or "", form)
    options = read_options(kind, query or "")
    return Address(
        form=Form[name.upper()],
        scheme=scheme,
        hosts=tuple(dict.fromkeys(_host(one, Form[name.upper()], form) for one in hosts.split(","))),
        service=service,
        database=database,
        auth=auth or "",
        options=options,
    )


def _path(name: str, path: str, form: str) -> tuple[str, int]:
    first, _, rest = path.removeprefix("/").partition("/")
    if name == "cluster":
        if first not in ("", "0") or rest:
            raise BadUrlError("names a database, and a cluster has none but the first", f"write it as {form}")
        return "", 0
    if not first:
        hint = f"add the name under which the sentinels know the master: {form}"
        raise BadUrlError("names no service", hint)
    if not SERVICE.fullmatch(first):
        raise BadUrlError("names a service that can't have that name", "use letters, digits and ._-")
    if not re.fullmatch(r"\d{0,9}", rest, re.ASCII):
        raise BadUrlError("ends in something that is not the number of a database", f"write it as {form}/0")
    return first, int(rest or 0)


def _host(text: str, form: Form, example: str) -> Host:
    try:
        parts = urlsplit(f"//{text}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        name, port = "", None
    if not name or port == 0 or parts.path:
        raise BadUrlError("has a host or a port in it that can't be read", f"write it as {example}")
    return Host(name, port or form.value)
