"""The forms of a line: text for people, logfmt and JSON for programs. None breaks a line or shows an error's words."""

import json
import logging
import re
import traceback
from datetime import UTC, datetime

from breaker.logged import MESSAGE
from monitor.settings import LogForm

# Longer texts are cut off.
MOST_CHARS = 2_000
_BARE = re.compile(r'[^\s"=\\]+')


class Text(logging.Formatter):
    """For people, in the local time; a fault of ours is shown with its trace."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 # as the base class calls it
        """The line before any trace."""
        held_back: int = getattr(record, "held_back", 0)
        more = f" ({held_back} more like it were held back)" if held_back else ""
        return _printable(super().formatMessage(record)) + more


class _Structured(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """The whole line."""
        return self.written(_pairs(record))

    def written(self, pairs: dict[str, object]) -> str:
        """The pairs in one line."""
        raise NotImplementedError


class Logfmt(_Structured):
    """`key=value` with a blank between; a value that isn't plain stands in quotes, as in JSON."""

    def written(self, pairs: dict[str, object]) -> str:
        """The pairs in one line."""
        return " ".join(f"{key}={_logfmt(value)}" for key, value in pairs.items())


class Json(_Structured):
    """One object a line."""

    def written(self, pairs: dict[str, object]) -> str:
        """The pairs in one line."""
        return json.dumps(pairs, separators=(",", ":"))


FORMS: dict[LogForm, logging.Formatter] = {
    LogForm.TEXT: Text(),
    LogForm.LOGFMT: Logfmt(),
    LogForm.JSON: Json(),
}


def _pairs(record: logging.LogRecord) -> dict[str, object]:
    event, values = getattr(record, "event", MESSAGE), getattr(record, "values", {})
    moment = datetime.fromtimestamp(record.created, UTC)
    pairs: dict[str, object] = {
        "ts": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "event": event.name,
        "msg": _cut(record.getMessage()),
        **{key: _cut(value) if isinstance(value, str) else value for key, value in values.items()},
    }
    if record.exc_info and record.exc_info[1] is not None:
        pairs["error"] = _place(record.exc_info[1])
    if event is MESSAGE:
        pairs["logger"] = _cut(record.name)
    if held_back := getattr(record, "held_back", 0):
        pairs["held_back"] = held_back
    return pairs


def _place(error: BaseException) -> str:
    """An error's kind and the line that it comes from; never what it says, which may be anything."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {frames[-1].filename}:{frames[-1].lineno}" if frames else type(error).__name__


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}…"


def _logfmt(value: object) -> str:
    text = str(value)
    return text if _BARE.fullmatch(text) and text.isprintable() else _printable(json.dumps(text, ensure_ascii=False))


def _printable(text: str) -> str:
    """Without characters that end a line or steer a terminal."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(sign: str) -> str:
    return sign if sign.isprintable() else sign.encode("unicode_escape").decode()
