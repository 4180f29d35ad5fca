"""The facts of one finished attempt at a target, without a word of what was said."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from enum import StrEnum
from functools import cache
from itertools import compress
from operator import attrgetter, is_not
from typing import Any, get_args

from breaker.errors import BadFactError

# Longer ids are no ids; the store keeps them.
MAX_ID = 64
MAX_TARGET = 192
# No fact is larger: not seconds, not characters.
MAX_NUMBER = 1e12
# Up to here a float says which integer it is.
_EXACT = 2.0**53
# What three digits can say; some hosts answer with a status beyond 599.
STATUSES = (100, 999)


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
    PACKED = "packed"  # in a content encoding that its reader couldn't undo


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
        for value in _numbers_of(self):
            if value is not None and not 0 <= value <= MAX_NUMBER:  # so written that NaN is refused too
                raise _out_of_range(self)
        for name, most in _TEXTS.items():
            text = getattr(self, name)
            if text is not None and not 0 < len(text) <= most:
                raise BadFactError(f"{name} has {len(text)} characters; it must have 1 to {most}", name)
        if self.status is not None and not STATUSES[0] <= self.status <= STATUSES[1]:
            raise BadFactError(f"status is {self.status}; an HTTP status is {STATUSES[0]} to {STATUSES[1]}", "status")
        if self.part is Part.LATE and self.ended is not Ended.PENDING:
            raise BadFactError(f"ended is {self.ended.value!r} in a late part; a late part's end is 'pending'", "ended")
        if self.part is Part.FINAL and self.ended is Ended.PENDING:
            raise BadFactError("ended is 'pending' in a final part; say how it ended, or send part 'late'", "ended")

    @property
    def began_ago_s(self) -> float:
        """How long ago the attempt began when these facts were handed in; without an age: at its end."""
        return self.seconds if self.age_s is None else self.age_s

    def facts(self) -> dict[str, str | int | float | bool]:
        """The facts that differ from their defaults, ready for JSON."""
        values = _values_of(self)
        # Most are the very objects that are their defaults, which is seen without comparing.
        others = compress(zip(_NAMES, values, strict=True), map(is_not, values, _DEFAULTS))
        return {name: value for name, value in others if value != _DEFAULT[name]}

    @classmethod
    def from_facts(cls, facts: Mapping[str, object]) -> "Answer":
        """The answer behind `facts()`, or behind an agent's report.

        Raises BadFactError for a name that isn't a fact, a value of the wrong type, or a missing one.
        """
        if not facts.keys() <= FACTS.keys():
            unknown = min(facts.keys() - FACTS.keys())
            raise BadFactError(f"{unknown!r} is not a fact of an answer; facts are: {', '.join(FACTS)}")
        for name in _NEEDED:
            if facts.get(name) is None:
                raise BadFactError(f"{name!r} is missing; every answer needs {_NEEDED_WORDS}", name)
        return _closed({n: v if type(v) is _KINDS[n] else FACTS[n].read(v) for n, v in facts.items()})


_KIND_WORDS: Mapping[type, str] = {float: "a number", int: "a whole number", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a fact: its name and type, whether it may be None, and its words, where it is one of a list."""

    name: str
    kind: type
    optional: bool
    words: Mapping[str, StrEnum] | None

    def read(self, value: object) -> object:
        """The value as an answer holds it. Raises BadFactError where it is of another type."""
        if self.words is not None and isinstance(value, str) and value in self.words:
            return self.words[value]
        if type(value) is self.kind or (value is None and self.optional):
            return value
        if self.kind is float and type(value) is int and 0 <= value <= MAX_NUMBER:
            return float(value)
        if self.kind is int and type(found := whole(value)) is int:
            return found
        wanted = (
            f"is one of: {', '.join(self.words)}" if self.words else f"must be {_KIND_WORDS.get(self.kind, 'a text')}"
        )
        raise BadFactError(f"{self.name} is {_shown(value)}; it {wanted}", self.name)


def whole(value: object) -> object:
    """A float without a fraction as the integer that it is for JSON Schema, 200 for 200.0; all else as it is."""
    return int(value) if type(value) is float and abs(value) <= _EXACT and value.is_integer() else value


def _facts() -> dict[str, Fact]:
    made = {}
    for each in fields(Answer):
        hint: Any = each.type
        kind, *others = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        words = {word.value: word for word in kind} if issubclass(kind, StrEnum) else None
        made[each.name] = Fact(each.name, kind, optional=bool(others), words=words)
    return made


# All facts, by their names, in the order in which an answer has them.
FACTS = _facts()
_DEFAULT = {field.name: field.default for field in fields(Answer)}
_NAMES, _DEFAULTS = tuple(_DEFAULT), tuple(_DEFAULT.values())
_NEEDED = [name for name, default in _DEFAULT.items() if default is MISSING]
_NEEDED_WORDS = f"{', '.join(_NEEDED[:-1])} and {_NEEDED[-1]}"
_NUMBERS = [name for name, fact in FACTS.items() if fact.kind in (int, float)]
_TEXTS = {name: MAX_TARGET if name == "target" else MAX_ID for name, fact in FACTS.items() if fact.kind is str}
_values_of = attrgetter(*FACTS)
_numbers_of = attrgetter(*_NUMBERS)
_KINDS = {name: fact.kind for name, fact in FACTS.items()}


@cache
def _open() -> type[Any]:
    """What an answer is made as; an agent that reads none of another's needs it never."""
    facts = [(f.name, object, field(default=f.default)) for f in fields(Answer)]
    return make_dataclass("_Open", facts, kw_only=True, slots=True)


def _closed(facts: Mapping[str, object]) -> Answer:
    """An answer with these facts, made open and then closed: to set forty facts of a frozen one takes ten times as long
    as all the rest that is done with a report.
    """
    made: Any = _open()(**facts)
    made.__class__ = Answer  # both have the same slots
    made.__post_init__()
    return made  # type: ignore[no-any-return] # it is one now


def _out_of_range(answer: Answer) -> BadFactError:
    values = ((name, getattr(answer, name)) for name in _NUMBERS)
    name, value = next((n, v) for n, v in values if v is not None and not 0 <= v <= MAX_NUMBER)
    return BadFactError(f"{name} is {value!r}; it must be a number from 0 to 1e12", name)


def _shown(value: object) -> str:
    """A value as an error may quote it: no text, since it may be a prompt's or a reply's, and never long."""
    if isinstance(value, str):
        return "a text (not shown)"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
