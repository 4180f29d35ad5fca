"""What a simulated provider can be told to do, and the numbers that go with it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Self

STATUSES = (400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 529)


class BehaviourName(StrEnum):
    """The closed list of behaviours; `MEANINGS` says each in a line."""

    HEALTHY = "healthy"
    FIRST_BYTE_AFTER = "first_byte_after"
    HEADERS_ONLY = "headers_only"
    COMMENTS_ONLY = "comments_only"
    NEVER_ANSWERS = "never_answers"
    REFUSED = "refused"
    RESET = "reset"
    CUT = "cut"
    STALL = "stall"
    EMPTY = "empty"
    EMPTY_UNENDED = "empty_unended"
    GATEWAY_TEXT = "gateway_text"
    TRUNCATED_PROMPT = "truncated_prompt"
    ERROR_FIRST = "error_first"
    ERROR_AFTER_TEXT = "error_after_text"
    HTML = "html"
    LOOP = "loop"
    FLOW = "flow"
    HTTP_ERROR = "http_error"


MEANINGS: Mapping[BehaviourName, str] = {
    BehaviourName.HEALTHY: "a good answer; its first byte is spread around `first_byte_s`",
    BehaviourName.FIRST_BYTE_AFTER: "a good answer whose first byte comes after exactly `after_s`",
    BehaviourName.HEADERS_ONLY: "status and headers, then no event",
    BehaviourName.COMMENTS_ONLY: "status and headers, then a keep-alive every `every_s` and no event",
    BehaviourName.NEVER_ANSWERS: "the connection and the request are taken, nothing ever comes back",
    BehaviourName.REFUSED: "the provider's port refuses connections, for all of its targets",
    BehaviourName.RESET: "the connection is reset before any byte of the answer",
    BehaviourName.CUT: "the connection closes inside a chunk after `tokens` tokens",
    BehaviourName.STALL: "nothing more comes after `tokens` tokens",
    BehaviourName.EMPTY: "no text, but a proper end",
    BehaviourName.EMPTY_UNENDED: "headers and the end of the body, no event between them",
    BehaviourName.GATEWAY_TEXT: "a gateway's `phrase` in place of the model's answer, as one delta with a good end",
    BehaviourName.TRUNCATED_PROMPT: "a good answer to no more than the last `keep_tokens` tokens of the prompt",
    BehaviourName.ERROR_FIRST: "HTTP 200 whose only event is an error object",
    BehaviourName.ERROR_AFTER_TEXT: "HTTP 200, `tokens` tokens, then an error object",
    BehaviourName.HTML: "HTTP 200 with a web page",
    BehaviourName.LOOP: "the same sentence again and again for `seconds`, then a limit, whatever was asked for",
    BehaviourName.FLOW: "a good answer that flows for `seconds`, whatever limit was asked for",
    BehaviourName.HTTP_ERROR: "HTTP `status` with an error in the wire's own shape, and `retry_after_s` where given",
}


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """A behaviour with its numbers; each behaviour reads only the numbers that its meaning names.

    All `_s` are seconds since the request arrived, before the simulator's `speed` divides them.
    Raises `ValueError` where a number is out of its range.
    """

    name: BehaviourName = BehaviourName.HEALTHY
    first_byte_s: float = 0.6
    """Median time to the first token."""
    spread: float = 0.25
    """Sigma of the log-normal around the median; 0 means always the median."""
    headers_s: float | None = 0.05
    """When headers and opening events go out, at the latest with the first byte; None: with the first byte."""
    tokens_per_s: float = 60.0
    answer_tokens: int = 0
    """A good answer is filled up to at least so many tokens."""
    after_s: float = 45.0
    tokens: int = 8
    silence_s: float | None = None
    """How long a silence (headers, comments, nothing, a stall) lasts before a good answer goes on; None: for ever."""
    every_s: float = 1.0
    seconds: float = 600.0
    keep_tokens: int = 2050
    status: int = 500
    retry_after_s: float | None = None
    phrase: str | None = None
    """The text of a gateway or the message of an error; None: a wording of ours."""

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            _check_number(name, getattr(self, name), whole=name in _WHOLE, optional=name in _OPTIONAL)
        for name in ("tokens_per_s", "every_s"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0")
        if self.status not in STATUSES:
            raise ValueError(f"status {self.status!r} is not one of {', '.join(map(str, STATUSES))}")
        if self.phrase is not None and not isinstance(self.phrase, str):
            raise ValueError(f"phrase must be text, not {self.phrase!r}")

    @classmethod
    def read(cls, values: Mapping[str, object]) -> Self:
        """Return the behaviour told by a JSON object such as `{"behaviour": "stall", "tokens": 3}`.

        Raises `ValueError` with the names that are allowed where a name isn't one of them.
        """
        numbers = dict(values)
        name = _name(numbers.pop("behaviour", None))
        known = [field.name for field in fields(cls) if field.name != "name"]
        for key in numbers:
            if key not in known:
                raise ValueError(f"unknown parameter {key!r}; there are: {', '.join(known)}")
        return cls(name=name, **numbers)  # type: ignore[arg-type]  # __post_init__ checks each value

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the behaviour told in one line, such as `http_error,status=429,retry_after_s=30`.

        A value is read as JSON where it can be, else as text, and holds no comma.
        Raises `ValueError` as `read` does.
        """
        name, *pairs = text.split(",")
        values: dict[str, object] = {"behaviour": name.strip()}
        for pair in pairs:
            key, equals, value = pair.partition("=")
            if not equals:
                raise ValueError(f"{pair!r} is not of the form name=value")
            values[key.strip()] = _value(value.strip())
        return cls.read(values)

    def told(self) -> dict[str, object]:
        """Return the JSON object that `read` takes."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"behaviour": values.pop("name").value, **values}


_WHOLE = ("answer_tokens", "tokens", "keep_tokens", "status")
_OPTIONAL = ("headers_s", "silence_s", "retry_after_s")
_MOST_OTHERS = 1_000_000
_MOST = {"spread": 5, "tokens_per_s": 10_000, "answer_tokens": 100_000, "tokens": 100_000}
_NUMBERS = tuple(field.name for field in fields(Behaviour) if field.name not in ("name", "phrase"))


def _name(value: object) -> BehaviourName:
    try:
        return BehaviourName(value)  # type: ignore[arg-type]  # whatever isn't a name is refused here
    except ValueError:
        raise ValueError(f"unknown behaviour {value!r}; there are: {', '.join(BehaviourName)}") from None


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _check_number(name: str, value: object, *, whole: bool, optional: bool) -> None:
    if value is None and optional:
        return
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise ValueError(f"{name} must be a {'whole ' if whole else ''}number, not {value!r}")  # noqa: TRY004  # a fault of a value, as read says
    most = _MOST.get(name, _MOST_OTHERS)
    if not 0 <= value <= most:
        raise ValueError(f"{name} must be from 0 to {most}, not {value!r}")
