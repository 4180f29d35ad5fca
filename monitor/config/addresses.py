"""Where things are: the addresses of providers and of the door, and which of them are sound."""

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit, urlunsplit

import httpx

from breaker.wire import READERS
from breaker.wire.question import Question
from monitor.config.faults import Unfit, shown
from monitor.settings import Address

_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
_WEB_PORTS = {"http": 80, "https": 443}


def _wire_paths() -> Iterable[str]:
    """What each wire puts behind a base URL by itself."""
    question = Question(system="", prompt="", max_tokens=1)
    return sorted({reader.request("any", question, streamed=True).path for reader in READERS.values()})


def base_url(text: str) -> str | Unfit:
    """A provider's address without the slash at its end."""
    parts = split(text)
    if isinstance(parts, Unfit):
        return parts
    return _web_flaw(text, parts) or text.rstrip("/")


def webhook(url: str) -> str | Unfit:
    """A webhook's address; what is wrong with one shows nothing of it, since it is as good as a password."""
    parts = split(url)
    if isinstance(parts, Unfit) or parts.scheme not in {"http", "https"} or not parts.hostname:
        return Unfit("holds no web address (value not shown)", "export it whole, as the receiver shows it: https://…")
    if not _askable(url, parts.hostname):
        return Unfit("holds an address with a host that can't be (value not shown)", "copy it from the receiver anew")
    if parts.username is not None:
        return Unfit("holds an address with a name or a password in it (not shown)", "use one without")
    return url


def _web_flaw(text: str, parts: SplitResult) -> Unfit | None:
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return Unfit(f"is {safe(parts)}, not a web address", "write it whole: https://api.example.com/v1")
    if not _askable(text, parts.hostname):
        return Unfit(f"is {safe(parts)}, and no host can have that name", "write a host's name as it is looked up")
    if parts.username is not None:
        return Unfit("has a name or a password in it (not shown)", "name the key's variable in api_key_env instead")
    if parts.query or parts.fragment or text[-1] in "?#":
        return Unfit("has a query or a fragment (not shown)", f"end it after the path: {_bare(parts)}")
    for path in _wire_paths():
        if parts.path.rstrip("/").endswith(path):
            short = _bare(parts).rstrip("/").removesuffix(path)
            return Unfit(f"ends in {path}, which the wire adds by itself", f"write {short}")
    return None


def _askable(text: str, name: str) -> bool:
    """Whether the library that asks takes an address; some wrong ones it finds only while it asks."""
    try:
        _ = httpx.URL(text).host
    except (httpx.InvalidURL, ValueError):  # the latter for a name in punycode that isn't
        return False
    return not isinstance(host(name), Unfit)


def host(text: str) -> str | Unfit:
    """An address or a name to listen on."""
    if _as_ip(text) or (_HOST_NAME.fullmatch(text) and not re.fullmatch(r"[\d.]+", text)):
        return text
    bare = re.sub(r":\d+$", "", text).strip("[]")
    if bare != text and (_as_ip(bare) or _HOST_NAME.fullmatch(bare)):
        return Unfit(f"is {shown(text)}, more than a host", f"write {bare}; the port has a key of its own")
    return Unfit(f"is {shown(text)}, not a host", "write an address such as 127.0.0.1, or a name")


def control(text: str) -> Address | Unfit:
    """An address that says whether our own network is up: `host:port`, or a web address of which only these count."""
    parts = split(text if "://" in text else f"//{text}")
    if isinstance(parts, Unfit):
        return parts
    if parts.username is not None:
        return Unfit("has a name or a password in it (not shown)", "write the host and the port alone")
    said, port = safe(parts).replace('"//', '"', 1), parts.port or _WEB_PORTS.get(parts.scheme)
    if parts.scheme not in {"", *_WEB_PORTS} or (not parts.scheme and parts.path):
        return Unfit(f"is {said}, not an address to connect to", "write it as host:port")
    if not parts.hostname or isinstance(host(parts.hostname), Unfit):
        return Unfit(f"is {said}, and no host can have that name", "write it as host:port")
    if port is None:
        return Unfit(f"is {said} and has no port", f"write it as {parts.netloc}:443")
    return Address(parts.hostname, port)


def is_loopback(name: str) -> bool:
    """Whether only this machine can reach what listens there."""
    address = _as_ip(name)
    return address.is_loopback if address else name.casefold().rstrip(".") == "localhost"


def _as_ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def split(text: str) -> SplitResult | Unfit:
    """The parts of an address."""
    if re.search(r"[^\x21-\x7e]", text):
        return Unfit("has blanks or special characters in it", "write it without; a host's name as it is looked up")
    try:
        parts = urlsplit(text)
        sound = parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        return Unfit("is not an address: its host or port can't be read", "write it as scheme://host:port/path")
    return parts


def _bare(parts: SplitResult) -> str:
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def safe(parts: SplitResult) -> str:
    """The address without what may be secret in it."""
    hidden = "@" in parts.path + parts.query or parts.fragment
    return shown(f"{parts.scheme}:…" if hidden else _bare(parts))
