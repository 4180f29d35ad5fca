"""A server's troubles in our own words."""

import os
import ssl
from collections.abc import Sequence

from redis import exceptions as redis

from breaker.errors import DamagedStoreError, StoreError, StoreGoneError

# What the library raises where a server refuses, can't be reached or is silent; over the words of one that is something
# else its parser stumbles with a ValueError.
TROUBLES = (redis.RedisError, OSError, TimeoutError, ValueError)

# The first word of a refusal that is about the server's state, not about what was asked.
_PASSING = {
    "BUSY": "is busy with a script",
    "CLUSTERDOWN": "is part of a cluster that is down",
    "LOADING": "is still loading its data",
    "MASTERDOWN": "has lost its master",
    "MISCONF": "can't write to its disk",
    "NOAUTH": "wants a password",
    "NOPERM": "doesn't allow this user what is needed",
    "NOREPLICAS": "has too few replicas to write",
    "OOM": "is out of memory",
    "READONLY": "is a read-only replica",
    "TRYAGAIN": "is moving keys",
    "WRONGPASS": "refuses the password",
}
_FOREIGN = "answers as no Redis or Valkey does"
# The library takes the first word off these.
_BY_CLASS: tuple[tuple[type[Exception], str], ...] = (
    (redis.BusyLoadingError, _PASSING["LOADING"]),
    (redis.AuthenticationError, _PASSING["WRONGPASS"]),
    (redis.NoPermissionError, _PASSING["NOPERM"]),
    (redis.ReadOnlyError, _PASSING["READONLY"]),
    (redis.OutOfMemoryError, _PASSING["OOM"]),
    (redis.ClusterDownError, _PASSING["CLUSTERDOWN"]),
    (redis.MasterDownError, _PASSING["MASTERDOWN"]),
    (redis.TryAgainError, _PASSING["TRYAGAIN"]),
    (redis.AskError, _PASSING["TRYAGAIN"]),
    (ssl.SSLCertVerificationError, "shows a certificate that isn't trusted"),
    (UnicodeError, "can't be reached"),  # by a name that no host may have
    (redis.InvalidResponse, _FOREIGN),
    (ValueError, _FOREIGN),
    (redis.TimeoutError, "doesn't answer in time"),
    (TimeoutError, "doesn't answer in time"),
    (redis.ConnectionError, "can't be reached"),
    (OSError, "can't be reached"),
)


def translated(error: Exception, place: str) -> StoreError:
    """One sentence on what a server or the way to it refused.

    It never quotes the library, whose words may quote a URL with its password.
    """
    chain = _chain(error)
    for kind, words in _BY_CLASS:
        if any(isinstance(one, kind) for one in chain):
            return StoreGoneError(f"the store at {place} {words}{_reason(chain)}", words)
    code = str(error).partition(" ")[0]
    if code in _PASSING:
        return StoreGoneError(f"the store at {place} {_PASSING[code]}", _PASSING[code])
    if code == "WRONGTYPE":
        return DamagedStoreError(place)
    return StoreError(f"the store at {place} refused with {code if code.isupper() else type(error).__name__}")


def _chain(error: BaseException | None) -> list[BaseException]:
    """An error and those behind it: while it connects, the library wraps what the server said."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


def _reason(chain: Sequence[BaseException]) -> str:
    """What the operating system said, where it was asked, or what is wrong with a certificate."""
    for said in chain:
        if isinstance(said, ssl.SSLCertVerificationError):
            return f": {said.verify_message}"
        if isinstance(said, OSError) and said.strerror:
            # Only asyncio's own words hide the reason behind its number.
            hidden = said.strerror.startswith("Connect call failed")
            return f": {os.strerror(said.errno or 0) if hidden else said.strerror}"
    return ""
