"""The facts of one finished attempt at a target, without a word of what was said."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum

from breaker.errors import BadFactError

# Longer ids are no ids; the store keeps them.
MAX_ID = 64
MAX_TARGET = 192
# No fact is larger: not seconds, not characters.
MAX_NUMBER = 1e12


class Source(StrEnum):
    """Who asked."""

    PROBE = "probe"
    REPORT = "report"


class Part(StrEnum):
    """Which part of an attempt these facts are."""

    LATE = "late"  # the slow limit has passed in silence and the attempt still runs
    FINAL = "final"  # the attempt is over


class Ended(StrEnum):
    """How the exchange ended."""

    COMPLETE = "complete"  # the body ended as HTTP says it does
    RESET = "reset"  # the connection broke after the headers had come
    SILENCE = "silence"  # our limit on silence was reached
    UNREACHABLE = "unreachable"  # no connection, or it broke before the headers
    CANCELLED = "cancelled"  # the caller ended it for reasons of its own
    PENDING = "pending"  # a late part: it hasn't ended


class Body(StrEnum):
    """What the body looked like, whatever its content type said."""

    SSE = "sse"
    JSON = "json"
    HTML = "html"
    OTHER = "other"
    EMPTY = "empty"


class Finish(StrEnum):
    """Why the model stopped, in one form for all wires."""

    STOP = "stop"
    LENGTH = "length"
    WINDOW = "window"  # the model's own window was full
    PAUSED = "paused"  # the model waits to be asked to go on
    TOOL_CALLS = "tool_calls"
    FILTERED = "filtered"
    BLOCKED = "blocked"  # the prompt was refused before anything was made
    ERROR = "error"
    OTHER = "other"


class Fault(StrEnum):
    """What an error in a body or behind a status says, in one form for all wires."""

    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    AUTH = "auth"
    NOT_FOUND = "not_found"
    OVERLOADED = "overloaded"
    CONTEXT_TOO_LONG = "context_too_long"
    BAD_REQUEST = "bad_request"
    FILTERED = "filtered"
    BROKEN_CALL = "broken_call"  # the model's own call of a tool can't be read
    EMPTY = "empty"  # a gateway says that nothing came from behind it
    OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What is known of one attempt; None always means "not known", never zero.

    Times are monotonic seconds since the attempt began. `age_s` is how long ago that was when the facts were
    handed in; None means "just now", that is `seconds` ago. `first_byte_s` is the first event that carried
    any part of the model's answer; `headers_s` the moment of the status line. `seconds` is the whole attempt.
    `streamed` says whether the answer came as a stream, or where nothing came, whether one was asked for.
    `confirms` names the answer whose badness this probe was sent to confirm.
    `end_mark` says that the wire's end mark came with nothing of the answer after it, `early_end` that one came with
    more after it. `text_chars` counts what can be seen, without thoughts in think tags; `media` counts images, sounds,
    files and code. `restarts` counts how often the answer began anew in one stream, `broken` the events that couldn't
    be read, `other_wire` names the wire that the body spoke instead of the target's.
    `phrase` is the id of a gateway's phrase that the text or its last paragraph is, beginning with `like-` where it
    only sounds like one; `phrase_before` the characters before it and `phrase_says` what it says is wrong. `deltas` is
    the number of events that carried text (None for a plain answer, 1 for one that came in one piece), `squeeze` the
    compressed share of the text's tail (small means repetition, 0 to about 1).
    `prompt_bytes` is the text sent as `breaker.wire.question.prompt_bytes` measures it, `tools` whether any tools were
    offered. `suspect_timing` says that the asker itself stalled, `self_suspect` that our own network was down when
    nothing came.
    Raises BadFactError for a value out of range.
    """

    target: str
    id: str
    ended: Ended
    seconds: float
    source: Source = Source.REPORT
    part: Part = Part.FINAL
    streamed: bool = True
    age_s: float | None = None
    status: int | None = None
    headers_s: float | None = None
    first_byte_s: float | None = None
    body: Body | None = None
    end_mark: bool | None = None
    early_end: bool | None = None
    finish: Finish | None = None
    fault: Fault | None = None
    text_chars: int | None = None
    reasoning_chars: int | None = None
    tool_calls: int | None = None
    bad_tool_calls: int | None = None
    media: int | None = None
    deltas: int | None = None
    phrase: str | None = None
    phrase_before: int | None = None
    phrase_says: Fault | None = None
    squeeze: float | None = None
    restarts: int | None = None
    broken: int | None = None
    other_wire: str | None = None
    prompt_bytes: int | None = None
    tools: bool | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    marks_sent: int | None = None
    marks_returned: int | None = None
    max_tokens: int | None = None
    retry_after_s: float | None = None
    suspect_timing: bool = False
    self_suspect: bool = False
    confirms: str | None = None

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        for name in _LIMITED:
            if (value := getattr(self, name)) is not None:
                _check_range(name, value)
        if self.part is Part.LATE and self.ended is not Ended.PENDING:
            raise BadFactError(f"ended is {self.ended.value!r} in a late part; a late part's end is 'pending'")
        if self.part is Part.FINAL and self.ended is Ended.PENDING:
            raise BadFactError("ended is 'pending' in a final part; say how it ended, or send part 'late'")

    @property
    def began_ago_s(self) -> float:
        """How long ago the attempt began when these facts were handed in; without an age: at its end."""
        return self.seconds if self.age_s is None else self.age_s

    def facts(self) -> dict[str, str | int | float | bool]:
        """The facts that differ from their defaults, ready for JSON."""
        return {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default or field.default is MISSING
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, object]) -> Answer:
        """The answer behind `facts()`, or behind an agent's report.

        Raises BadFactError for a name that isn't a fact, a value of the wrong type, or a missing one.
        """
        if unknown := sorted(set(facts) - set(_KINDS)):
            raise BadFactError(f"{unknown[0]!r} is not a fact of an answer; facts are: {', '.join(_KINDS)}")
        missing = [f.name for f in fields(cls) if f.default is MISSING and facts.get(f.name) is None]
        if missing:
            raise BadFactError(f"{missing[0]!r} is missing; every answer needs target, id, ended and seconds")
        return cls(**{name: _typed(name, value) for name, value in facts.items()})  # type: ignore[arg-type] # _typed checks


