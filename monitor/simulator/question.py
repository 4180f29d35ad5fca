"""What a request asks of a simulated provider, the same for every wire."""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_BYTES_PER_TOKEN = 4


class RefusalError(Exception):
    """The request is answered with an HTTP error before any behaviour begins."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, kw_only=True)
class Question:
    """The facts of one request; `prompt` is the text of its system and message parts."""

    model: str
    stream: bool
    prompt: str
    prompt_tokens: int
    max_tokens: int | None
    include_usage: bool = True
    array: bool = False
    """Whether the events of a stream are to be the elements of one JSON array."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the events of one answer share; `created` is in seconds since 1970."""

    serial: str
    created: int
    question: Question
    numbers: Iterator[int] = field(default_factory=itertools.count, compare=False)
    """The next number of an event, for wires that count theirs."""


def read_json(body: bytes) -> dict[str, object]:
    """Return the JSON object in a body, or raise a `RefusalError` with 400."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusalError(400, "The body of the request is not valid JSON.") from None
    if not isinstance(value, dict):
        raise RefusalError(400, "The body of the request must be a JSON object.")
    return value


def model_of(body: Mapping[str, object]) -> str:
    """Return the model that is asked for, or raise a `RefusalError` with 400."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise RefusalError(400, "model: a name is required.")
    return model


def messages_of(body: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the messages, or raise a `RefusalError` with 400 where there are none."""
    messages = objects_of(body, "messages")
    if not all(isinstance(message.get("role"), str) for message in messages):
        raise RefusalError(400, "messages: each must be an object with a role.")
    return messages


def objects_of(body: Mapping[str, object], name: str) -> list[dict[str, object]]:
    """Return a list of objects, or raise a `RefusalError` with 400 where there are none."""
    values = body.get(name)
    if not isinstance(values, list) or not values:
        raise RefusalError(400, f"{name}: at least one is required.")
    if not all(isinstance(value, dict) for value in values):
        raise RefusalError(400, f"{name}: each must be an object.")
    return values


def flag_of(body: Mapping[str, object], name: str) -> bool:
    """Return a boolean that may be left out, or raise a `RefusalError` with 400."""
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise RefusalError(400, f"{name}: must be true or false.")
    return bool(value)


def limit_of(body: Mapping[str, object], *names: str) -> int | None:
    """Return the first limit on tokens that is given; raise a `RefusalError` with 400 where it isn't 1 or more."""
    for name in names:
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise RefusalError(400, f"{name}: must be a whole number of at least 1.")
        return value
    return None


def prompt_of(*contents: object) -> str:
    """Return the text of contents: plain strings, lists of parts, and parts inside parts.

    Raises a `RefusalError` with 400 where they are nested too deeply to read.
    """
    try:
        return "\n".join(text for content in contents for text in _texts(content))
    except RecursionError:
        raise RefusalError(400, "messages: nested too deeply.") from None


def tokens_of(prompt: str, *others: object) -> int:
    """Return a count of tokens: bytes of UTF-8 over four, of the prompt and of what else was sent as JSON."""
    size = len(prompt.encode("utf-8", "surrogatepass"))
    size += sum(len(json.dumps(other, ensure_ascii=False)) for other in others if other)
    return max(1, size // _BYTES_PER_TOKEN)


def _texts(content: object) -> Iterator[str]:
    match content:
        case str():
            yield content
        case list():
            for part in content:
                yield from _texts(part)
        case dict():
            for key in ("text", "content", "parts", "output"):
                yield from _texts(content.get(key))
        case _:
            pass
