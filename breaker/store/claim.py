"""What a probe is for, and whether it may be sent: how replicas on one store share their probes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Need(StrEnum):
    """Which probes of others make a probe needless."""

    TURN = "turn"  # any that told something since the turn was due, or is under way for it
    CONFIRM = "confirm"  # another confirming one that began since and told something
    PACE = "pace"  # any that began since, whatever became of it


class Wish(NamedTuple):
    """A probe that somebody wants to send; moments are the store's."""

    need: Need
    since: float
    """Another's probe does as well if it isn't older than this."""
    within_s: float
    """By so much a moment in the store may be ahead of now; one further ahead is from before the clock was set back."""
    covers: float = 0.0
    """Once it has told something, turns up to this moment are needless too; 0: none besides its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """What became of a wish: it is given, or needless, or another's probe is under way (`again_in_s`)."""

    given: bool
    again_in_s: float | None = None
    """When the other's claim lapses unless it is renewed; None where nothing is in the way."""
    began_ago_s: float | None = None
    """How long ago the target's newest probe began; None where it isn't known, or is this one."""

    @property
    def needless(self) -> bool:
        """Whether another's probe does as well."""
        return not self.given and self.again_in_s is None
