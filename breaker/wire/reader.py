"""What each wire's file offers: how to ask a question in it, and how to read what comes back."""

from typing import Protocol

from breaker.wire.question import Question, Request
from breaker.wire.tally import Tally


class Reader(Protocol):
    """One wire. `END_WORD` is data that isn't JSON and ends the answer, None where the wire has none."""

    END_WORD: str | None

    def request(self, model: str, question: Question, *, streamed: bool, base_url: str = "") -> Request:
        """How to ask a question in this wire; some hosts have a dialect of their own."""
        ...

    def key_headers(self, key: str) -> dict[str, str]:
        """The headers that carry the key."""
        ...

    def read(self, event: dict[str, object], tally: Tally) -> bool:
        """Count what one event, or a whole plain body, says, and say whether it is this wire's; never raises."""
        ...
