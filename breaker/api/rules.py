"""What the configuration says to the door."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Self

from breaker.api.access import Access
from breaker.api.reports import MAX_REPORTS, Reader
from breaker.api.reports.sound import Sound
from breaker.switchboard import Switchboard
from breaker.wire.phrases import phrase_ids
from breaker.wire.signs import Phrase


@dataclass(slots=True)
class Rules:
    """Who may come in, which gateways' words exchanges are searched for, and what reads reports.

    Whoever needs one of them looks here at each request, so that others can be put in their place while an app answers:
    an app made anew for each configuration would be remembered by FastAPI, by the thousand.
    """

    access: Access
    phrases: Sequence[Phrase]
    reader: Reader
    sound: Sound

    @classmethod
    def of(cls, board: Switchboard, access: Access, phrases: Sequence[Phrase], targets: Collection[str]) -> Self:
        """The rules that these make; reports of `targets` are read quickly, of others that there are as well.

        Raises ValueError where anyone on the network could change something without a token.
        """
        if access.open_to_others:
            raise ValueError(f"the door is bound to {access.host!r}, which others can reach; that needs tokens")
        ids = phrase_ids(phrases)
        return cls(access, phrases, Reader(board.targets, ids), Sound(targets, ids, MAX_REPORTS))

    def renew(self, others: "Rules") -> None:
        """Be as others from now on."""
        for field in fields(self):
            setattr(self, field.name, getattr(others, field.name))
