"""Asks the service: where to, how it went, how things stand."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from breaker.client.address import Address
from breaker.client.http import httpx
from breaker.client.proxies import usable_proxies
from breaker.client.quiet import unlogged
from breaker.client.said import Decision, not_ours
from breaker.errors import DoorAddressError, DoorGoneError, DoorRefusedError


class Door:
    """The service, asked now and by the caller itself; use it as a context manager, or close it.

    Without `url` and `token`: what FIRSTBYTE_URL and FIRSTBYTE_TOKEN say, else the default address and no token.
    `timeout_s` bounds each phase of a request. Every method raises DoorGoneError where nothing answers in time and
    DoorRefusedError where the service answers with a problem. No error shows the token, or a password in the address.
    """

    def __init__(self, url: str | None = None, *, token: str | None = None, timeout_s: float = 2.0) -> None:
        self._address = Address.found(url, token)
        self.url = self._address.url
        with usable_proxies(DoorAddressError):
            self._http = httpx.Client(timeout=timeout_s, **self._address.options())

    def __repr__(self) -> str:
        """Without the token."""
        return f"Door({self._address.bare!r})"

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._http.close()

    def route(self, name: str | None = None) -> Decision:
        """Where the next step should go; without a name: the route `default`, or the only one."""
        return self._decision(self._ask("GET", "/route", params=_given(route=name)))

    def report(self, **facts: object) -> str | None:
        """Tell how a step went, and hear what the answer was: its verdict.

        `facts` are those of `breaker.answer.Answer`; target, ended and seconds are needed, an id is made when
        left out. None where the service didn't say.
        """
        said = self._ask("POST", "/reports", json={"id": os.urandom(16).hex(), **facts})
        answers = said.get("answers") or [{}]
        verdict = answers[0].get("verdict")
        return None if verdict is None else str(verdict)

    def targets(self, target: str | None = None) -> dict[str, Any]:
        """How each target stands, or only one, as `GET /targets` says it."""
        return self._needed(self._ask("GET", "/targets", params=_given(target=target)), "targets", "stale")

    def moves(self, target: str | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """The newest moves of a target, or of all, with the answers behind each, newest first."""
        said = self._ask("GET", "/moves", params=_given(target=target, limit=limit))
        moves: list[dict[str, Any]] = self._needed(said, "moves")["moves"]
        return moves

    def runs(self, limit: int = 20) -> dict[str, Any]:
        """The last decisions about agents' tasks, as `GET /runs` says them."""
        return self._needed(self._ask("GET", "/runs", params=_given(limit=limit)), "runs", "claims")

    def run(self, run: str) -> dict[str, Any]:
        """All that is known of one task, as `GET /runs/{run}` says it; with a token, an agent's is needed."""
        return self._needed(self._ask("GET", f"/runs/{quote(run, safe='')}"), "steps", "done")

    def hold_open(self, target: str, *, who: str, why: str, for_s: float | None = None) -> dict[str, Any]:
        """Hold a circuit open by hand, for ten minutes unless said otherwise; gives the target as it stands now."""
        return self._by_hand("open", target, _given(who=who, why=why, for_s=for_s))

    def hold_closed(self, target: str, *, who: str, why: str, for_s: float | None = None) -> dict[str, Any]:
        """Hold a circuit closed by hand, for ten minutes unless said otherwise; gives the target as it stands now."""
        return self._by_hand("close", target, _given(who=who, why=why, for_s=for_s))

    def release(self, target: str, *, who: str, why: str) -> dict[str, Any]:
        """End a hold by hand; gives the target as it stands now."""
        return self._by_hand("release", target, _given(who=who, why=why))

    def _by_hand(self, what: str, target: str, words: dict[str, Any]) -> dict[str, Any]:
        return self._needed(self._ask("POST", f"/circuit/{what}", params={"target": target}, json=words), "state")

    def _ask(self, method: str, path: str, **request: Any) -> dict[str, Any]:  # Any: handed on to httpx as it is
        try:
            with unlogged():
                response = self._http.request(method, path, **request)
        except httpx.TimeoutException:
            said = f"{self._address.bare} doesn't answer in time; is the service overloaded or stopped?"
            raise DoorGoneError(said) from None
        except httpx.RequestError as error:
            said = f"nothing answers at {self._address.bare} ({error}); start it, or set FIRSTBYTE_URL"
            raise DoorGoneError(said) from None
        return self._read(response)

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        try:
            said = response.json()
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise self._other(response.status_code)
        if response.is_error:
            raise DoorRefusedError(response.status_code, str(said.get("detail") or response.reason_phrase))
        return said

    def _decision(self, said: dict[str, Any]) -> Decision:
        try:
            return Decision.read(said)
        except TypeError:
            raise self._other(200) from None

    def _needed(self, said: dict[str, Any], *names: str) -> dict[str, Any]:
        """What was said, if these are in it."""
        if any(said.get(name) is None for name in names):
            raise self._other(200)
        return said

    def _other(self, status: int) -> DoorRefusedError:
        return DoorRefusedError(status, not_ours(self._address.bare, status))


def _given(**values: object) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