def _kinds() -> dict[str, tuple[type, bool]]:
    """The type of each fact, and whether None is allowed."""
    kinds: dict[str, tuple[type, bool]] = {}
    for name, hint in typing.get_type_hints(Answer).items():
        parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        kinds[name] = (parts[0], len(parts) > 1)
    return kinds


_KINDS = _kinds()
# The facts whose range is limited: numbers, and names of things.
_LIMITED = tuple(name for name, (kind, _) in _KINDS.items() if kind in (int, float, str))


def _typed(name: str, value: object) -> object:
    kind, optional = _KINDS[name]
    if value is None and optional:
        return None
    if issubclass(kind, StrEnum):
        if isinstance(value, str) and value in list(kind):
            return kind(value)
        raise BadFactError(f"{name} is {_shown(value)}; it is one of: {', '.join(kind)}")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is kind:
        return value
    raise BadFactError(f"{name} is {_shown(value)}; it must be of type {kind.__name__}")


def _shown(value: object) -> str:
    """A value as an error may quote it: no text, since it may be a prompt's or a reply's, and never long."""
    if isinstance(value, str):
        return "a text (not shown)"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def _check_range(name: str, value: object) -> None:
    if isinstance(value, str) and name in ("target", "id", "confirms", "phrase", "other_wire"):
        limit = MAX_TARGET if name == "target" else MAX_ID
        if not 0 < len(value) <= limit:
            raise BadFactError(f"{name} has {len(value)} characters; it must have 1 to {limit}")
    # Written so that NaN is refused too.
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and not 0 <= value <= MAX_NUMBER:
        raise BadFactError(f"{name} is {value!r}; it must be a number from 0 to 1e12")
