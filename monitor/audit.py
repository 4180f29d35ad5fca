"""Writes one line of JSON a decision about a task and a stage of an operation: no name, no id, no word of anybody's."""

import contextlib
import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from breaker.answer import Ended, Finish
from breaker.done import Completion, Ground, Next
from breaker.errors import FirstbyteError
from breaker.logged import AUDIT_LOST
from breaker.run import Effect, Outcome, Stage, State
from breaker.run.digests import key_of
from breaker.switchboard import Concluded, Staged
from breaker.verdict import Blame, Verdict
from monitor.outlet import Descriptor, File, Outlet
from monitor.settings import STDOUT, AuditPlan

_log = logging.getLogger(__name__)

_MARK = {"type": "string", "pattern": "^[0-9a-f]{8}$"}


class AuditError(FirstbyteError):
    """The audit's file can't be written."""


class Audit:
    """Listens to what becomes of agents' tasks, and lets it be written.

    What failed, what nobody knows and what wasn't done is always written; of the rest, all lines of this share of runs.
    """

    def __init__(self, put: Callable[[bytes], None], share: float) -> None:
        self._put = put
        self._share = share

    def staged(self, staged: Staged) -> None:
        """An operation has come to another stage."""
        stage = staged.stage
        if stage.state in (State.FAILED, State.UNKNOWN) or self._chosen(staged.mark):
            self._line("operation", staged.mark, _operation(stage))

    def concluded(self, concluded: Concluded) -> None:
        """A run has a new decision."""
        if not concluded.ruling.completion_allowed or self._chosen(concluded.mark):
            self._line("decision", concluded.mark, _decision(concluded))

    def _chosen(self, mark: str) -> bool:
        """Whether a run is one of those that are written whole: by its mark, so that all processes choose the same."""
        return int(mark, 16) < self._share * 0x1_0000_0000

    def _line(self, kind: str, mark: str, said: Mapping[str, object]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._put(json.dumps({"ts": now, "kind": kind, "run": mark, **said}).encode() + b"\n")


class Written(NamedTuple):
    """What listens, and through what its lines go."""

    audit: Audit
    outlet: Outlet


@contextlib.contextmanager
def auditing(plan: AuditPlan) -> Iterator[tuple[Written, ...]]:
    """What writes the audit until the block ends; nothing where none is wished for. Raises AuditError."""
    if plan.to is None:
        yield ()
        return
    place = _place(plan.to)
    outlet = Outlet(place, losing=_losing, lost=_lost)
    try:
        yield (Written(Audit(outlet.put, plan.share), outlet),)
    finally:
        if outlet.close() and isinstance(place, File):
            place.close()


def _place(to: str) -> File | Descriptor:
    if to == STDOUT:
        return Descriptor(1)
    try:
        return File(to)
    except OSError as error:
        raise AuditError(f"{to} can't be written to ({error.strerror}); name another file below `audit: to`") from None


def _losing() -> None:
    _log.warning("lines of the audit are lost: they can't be written, or not as fast as they come", extra=AUDIT_LOST())


def _lost(lines: int) -> None:
    _log.warning("the audit is written again; %d of its lines were lost", lines, extra=AUDIT_LOST(count=lines))


def _operation(stage: Stage) -> dict[str, object]:
    return {
        "operation": key_of(stage.id)[:8],
        "state": stage.state,
        "effect": stage.effect,
        "attempt": stage.attempt,
        "keyed": stage.idempotency_key is not None,
        "retryable": stage.retryable,
        "seconds": stage.seconds,
        "at_s": stage.at_s,
    }


def _decision(concluded: Concluded) -> dict[str, object]:
    ruling, last = concluded.ruling, concluded.ruling.last
    outcomes = Counter(check.outcome for check in ruling.checks)
    return {
        "decision": ruling.completion,
        "completion_allowed": ruling.completion_allowed,
        "claimed": ruling.claimed,
        "reason": ruling.reason,
        "reasons": ruling.reasons,
        "next": ruling.next,
        "provider": concluded.provider,
        "answers": ruling.answers,
        "hand_backs": ruling.hand_backs,
        "protocol": None if last is None else {"ended": last.ended, "status": last.status, "finish": last.finish},
        "detector": None if last is None else {"verdict": last.verdict, "class": last.blame, "why": last.why},
        "checks": {outcome: outcomes[outcome] for outcome in Outcome},
        "operations": {
            State.SUCCEEDED: len(ruling.succeeded),
            State.FAILED: len(ruling.failed),
            State.UNKNOWN: len(ruling.unknown),
            State.EXECUTING: len(ruling.open),
            State.PLANNED: len(ruling.never_started),
        },
    }


# The schema


def schema() -> dict[str, object]:
    """A line of the audit as JSON Schema."""
    head = {"ts": {"type": "string", "format": "date-time"}, "run": _MARK}
    operation = {
        **head,
        "kind": {"const": "operation"},
        "operation": _MARK,
        "state": _words(State),
        "effect": _words(Effect),
        "attempt": _COUNT,
        "keyed": {"type": "boolean"},
        "retryable": {"type": ["boolean", "null"]},
        "seconds": _SECONDS,
        "at_s": _SECONDS,
    }
    decision = {
        **head,
        "kind": {"const": "decision"},
        "decision": _words(Completion),
        "completion_allowed": {"type": "boolean"},
        "claimed": {"type": "boolean"},
        "reason": _words(Ground),
        "reasons": {"type": "array", "items": _words(Ground), "minItems": 1},
        "next": _words(Next),
        "provider": {"type": ["string", "null"]},
        "answers": _COUNT,
        "hand_backs": _COUNT,
        "protocol": _or_null({"ended": _words(Ended), "status": {"type": ["integer", "null"]}, "finish": _FINISH}),
        "detector": _or_null({"verdict": _words(Verdict), "class": _words(Blame), "why": {"type": "string"}}),
        "checks": _object(dict.fromkeys(Outcome, _COUNT)),
        "operations": _object(dict.fromkeys(State, _COUNT)),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of Firstbyte's audit",
        "oneOf": [_object(decision), _object(operation)],
    }


def _words(kind: Any) -> dict[str, object]:  # Any: an enumeration of words
    return {"type": "string", "enum": list(kind)}


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(properties: Mapping[str, object]) -> dict[str, object]:
    return {"oneOf": [_object(properties), {"type": "null"}]}


_COUNT = {"type": "integer", "minimum": 0}
_SECONDS = {"type": ["number", "null"], "minimum": 0}
_FINISH = {"type": ["string", "null"], "enum": [*Finish, None]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
