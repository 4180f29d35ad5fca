"""What stands for our way out to each target: control addresses, other providers, or a proxy."""

import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from breaker.target import Provider
from monitor.settings import Address, TargetPlan

# While none of its addresses can be reached, the way is down.
Way = frozenset[Address]

_PORTS = {"http": 80, "https": 443, "socks4": 1080, "socks5": 1080, "socks5h": 1080}
_NEAR_NAMES = (".local", ".internal", ".lan", ".home.arpa")


class Scope(IntEnum):
    """How far away an address is, by the way it is written."""

    LOOPBACK = 0
    NEAR = 1  # a private network's; also a name without a dot
    PUBLIC = 2


class Proxies:
    """Which proxy a request goes through, by the environment as httpx reads it."""

    def __init__(
        self,
        urls: Mapping[str, str] | None = None,
        bypassed: Callable[[str], object] = proxy_bypass,
    ) -> None:
        self._urls = getproxies() if urls is None else dict(urls)
        self._bypassed = bypassed

    def before(self, provider: Provider) -> Address | None:
        """The proxy in front of a provider; None where it is asked directly."""
        url = self.url_before(provider)
        return None if url is None else address_of(url)

    def url_before(self, provider: Provider) -> str | None:
        """The same as the environment writes it, which may hold a password; with a scheme in any case."""
        parts = urlsplit(provider.base_url)
        url = self._urls.get(parts.scheme) or self._urls.get("all")
        if not url or self._bypassed(parts.hostname or ""):
            return None
        return url if "://" in url else f"http://{url}"


def address_of(url: str) -> Address:
    """The host and port of a URL."""
    parts = urlsplit(url)
    return Address(parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443))


def scope(address: Address) -> Scope:
    """How far away an address is."""
    name = address.host.casefold().rstrip(".")
    try:
        ip = ipaddress.ip_address(name)
    except ValueError:
        if name == "localhost" or name.endswith(".localhost"):
            return Scope.LOOPBACK
        return Scope.NEAR if "." not in name or name.endswith(_NEAR_NAMES) else Scope.PUBLIC
    if ip.is_loopback:
        return Scope.LOOPBACK
    return Scope.PUBLIC if ip.is_global else Scope.NEAR


def ways_out(plans: Iterable[TargetPlan], control: Sequence[Address], proxies: Proxies) -> dict[str, tuple[Way, ...]]:
    """The ways that lead to each target; where one is down, the target isn't to blame. Empty: it always is.

    Control addresses alone decide where there are any; else all providers that are asked directly do, of which there
    must be two at least. Of them only those count that are furthest away: a gateway on this machine, which can always
    be reached, says nothing of the way out, and isn't excused by it either. A proxy is part of the way in any case.
    """
    providers = {plan.name: plan.target.provider for plan in plans}
    through = {name: proxies.before(provider) for name, provider in providers.items()}
    direct = frozenset(address_of(providers[name].base_url) for name, proxy in through.items() if proxy is None)
    evidence = frozenset(control) or _furthest(direct)
    found: dict[str, tuple[Way, ...]] = {}
    for name, proxy in through.items():
        way = frozenset(control) if proxy else _way(address_of(providers[name].base_url), evidence, bool(control))
        first = (frozenset({proxy}),) if proxy else ()
        found[name] = (*first, way) if way else first
    return found


def _furthest(addresses: Way) -> Way:
    return frozenset(address for address in addresses if scope(address) is _reach(addresses))


def _reach(addresses: Way) -> Scope:
    return max((scope(address) for address in addresses), default=Scope.LOOPBACK)


def _way(target: Address, evidence: Way, controlled: bool) -> Way:
    others = evidence if controlled else evidence - {target}
    if not others:
        return frozenset()
    near = scope(target) is Scope.LOOPBACK and _reach(others) is not Scope.LOOPBACK
    # The target itself stays in: where it can be reached again, the network is up.
    return frozenset() if near else evidence
