"""What the service says, as an agent uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


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


# What the client adds.
_OURS = ("slow_s", "silence_s", "switched", "source")


def _fits(value: object, kind: str) -> bool:
    """Whether a value is of a field's type; a whole number is good for seconds."""
    words = kind.split(" | ")
    return type(value).__name__.replace("NoneType", "None") in (*words, *(["int"] if "float" in words else []))
