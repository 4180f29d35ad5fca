"""What may stand behind the ? of a store's URL, and what the values have to be."""

import difflib
import inspect
import re
from collections.abc import Callable, Collection
from urllib.parse import parse_qsl

from redis.asyncio import ConnectionPool, SSLConnection
from redis.asyncio.connection import AbstractConnection, Connection

_SAFE = re.compile(r"[!-~]{1,64}", re.ASCII)

# The remedy for a value that can't be used, None where it can.
_Rule = Callable[[str], str | None]


class BadUrlError(ValueError):
    """A URL that can't be used: `wrong` goes on after it ("…, and …"), `hint` is the remedy. Neither has a secret."""

    def __init__(self, wrong: str, hint: str) -> None:
        self.wrong = wrong
        self.hint = hint
        super().__init__(f"{wrong}; {hint}")


def _one_of(*known: str) -> _Rule:
    return lambda value: None if value.lower() in known else f"write one of: {', '.join(known)}"


def _anything(_: str) -> None:
    return None


def _number(value: str) -> str | None:
    return None if re.fullmatch(r"\d{1,9}", value, re.ASCII) else "write the number of a database"


def _name(value: str) -> str | None:
    return None if _SAFE.fullmatch(value) else "write up to 64 letters, digits and signs, without blanks"


_FLAG = _one_of("yes", "no", "true", "false", "1", "0")
_EVERYWHERE: dict[str, _Rule] = {"username": _anything, "password": _anything, "client_name": _name}
_ONE_SERVER: dict[str, _Rule] = {"db": _number}
_TCP: dict[str, _Rule] = {"socket_keepalive": _FLAG}
_TLS: dict[str, _Rule] = {
    "ssl_ca_certs": _anything,
    "ssl_ca_path": _anything,
    "ssl_cert_reqs": _one_of("none", "optional", "required"),
    "ssl_certfile": _anything,
    "ssl_check_hostname": _FLAG,
    "ssl_ciphers": _anything,
    "ssl_keyfile": _anything,
    "ssl_min_version": _one_of("771", "772"),  # TLS 1.2 and 1.3, by the protocol's own numbers
    "ssl_password": _anything,
}
_SENTINELS: dict[str, _Rule] = {"sentinel_username": _anything, "sentinel_password": _anything}
_ELSEWHERE = [
    (_ONE_SERVER, "name the database behind the service, as in …/service/1; a cluster has none but the first"),
    (_TCP, "remove it; there is no TCP on the way to a socket of this machine"),
    (_TLS, "begin the address with rediss, or remove it"),
    (_SENTINELS, "sentinel_username and sentinel_password go with redis+sentinel://"),
]


def read_options(kind: str, query: str) -> tuple[tuple[str, str], ...]:
    """The options of a URL of this kind (such as "rediss+sentinel"), each with its name. Raises BadUrlError.

    The list is closed. An unknown name is shown only where it is the library's or nearly one of ours, since it may be
    a piece of a password; a value only where it is no secret's.
    """
    if "@" in query:
        raise BadUrlError("has an @ behind its ? (not shown)", "in a password write ? as %3F, & as %26, @ as %40")
    found, known = tuple(parse_qsl(query, keep_blank_values=True)), _known(kind)
    names = [name for name, _ in found]
    for place, (name, value) in enumerate(found):
        if name not in known:
            raise _unknown(kind, name, known)
        if name in names[:place]:
            raise BadUrlError(f"says {name} twice behind its ?", "remove one of them")
        _check(name, value, known[name])
    if "ssl_keyfile" in names and "ssl_certfile" not in names:
        raise BadUrlError("says ssl_keyfile behind its ?, and no ssl_certfile", "name the file of its certificate too")
    return found


def _known(kind: str) -> dict[str, _Rule]:
    scheme, _, several = kind.partition("+")
    known = {**_EVERYWHERE}
    known |= _ONE_SERVER if not several else {}
    known |= _TCP if scheme != "unix" else {}
    known |= _TLS if scheme == "rediss" else {}
    return known | (_SENTINELS if several == "sentinel" else {})


def _check(name: str, value: str, rule: _Rule) -> None:
    if not value:
        raise BadUrlError(f"says {name} behind its ?, and no value", f"write {name}=…, or remove it")
    remedy = rule(value)
    if remedy is not None:
        said = value if _SAFE.fullmatch(value) else "something else (not shown)"
        raise BadUrlError(f"says {name}={said} behind its ?", remedy)


def _unknown(kind: str, name: str, known: Collection[str]) -> BadUrlError:
    for others, remedy in _ELSEWHERE:
        if name in others:
            return BadUrlError(f"says {name} behind its ?, which doesn't go with {kind}://", remedy)
    remedy = f"remove it; there may be {', '.join(sorted(known))}"
    if name in _of_the_library():
        return BadUrlError(f"says {name} behind its ?, which isn't to be set there", remedy)
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.8)
    if near:
        return BadUrlError(f"says {name} behind its ?, which there isn't", f"write {near[0]}")
    return BadUrlError("has an option behind its ? that there isn't (not shown)", remedy)


def _of_the_library() -> set[str]:
    """What redis-py would take: objects of Python, limits of time that are ours, encodings that break what is read."""
    takers = (AbstractConnection, Connection, SSLConnection, ConnectionPool)
    return {"timeout", *(name for taker in takers for name in inspect.signature(taker.__init__).parameters)}
