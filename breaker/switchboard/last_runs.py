"""The last decisions of all runs, as lines in the store: no id of a run, no name of a tool."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from breaker.done import Completion, Ground, Ruling
from breaker.store.contract import LastRuns


@dataclass(frozen=True, kw_only=True, slots=True)
class LastRun:
    """What was decided of a run, and how long ago; `provider` and `verdict` are its last answer's, or None."""

    mark: str
    ago_s: float
    completion: Completion
    reason: Ground
    provider: str | None
    verdict: str | None
    answers: int
    operations: int
    prevented: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Last:
    """The last decisions, newest first; by provider, how often completion was claimed and how often that was untrue."""

    runs: tuple[LastRun, ...]
    claimed: Mapping[str, int]
    prevented: Mapping[str, int]


def write(mark: str, ruling: Ruling, provider: str | None) -> str:
    """A decision as one line."""
    groups = (ruling.succeeded, ruling.failed, ruling.unknown, ruling.open, ruling.never_started)
    return json.dumps(
        {
            "mark": mark,
            "completion": ruling.completion,
            "reason": ruling.reason,
            "provider": provider,
            "verdict": ruling.verdict,
            "answers": ruling.answers,
            "operations": sum(map(len, groups)),
            "prevented": ruling.prevented,
        }
    )


def read(found: LastRuns) -> Last:
    """What the store has; lines of another version are left out.

    Where its clock was set back, what was before stands in its future: it is at least as long ago as what came after.
    """
    runs, ago_s = list[LastRun](), 0.0
    for line in found.lines:
        if (one := _read(*line.partition(" ")[::2], found.now, ago_s)) is not None:
            runs.append(one)
            ago_s = one.ago_s
    return Last(
        runs=tuple(runs),
        claimed=found.claimed,
        prevented=found.prevented,
    )


def _read(at: str, line: str, now: float, least_s: float) -> LastRun | None:
    try:
        said: dict[str, Any] = json.loads(line)
        return LastRun(
            mark=str(said["mark"]),
            ago_s=max(now - float(at), least_s),
            completion=Completion(said["completion"]),
            reason=Ground(said["reason"]),
            provider=said["provider"],
            verdict=said["verdict"],
            answers=int(said["answers"]),
            operations=int(said["operations"]),
            prevented=bool(said["prevented"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
