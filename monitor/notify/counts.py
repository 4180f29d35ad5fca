"""What became of messages, in plain numbers; a scrape reads them."""

from collections import Counter
from dataclasses import dataclass, field

from monitor.settings import Form


@dataclass(slots=True)
class Sent:
    """Messages that were taken, tries that failed, messages that were given up, and how many wait by receiver."""

    sent: Counter[Form] = field(default_factory=Counter)
    failed: Counter[Form] = field(default_factory=Counter)
    dropped: Counter[Form] = field(default_factory=Counter)
    pending: dict[str, tuple[Form, int]] = field(default_factory=dict)

    def waiting(self, form: Form) -> int:
        """How many wait for receivers of a form."""
        return sum(many for known, many in list(self.pending.values()) if known is form)
