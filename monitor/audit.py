"""Writes one line of JSON a decision about a task and a stage of an operation: no name, no id, no word of anybody's."""

import contextlib
import errno
import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from breaker.answer import Ended, Finish
from breaker.done import Completion, Ground, Next
from breaker.errors import FirstbyteError
from breaker.logged import AUDIT_LOST
from breaker.run import Effect, Outcome, Stage, State
from breaker.run.digests import key_of
from breaker.switchboard import Concluded, Staged
from breaker.verdict import Blame, Verdict
from monitor.settings import STDOUT, AuditPlan

_log = logging.getLogger(__name__)

_MARK = {"type": "string", "pattern": "^[0-9a-f]{8}$"}


class AuditError(FirstbyteError):
    """The audit's file can't be written."""


class Audit:
    """Listens to what becomes of agents' tasks, and writes it down with `write`.

    What failed, what nobody knows and what wasn't done is always written; of the rest, all lines of this share of runs.
    """

    def __init__(self, write: Callable[[str], object], share: float) -> None:
        self._write = write
        self._share = share
        self._lost = False

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
        try:
            self._write(json.dumps({"ts": now, "kind": kind, "run": mark, **said}) + "\n")
        except (OSError, ValueError):
            if not self._lost:
                _log.warning("lines of the audit are lost (said once): its file takes none", extra=AUDIT_LOST())
            self._lost = True
        else:
            self._lost = False


@contextlib.contextmanager
def auditing(plan: AuditPlan) -> Iterator[tuple[Audit, ...]]:
    """What writes the audit until the block ends; nothing where none is wished for. Raises AuditError."""
    if plan.to is None:
        yield ()
    elif plan.to == STDOUT:
        yield (Audit(_through(sys.stdout), plan.share),)
    else:
        file = _opened(plan.to)
        try:
            yield (Audit(_through(file), plan.share),)
        finally:
            _close(file)


def _opened(path: str) -> IO[str]:
    try:
        return Path(path).open("a", encoding="utf-8")
    except OSError as error:
        raise AuditError(
            f"{path} can't be written to ({error.strerror}); name another file below `audit: to`"
        ) from None


def _close(file: IO[str]) -> None:
    try:
        file.close()
    except OSError as error:
        _log.warning("the last lines of the audit are lost (%s)", error.strerror, extra=AUDIT_LOST())


def _through(file: IO[str] | None) -> Callable[[str], object]:
    def write(line: str) -> None:
        if file is None:  # a service without standard streams
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        file.write(line)
        file.flush()

    return write


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
