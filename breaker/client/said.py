"""What the service says, as an agent uses it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, NotRequired, TypedDict

from breaker.errors import DoorRefusedError

_PROBLEM = "urn:firstbyte:problem:"
MAX_SESSION = 128
# No decision holds longer, whatever is said.
MAX_VALID_S = 60.0


@dataclass(frozen=True, slots=True)
class Needs:
    """What a step needs of its target: abilities (`tools`, `vision`, …), and so many tokens of prompt."""

    abilities: frozenset[str] = frozenset()
    input_tokens: int = 0


class Spot(TypedDict):
    """A target as `GET /route` describes it: `target` is `provider/model`."""

    target: str
    base_url: str
    wire: str
    api_key_env: NotRequired[str | None]


Fallback = Sequence[Spot] | Mapping[str, Sequence[Spot]]


def spots(fallback: Fallback, name: str | None) -> Sequence[Spot]:
    """The targets that the caller gave for a route, the preferred one first."""
    return fallback.get(name or "default", ()) if isinstance(fallback, Mapping) else fallback


def check(fallback: Fallback) -> None:
    """Raise ValueError where a fallback holds something that is no target."""
    for listed in fallback.values() if isinstance(fallback, Mapping) else [fallback]:
        for spot in listed:
            texts = [spot.get(name) for name in ("target", "base_url", "wire")]
            if not all(isinstance(text, str) and text for text in texts) or not re.fullmatch(
                "[^/]+/.+", spot["target"]
            ):
                raise ValueError("a target in `fallback` needs target (provider/model), base_url and wire")


def checked(session: str) -> str:
    """The session. Raises ValueError for what can't be one."""
    if not 0 < len(session) <= MAX_SESSION:
        raise ValueError(f"a session's name has 1 to {MAX_SESSION} characters; this one has {len(session)}")
    return session


class Source(StrEnum):
    """Who made a decision."""

    SERVICE = "service"  # the service, and it holds
    KEPT = "kept"  # the service, but it can't be reached since: nothing that is known here speaks against it
    LOCAL = "local"  # the client itself, from what it last knew and what its own steps came to since
    PRIMARY = "primary"  # nobody: the first target that is known, since nothing says how any of them is


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """Where the next step of a route should go.

    `target` is `provider/model`; `base_url`, `wire` and the environment variable `api_key_env` (None: no key) say
    how to ask it. `role` is primary, backup or last_resort, `reason` what keeps the primary out, or healthy.
    `since_s` is for how long the primary's circuit has been as it is, `until_s` for how long the primary stays out
    for certain, `retry_after_s` when a last resort is worth a second look; None where that isn't known.
    `valid_for_s` is how long to go on with this decision before asking again. `stale` says that it rests on what
    was last known. Times were true when the decision was made.
    `able` says whether the target can take the step, as far as that is known of it.
    `slow_s` and `silence_s` are the target's limits: a first byte later than the one is slow, an answer that says
    nothing for the other is given up. `switched` says that the client's last decision for this route named another
    target. `source` is who decided: see `Source`.
    """

    route: str
    target: str
    provider: str
    model: str
    base_url: str
    wire: str
    api_key_env: str | None
    role: str
    primary: str
    reason: str
    since_s: float | None
    until_s: float | None
    generation: int
    valid_for_s: float
    stale: bool
    retry_after_s: float | None = None
    able: bool = True
    slow_s: float = 40.0
    silence_s: float = 120.0
    switched: bool = False
    source: Source = Source.SERVICE

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Decision:
        """The decision in an answer of the service; what a newer service says besides is left out.

        Raises TypeError where something is missing or of another kind.
        """
        known = {field.name: str(field.type) for field in fields(cls) if field.name not in _OURS}
        for name in known.keys() & said.keys():
            if not _fits(said[name], known[name]):
                raise TypeError(f"{name} is not of type {known[name]}")
        return cls(**{name: value for name, value in said.items() if name in known})

    def aged(self, by_s: float) -> Decision:
        """The same decision so much later."""
        since_s = None if self.since_s is None else self.since_s + by_s
        until_s = None if self.until_s is None else max(self.until_s - by_s, 0.0)
        retry_after_s = None if self.retry_after_s is None else max(self.retry_after_s - by_s, 0.0)
        return replace(self, since_s=since_s, until_s=until_s, retry_after_s=retry_after_s)


# What the client adds.
_OURS = ("slow_s", "silence_s", "switched", "source")


def _fits(value: object, kind: str) -> bool:
    """Whether a value is of a field's type; a whole number is good for seconds, and none is endless."""
    words = kind.split(" | ")
    if "float" in words and isinstance(value, (int, float)) and not isinstance(value, bool):
        return math.isfinite(value) and value >= 0
    return type(value).__name__.replace("NoneType", "None") in words


def parsed(body: bytes) -> dict[str, Any] | None:
    """The JSON object in a body; None where there is none."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def refusal(status: int, body: bytes) -> DoorRefusedError | None:
    """The problem that a body tells of; None where it is none of Firstbyte's."""
    said = parsed(body)
    if said is None or not str(said.get("type", "")).startswith(_PROBLEM):
        return None
    return DoorRefusedError(status, str(said.get("detail") or said.get("title") or status))


def not_ours(address: str, status: int) -> str:
    """What to say where something answers that isn't Firstbyte."""
    if 300 <= status < 400 and status != 304:
        return f"what answers at {address} sends elsewhere (status {status}); give the address to which that leads"
    return f"what answers at {address} is not Firstbyte (status {status})"


def primary(name: str | None, spot: Spot) -> Decision:
    """The decision for a target of which nothing is known but where it is."""
    provider, _, model = spot["target"].partition("/")
    return Decision(
        route=name or "default",
        target=spot["target"],
        provider=provider,
        model=model,
        base_url=spot["base_url"],
        wire=spot["wire"],
        api_key_env=spot.get("api_key_env"),
        role="primary",
        primary=spot["target"],
        reason="healthy",
        since_s=None,
        until_s=None,
        generation=0,
        valid_for_s=1.0,
        stale=True,
        source=Source.PRIMARY,
    )
