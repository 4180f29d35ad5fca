"""Tells the page of agents' tasks: the last ones, and how often one was called done that wasn't."""

import logging
import time
from collections.abc import Mapping

from breaker.api.notices import Aside, Line
from breaker.done import Completion, Ground
from breaker.errors import StoreError
from breaker.logged import STORE_GONE
from breaker.switchboard import LOOK_S, Switchboard
from breaker.switchboard.last_runs import Last, LastRun

_log = logging.getLogger(__name__)

SHOWN = 6


class Tasks:
    """The last tasks, read at most once a second however many look."""

    def __init__(self, switchboard: Switchboard) -> None:
        self._switchboard = switchboard
        self._known: list[Aside] = []
        self._read_at: float | None = None

    async def asides(self) -> list[Aside]:
        """The section of the page; none where no task is known, the last known one while the store is gone."""
        if self._read_at is None or time.monotonic() - self._read_at >= LOOK_S:
            self._read_at = time.monotonic()
            try:
                last = await self._switchboard.runs.last(SHOWN)
            except StoreError as error:
                _log.warning("showing the tasks last known: %s", error, extra=STORE_GONE())
            else:
                self._known = [section(last, self._switchboard.now())] if last.runs or last.claimed else []
        return self._known


def section(last: Last, now: float) -> Aside:
    """The last tasks, newest first; `now` is the store's time."""
    lines = [_line(one, now) for one in last.runs[:SHOWN]]
    return Aside(title="Agents' tasks", text=_untrue(last.claimed, last.prevented), lines=lines)


def _untrue(claimed: Mapping[str, int], prevented: Mapping[str, int]) -> str:
    """How often a claim of completion was untrue, and by whose answers."""
    all_claimed, untrue = sum(claimed.values()), sum(prevented.values())
    if not all_claimed:
        return "No task has been called done yet."
    if not untrue:
        return f"A task was called done {_times(all_claimed)}, and each time it was."
    guilty = [name for name in sorted(claimed) if prevented.get(name)]
    by = ", ".join(f"{name} {prevented[name]:,} of {claimed[name]:,}" for name in guilty)
    called = f"A task would have been called done {_times(all_claimed)}"
    return f"{called}; {_times(untrue)} it wasn't, and that was prevented ({by})."


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _line(one: LastRun, now: float) -> Line:
    return Line(at=now - one.ago_s, text=_became(one), well=one.completion is Completion.COMPLETED, more=_why(one))


def _became(one: LastRun) -> str:
    if one.prevented:
        return f"{one.mark} would have been called done, and wasn't"
    words = {
        Completion.COMPLETED: "is done",
        Completion.PARTIALLY_COMPLETED: "is done in part",
        Completion.FAILED: "has failed",
        Completion.NOT_FINISHED: "isn't finished",
    }
    return f"{one.mark} {words[one.completion]}"


def _why(one: LastRun) -> str:
    said = [] if one.reason is Ground.AGREED else [one.reason.value.replace("_", " ")]
    if one.reason is Ground.NOT_AN_ANSWER and one.verdict:
        said = [f"the last answer was none: {one.verdict.replace('_', ' ')}"]
    answers = f"{one.answers} answer{'s' if one.answers != 1 else ''}"
    operations = f"{one.operations} operation{'s' if one.operations != 1 else ''}"
    return ", ".join([*said, answers, operations, *([f"last asked: {one.provider}"] if one.provider else [])])
