"""Where the store is: its address, or the same written as keys."""

import re
from collections.abc import Callable
from urllib.parse import parse_qsl, quote, urlsplit

from breaker.errors import CertificatesError, StoreError
from breaker.store.address import SERVICE, read
from breaker.store.options import BadUrlError
from breaker.store.redis import RedisStore
from monitor.config.addresses import safe, split
from monitor.config.check import Branch, Leaf
from monitor.config.faults import Faults, Unfit, shown

_SECRET_FIELDS = {"password", "username", "ssl_password", "sentinel_password"}
_FORMS = "redis://host:6379/0, rediss://…, unix:///path, redis+sentinel://… or redis+cluster://…"
# How others write what is written otherwise here.
_ELSEWHERE = {
    "valkey": "redis",
    "valkeys": "rediss",
    "sentinel": "redis+sentinel",
    "redis-sentinel": "redis+sentinel",
    "rediss-sentinel": "rediss+sentinel",
    "valkey+sentinel": "redis+sentinel",
    "redis-cluster": "redis+cluster",
    "rediss-cluster": "rediss+cluster",
    "valkey+cluster": "redis+cluster",
}
_SENTINELS_ALONE = ("service", "database", "sentinel_username", "sentinel_password_env")

Secret = Callable[[Leaf | None], str | None]


# An address


def store_url(text: str) -> str | Unfit:
    """The store's address; a password may be in it."""
    scheme = text.partition("://")[0]
    if scheme in _ELSEWHERE:
        return Unfit(f"begins with {scheme}://", f"begin it with {_ELSEWHERE[scheme]}://, for Valkey as for Redis")
    if "+" in scheme:
        return _of_several(text)
    if "," in text.partition("://")[2].partition("/")[0].rpartition("@")[2]:
        return Unfit("names several servers", "begin it with redis+sentinel:// or redis+cluster://")
    parts = split(text)
    if isinstance(parts, Unfit):
        return parts
    if parts.scheme == "unix":
        if not parts.path.startswith("/"):
            return Unfit(f"is {safe(parts)} and has no path", "write unix:///path")
        return _with_known_options(text)
    if parts.scheme not in {"redis", "rediss"} or not parts.hostname:
        return Unfit(f"is {safe(parts)}, not the address of a store", f"write it as {_FORMS}")
    if not re.fullmatch(r"(/\d*)?", parts.path):
        return Unfit(f"is {safe(parts)}, and its path is not the number of a database", f"write it as {_FORMS}")
    return _with_known_options(text)


def open_store_url(text: str) -> str | Unfit:
    """The store's address as it may stand in a file that others read: without a password."""
    url = store_url(text)
    if isinstance(url, Unfit):
        return url
    if not _has_secret(url):
        return url
    hint = "move the whole address to an environment variable and name that in store_env"
    return Unfit("has a password in it (not shown)", hint)


def server(text: str) -> str | Unfit:
    """A sentinel or a node of a cluster, as `host:port`."""
    if "@" in text:
        hint = "write the host and the port alone; password_env names the password's variable"
        return Unfit("has a name or a password in it (not shown)", hint)
    try:
        if not re.search(r"[^\x21-\x7e]|[,/?#]", text) and read(f"redis+cluster://{text}"):
            return text
    except BadUrlError:
        pass
    return Unfit(f"is {shown(text)}, not a host and a port", "write it as host:port")


def service(text: str) -> str | Unfit:
    """The name under which sentinels know a master."""
    if SERVICE.fullmatch(text):
        return text
    return Unfit(f"is {shown(text)}, and no service can have that name", "use letters, digits and ._-")


def user(text: str) -> str | Unfit:
    """The name of a server's user."""
    if re.search(r"[^\x21-\x7e]", text):
        return Unfit("has blanks or special characters in it (not shown)", "write the user's name as the server has it")
    return text


def _has_secret(url: str) -> bool:
    several = read(url)
    if several:
        return ":" in several.auth or any(name in _SECRET_FIELDS for name, _ in several.options)
    parts = urlsplit(url)
    return parts.password is not None or any(name in _SECRET_FIELDS for name, _ in parse_qsl(parts.query))


def _of_several(text: str) -> str | Unfit:
    if re.search(r"[^\x21-\x7e]", text):
        return Unfit("has blanks or special characters in it", "write it without; a host's name as it is looked up")
    return _with_known_options(text)


def _with_known_options(text: str) -> str | Unfit:
    """The store's address, if all of it can be used; that is known to the store alone."""
    try:
        read(text)
        RedisStore.from_url(text)
    except BadUrlError as error:
        return Unfit(error.wrong, error.hint)
    except CertificatesError as error:
        return Unfit(f"names certificates that can't be used: {error.why}", "look at its options that begin with ssl_")
    except StoreError:
        return Unfit("can't be used (not shown)", f"write it as {_FORMS}")
    return text


# Keys


def composed(section: Branch, secret: Secret, faults: Faults) -> str | None:
    """The address that the keys below `store` come to; None where they come to none."""
    found = [name for name in ("sentinels", "cluster") if name in section.places]
    if len(found) != 1:
        wrong = "names sentinels and a cluster" if found else "names neither sentinels nor a cluster"
        faults.add(section.place, f"store {wrong}", "list sentinels and name their service, or list nodes of a cluster")
        return None
    if found == ["cluster"]:
        for name in filter(section.places.__contains__, _SENTINELS_ALONE):
            faults.add(section.places[name], f"store: {name} goes with sentinels, not with a cluster", "remove it")
    elif "service" not in section.places:
        hint = "add service: the name under which the sentinels know the master"
        faults.add(section.place, "store has no service", hint)
    return _url(section, found[0], secret)


def _url(section: Branch, form: str, secret: Secret) -> str:
    row, tls = section.row(form), section.leaf("tls")
    hosts = ",".join(str(leaf.value) for leaf in row.leaves) if row else ""
    auth = ":".join(_quoted(section, secret))
    path = f"/{_text(section, 'service')}/{_text(section, 'database') or 0}" if form == "sentinels" else ""
    names = ("sentinel_username", "sentinel_password")
    options = [
        f"{name}={value}" for name, value in zip(names, _quoted(section, secret, "sentinel_"), strict=True) if value
    ]
    kind = f"redis{'s' if tls and tls.value else ''}+{form.removesuffix('s')}"
    return f"{kind}://{'' if auth == ':' else f'{auth}@'}{hosts}{path}{'?' if options else ''}{'&'.join(options)}"


def _quoted(section: Branch, secret: Secret, whose: str = "") -> tuple[str, str]:
    """A user's name and password, as they stand in an address."""
    password = secret(section.leaf(f"{whose}password_env")) or ""
    return quote(_text(section, f"{whose}username"), safe=""), quote(password, safe="")


def _text(section: Branch, name: str) -> str:
    leaf = section.leaf(name)
    return str(leaf.value) if leaf else ""
