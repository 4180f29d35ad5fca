"""Where an attempt goes."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A target as an agent asks it; `base_url` ends where the wire's own path begins.

    `api_key_env` names the environment variable that holds the key; None means that the provider wants none. `role`
    is what the target is to its route.
    """

    target: str
    provider: str
    model: str
    base_url: str
    wire: str
    api_key_env: str | None
    role: str
