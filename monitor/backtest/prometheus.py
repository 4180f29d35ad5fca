"""Asks a Prometheus server for what it has stored; bounded in time and size."""

import json
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpx

from breaker.client.proxies import usable_proxies
from monitor.backtest.faults import PrometheusError, TraceError

# One question, and all of them together.
CONNECT_S, ANSWER_S, ALL_S = 5.0, 60.0, 300.0
MAX_BYTES = 256 * 1024 * 1024
_SAID_CHARS = 200
_HERE = ("127.0.0.1", "::1", "localhost")

Labels = Mapping[str, str]


class Series(NamedTuple):
    """One stored series: its labels, the name among them, and its samples as (seconds since 1970, value)."""

    labels: Labels
    samples: list[tuple[float, float]]


class Prometheus:
    """A server to ask; use it as a context manager.

    Raises TraceError where the address or the environment's proxy can't be used or a question is refused,
    PrometheusError where nothing answers in time or what answers isn't Prometheus. No error shows a password.
    """

    def __init__(self, url: str) -> None:
        try:
            base = httpx.URL(url.rstrip("/"))
            str(base.host).encode("idna")
            if base.scheme not in ("http", "https") or not base.host:
                raise ValueError(base.scheme)  # noqa: TRY301 # the message is the same for all of them
        except (httpx.InvalidURL, ValueError):
            raise TraceError("that is not an address (not shown); write it like http://127.0.0.1:9090") from None
        self.name = str(base.copy_with(username=None, password=None, query=None, fragment=None)).rstrip("/")
        self._until = time.monotonic() + ALL_S
        with usable_proxies(TraceError):
            self._http = httpx.Client(
                base_url=base.copy_with(query=None, fragment=None),
                timeout=httpx.Timeout(ANSWER_S, connect=CONNECT_S),
                trust_env=base.host not in _HERE,  # a proxy knows nothing of this machine's loopback
            )

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._http.close()

    def ask(self, query: str, at: float) -> list[Series]:
        """What a query gives at a moment: one sample a series, or all of a range."""
        try:
            status, body = self._post({"query": query, "time": f"{at:.3f}"})
        except httpx.TimeoutException:
            raise self._gone() from None
        except httpx.HTTPError:
            raise PrometheusError(f"nothing answers at {self.name}; is that Prometheus's address?") from None
        return self._understood(status, body)

    def _post(self, form: Mapping[str, str]) -> tuple[int, bytes]:
        """Status and body; the limits hold for the body as a whole, however slowly it drips."""
        until = min(self._until, time.monotonic() + ANSWER_S)
        body = bytearray()
        with self._http.stream("POST", "/api/v1/query", data=form) as answer:
            for piece in answer.iter_bytes():
                body += piece
                if time.monotonic() > until:
                    raise self._gone()
                if len(body) > MAX_BYTES:
                    raise TraceError(f"{self.name} sends more than can be held; choose a shorter --since")
            return answer.status_code, bytes(body)

    def _gone(self) -> PrometheusError:
        return PrometheusError(f"{self.name} gives no whole answer in time; is it busy? Try again or a shorter --since")

    def _understood(self, status: int, body: bytes) -> list[Series]:
        if status in (401, 403):
            raise TraceError(f"{self.name} wants a login; write it into the address: https://user:password@host")
        try:
            said = json.loads(body)
            if said["status"] == "error":
                raise TraceError(f"{self.name} refuses the question: {_printable(said['error'])}")
            return [_series(result) for result in said["data"]["result"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise PrometheusError(f"what answers at {self.name} is not Prometheus (HTTP status {status})") from None


def _series(result: Mapping[str, Any]) -> Series:
    samples = result["values"] if "values" in result else [result["value"]]
    labels = {str(name): str(value) for name, value in result["metric"].items()}
    return Series(labels, [(float(at), float(value)) for at, value in samples])


def _printable(text: object) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in str(text)[:_SAID_CHARS])
