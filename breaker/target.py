"""What can be asked: a provider's account and one of its models."""

import re
from dataclasses import dataclass
from enum import StrEnum

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


class Ability(StrEnum):
    """What a step may need of its target beyond text in and text out."""

    TOOLS = "tools"  # calls of tools
    VISION = "vision"  # images in the prompt
    AUDIO = "audio"  # sound in the prompt
    FILES = "files"  # whole documents, such as PDF, in the prompt
    JSON_SCHEMA = "json_schema"  # an answer that keeps to a schema
    REASONING = "reasoning"  # thinking before the answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A model at a provider: what is probed, judged, opened and routed to.

    `can` are its abilities in the order of their list, `max_input_tokens` is the longest prompt that it takes; None
    means that it isn't known.
    """

    provider: Provider
    model: str
    can: tuple[Ability, ...] | None = None
    max_input_tokens: int | None = None

    @property
    def name(self) -> str:
        """`provider/model`, as configuration, store, metrics and pages call it."""
        return f"{self.provider.name}/{self.model}"
