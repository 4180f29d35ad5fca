"""What the page is to tell besides what circuits say."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a notice matters."""

    INFO = "info"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence for the page, such as a budget that is nearly spent."""

    text: str
    level: Level = Level.INFO


def warning(told: str) -> Notice:
    """What a line of the log says, which is no whole sentence, as one for the page."""
    return Notice(f"{told[:1].upper()}{told[1:]}.", Level.WARNING)


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """What the probes of a provider have cost today (UTC); `usd` is None where no price is known.

    `share` is the part of the budget that this is, None where there is no limit.
    """

    provider: str
    tokens: int
    usd: float | None
    share: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """Something that happened: when (the store's time), what in a sentence, whether it went well, and more in small."""

    at: float
    text: str
    well: bool
    more: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Aside:
    """A section of the page of somebody else's: its title, a sentence, and what happened last, newest first."""

    title: str
    text: str
    lines: Sequence[Line] = ()
