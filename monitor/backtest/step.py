"""One recorded answer, and the facts by which the judge of the service finds its verdict again."""

from dataclasses import dataclass
from typing import Any

from breaker.answer import Answer, Body, Ended, Fault, Finish, Part, Source
from breaker.verdict import Verdict

TARGET = "recorded"

# What an answer of each verdict was like, as far as a judge needs to know; a pending one is no answer yet.
FACTS: dict[Verdict, dict[str, Any]] = {
    Verdict.OK: {"finish": Finish.STOP, "end_mark": True},
    Verdict.TOOL_CALL: {"finish": Finish.TOOL_CALLS, "end_mark": True, "tool_calls": 1},
    Verdict.EMPTY: {"body": Body.EMPTY},
    Verdict.GATEWAY_TEXT: {"phrase": "recorded", "marks_sent": 1, "marks_returned": 0},
    Verdict.CUT: {"ended": Ended.RESET},
    Verdict.LOOP: {"squeeze": 0.0},
    Verdict.UNPROCESSED: {"marks_sent": 1, "marks_returned": 0},
    Verdict.ERROR_EVENT: {"fault": Fault.OTHER},
    Verdict.MALFORMED: {"body": Body.OTHER},
    Verdict.OVERLOADED: {"status": 503},
    Verdict.HTTP_ERROR: {"status": 500},
    Verdict.TIMEOUT_FIRST_BYTE: {"ended": Ended.SILENCE},
    Verdict.TIMEOUT_SILENCE: {"ended": Ended.SILENCE},
    Verdict.CONNECT_ERROR: {"ended": Ended.UNREACHABLE, "status": None},
    Verdict.RATE_LIMITED: {"status": 429},
    Verdict.QUOTA: {"status": 402},
    Verdict.AUTH: {"status": 401},
    Verdict.NOT_FOUND: {"status": 404},
    Verdict.LENGTH: {"finish": Finish.LENGTH},
    Verdict.FILTERED: {"finish": Finish.FILTERED},
    Verdict.CONTEXT_TOO_LONG: {"status": 413},
    Verdict.BAD_REQUEST: {"status": 400},
    Verdict.CANCELLED: {"ended": Ended.CANCELLED},
}
# Verdicts of answers of which no part came.
_NOTHING_CAME = frozenset(
    verdict
    for verdict, facts in FACTS.items()
    if facts.get("status", 200) != 200 or verdict in (Verdict.EMPTY, Verdict.TIMEOUT_FIRST_BYTE)
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One recorded answer, in seconds of the trace's own time.

    `seconds` is the whole attempt. `first_byte_s` None means the same moment as the end, where anything came at all.
    `verdict` is any but `pending`.
    """

    began_at_s: float
    seconds: float
    first_byte_s: float | None = None
    verdict: Verdict = Verdict.OK

    @property
    def done_at_s(self) -> float:
        """When it was over."""
        return self.began_at_s + self.seconds

    @property
    def came_s(self) -> float | None:
        """When the first part of the answer came, in seconds since the step began; None where nothing came."""
        if self.verdict in _NOTHING_CAME:
            return None
        return self.seconds if self.first_byte_s is None else self.first_byte_s

    @property
    def waited_s(self) -> float:
        """How long the asker waited for the first part, in vain or not."""
        came_s = self.came_s
        return self.seconds if came_s is None else came_s

    def late(self, slow_s: float) -> bool:
        """Whether the slow limit passed in silence."""
        return self.waited_s > slow_s

    def late_part(self, name: str, slow_s: float) -> Answer:
        """What a probe reports of it when the slow limit has passed."""
        return Answer(
            target=TARGET,
            id=name,
            source=Source.PROBE,
            part=Part.LATE,
            ended=Ended.PENDING,
            seconds=slow_s,
        )

    def final_part(self, name: str) -> Answer:
        """What a probe reports of it at its end."""
        facts = {"ended": Ended.COMPLETE, "status": 200, **FACTS[self.verdict]}
        return Answer(
            target=TARGET, id=name, source=Source.PROBE, seconds=self.seconds, first_byte_s=self.came_s, **facts
        )
