"""What can be asked: a provider's account and one of its models."""

import re
from dataclasses import dataclass

# Names become keys in the store, where text between braces decides the cluster slot, and labels of metrics.
PROVIDER_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,126}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """An account at an API.

    `base_url` ends where the wire's own path begins (`https://api.example.com/v1`), without a slash.
    `wire` is the name of one of the readers in `breaker.wire`. `api_key_env` names the environment
    variable that holds the key; None means that the provider wants none.
    """

    name: str
    base_url: str
    wire: str
    api_key_env: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A model at a provider: what is probed, judged, opened and routed to."""

    provider: Provider
    model: str

    @property
    def name(self) -> str:
        """`provider/model`, as configuration, store, metrics and pages call it."""
        return f"{self.provider.name}/{self.model}"
