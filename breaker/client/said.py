"""What the service says, as an agent uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """Where the next step of a route should go.

    `target` is `provider/model`; `base_url`, `wire` and the environment variable `api_key_env` (None: no key) say
    how to ask it. `role` is primary, backup or last_resort, `reason` what keeps the primary out, or healthy.
    `since_s` is for how long the primary's circuit has been as it is, `until_s` for how long the primary stays out
    for certain, `retry_after_s` when a last resort is worth a second look; None where that isn't known.
    `valid_for_s` is how long to go on with this decision before asking again. `stale` says that it rests on what
    was last known. Times were true when the service answered.
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

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Decision:
        """The decision in an answer of the service; what a newer service says besides is left out.

        Raises TypeError where something is missing or of another kind.
        """
        known = {field.name: str(field.type) for field in fields(cls)}
        for name in known.keys() & said.keys():
            if not _fits(said[name], known[name]):
                raise TypeError(f"{name} is not of type {known[name]}")
        return cls(**{name: value for name, value in said.items() if name in known})


def _fits(value: object, kind: str) -> bool:
    """Whether a value is of a field's type; a whole number is good for seconds."""
    words = kind.split(" | ")
    return type(value).__name__.replace("NoneType", "None") in (*words, *(["int"] if "float" in words else []))
