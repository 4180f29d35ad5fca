"""What the page is to tell besides what circuits say."""

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
