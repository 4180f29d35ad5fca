"""Decides who may come in: pages of other sites never, and who changes something shows a token."""

import hmac
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from breaker.api.problems import ProblemError

# In the scope of a HEAD that is taken as a GET: an answer without an end ends with its head.
ONLY_HEAD = "firstbyte.only_head"
# In the state of a request whose client says no more, and may have gone: it is answered, and doesn't wait.
NO_MORE = "firstbyte.no_more"
_READING = frozenset({"GET", "HEAD"})
_AGENTS = frozenset({"/reports", "/judge"})
_RUN = "/runs/"


class Right(IntEnum):
    """What somebody may do; each includes the ones before it."""

    LOOK = 0
    REPORT = 1
    MOVE = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """Where the door stands and which tokens open it.

    `host` is the address that the service is bound to. Without any token everyone on this machine may do
    everything, which is allowed on loopback only. With one, a right without a token of its own is nobody's.
    """

    host: str = "127.0.0.1"
    agent_token: str | None = field(default=None, repr=False)
    admin_token: str | None = field(default=None, repr=False)

    @property
    def guarded(self) -> bool:
        """Whether tokens are asked for."""
        return bool(self.agent_token or self.admin_token)

    @property
    def open_to_others(self) -> bool:
        """Whether other machines can come in and change something unasked; no app is made for that."""
        return not self.guarded and not is_loopback(self.host)

    def right(self, authorization: str) -> Right:
        """What an Authorization header allows. Takes as long for a wrong token as for a right one."""
        if not self.guarded:
            return Right.MOVE
        scheme, _, shown = authorization.partition(" ")
        bearer = scheme.lower() == "bearer"
        moves = _same(shown.strip(), self.admin_token)
        reports = _same(shown.strip(), self.agent_token)
        if bearer and moves:
            return Right.MOVE
        return Right.REPORT if bearer and reports else Right.LOOK


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address or name; remembered, since all who ask use the same few."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """The ASGI layer before everything else; whatever it refuses has not been read any further.

    `access` is asked for at each request.
    """

    def __init__(self, app: ASGIApp, access: Callable[[], Access]) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer with a problem. HEAD is taken as GET; the server leaves the body out."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            check(self._access(), scope["method"], scope["path"], Headers(scope=scope))
        except ProblemError as problem:
            await problem.response()(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET", ONLY_HEAD: True}
        await self._app(scope, receive, send)


def check(access: Access, method: str, path: str, headers: Mapping[str, str]) -> None:
    """Raise ProblemError unless this request may go on."""
    if not access.guarded:
        _check_place(access, headers)
    # What agents say of their own tasks is told to agents alone.
    of_a_run = path.startswith(_RUN)
    if method in _READING and not of_a_run:
        return
    # Every path that isn't known to be an agent's is an administrator's, so a new one is closed at first.
    needed = Right.REPORT if of_a_run or path in _AGENTS else Right.MOVE
    shown = headers.get("authorization", "")
    right = access.right(shown)
    if right >= needed:
        return
    if right is Right.LOOK:
        error = ', error="invalid_token"' if shown else ""
        challenge = {"WWW-Authenticate": f'Bearer realm="firstbyte"{error}'}
        raise ProblemError(401, "no-token", "send 'Authorization: Bearer …' with a valid token", headers=challenge)
    raise ProblemError(
        403, "wrong-token", "an agent's token may report and judge; this needs the administrator's token"
    )


async def gone(scope: Scope, receive: Receive) -> None:
    """Return when whoever sent a request whose body is read has gone, or says no more and so most likely has."""
    while NO_MORE not in scope.get("state", ()) and (await receive())["type"] != "http.disconnect":
        pass


def _check_place(access: Access, headers: Mapping[str, str]) -> None:
    """Without tokens the place is all that protects us, and a web page in a browser here stands at the same place.

    A page of another site shows itself by its Origin, or by a name of its own that it has pointed at loopback.
    """
    host = headers.get("host", "")
    name = _name(host)
    if not is_loopback(name) and name != access.host.lower():
        detail = "this door answers to loopback names only; to reach it by another name, configure tokens"
        raise ProblemError(403, "foreign-host", detail)
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        raise ProblemError(403, "foreign-origin", "pages of other sites may not use this door")


def _name(host: str) -> str:
    """A Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0][1:].lower()
    return host.partition(":")[0].lower()


def _same(shown: str, token: str | None) -> bool:
    return hmac.compare_digest(shown.encode(errors="replace"), (token or "").encode(errors="replace")) and bool(token)
