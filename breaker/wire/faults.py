"""Finds the error in a parsed body and says what it means."""

from breaker.answer import Fault
from breaker.verdict.faults import STATUS_FAULTS
from breaker.wire.shape import items, mapping, parse
from breaker.wire.signs import CODES, KINDS, SAYINGS

_CODE_KEYS = ("code", "type", "status", "error_code", "error_type", "status_code", "reason", "http_code")
_TEXT_KEYS = ("message", "msg", "detail", "error_msg", "error_message", "status_msg", "raw", "error")
_INNER_KEYS = ("error", "message", "metadata", "raw", "detail", "base_resp", "innererror", "x_groq")
# Errors are wrapped in errors, seldom more than three deep.
_DEEPEST = 5
# The most of a message that is read.
_LONGEST = 4_000
# Where none of these stands at the top, only a name can say that it is an error.
_HINTS = frozenset(
    (
        "error",
        "error_type",
        "error_msg",
        "error_code",
        "error_message",
        "base_resp",
        "x_groq",
        "message",
        "msg",
        "detail",
    )
)
_STATUSES = frozenset(map(str, STATUS_FAULTS))


def fault_in(body: dict[str, object], *, name: str = "", status: int = 200) -> Fault | None:
    """What the error in an event or body says; None if it holds none.

    `name` is the event's name. Behind an error's `status` every body is an error; in a 200 only the top level is
    looked at, since deeper down stand notes of content filters and the model's own words.
    """
    if status < 400 and name != "error" and not _is_error(body):
        return None
    codes, text = _gather(body, 0)
    fault = _meaning(codes, text)
    if fault is Fault.QUOTA and _names_a_wait(body):
        return Fault.RATE_LIMITED  # a quota that is back within seconds is no empty account
    # "Invalid request" is what many write with every status: then the status knows better.
    return Fault.OTHER if fault is Fault.BAD_REQUEST and status in range(401, 500) and status != 422 else fault


def fault_in_text(text: str) -> Fault:
    """What an error says that is no JSON."""
    return _meaning([], text)


def _is_error(body: dict[str, object]) -> bool:
    if _HINTS.isdisjoint(body):
        return "error" in (body.get("object"), body.get("type"))
    if "error" in (body.get("object"), str(body.get("type")).rpartition(".")[2]):
        return True
    if _says_something(body.get("error")) or _says_something(mapping(body.get("x_groq")).get("error")):
        return True
    if any(_says_something(body.get(key)) for key in ("error_type", "error_msg", "error_code", "error_message")):
        return True
    if mapping(body.get("base_resp")).get("status_code", 0) not in (0, "0"):
        return True
    bare = isinstance(body.get("message", body.get("msg")), str) and body.get("code") not in (None, 0, "0", 200, "200")
    return (bare and "choices" not in body) or list(body) == ["detail"]


def _names_a_wait(body: dict[str, object]) -> bool:
    """Whether Google's details name a delay after which to ask again."""
    return any(detail.get("retryDelay") for detail in items(mapping(body.get("error")).get("details")))


def _says_something(error: object) -> bool:
    """Whether an error field is one; healthy bodies carry null, empty texts or objects of such."""
    return any(error.values()) if isinstance(error, dict) else bool(error)


def _gather(error: dict[str, object], depth: int) -> tuple[list[str], str]:
    """The codes of an error from the inside out, and its words; what it quotes of the model is left out."""
    codes: list[str] = []
    words: list[str] = []
    for key in _INNER_KEYS:
        if depth < _DEEPEST and (inner := _inner(error.get(key))):
            inner_codes, inner_words = _gather(inner, depth + 1)
            codes += inner_codes
            words.append(inner_words)
    codes += [str(detail.get("reason")).lower() for detail in items(error.get("details"))]
    codes += [str(error[key]).lower() for key in _CODE_KEYS if isinstance(error.get(key), (str, int))]
    words += [text[:_LONGEST] for key in _TEXT_KEYS if isinstance(text := error.get(key), str)]
    return codes, " ".join(words)


def _inner(value: object) -> dict[str, object]:
    """An error within an error, which some pass on as the text that they got."""
    if isinstance(value, str) and value.lstrip().startswith("{") and len(value) <= _LONGEST:
        return next(iter(parse(value).objects), {})
    return mapping(value)


def _meaning(codes: list[str], text: str) -> Fault:
    text = text.lower()
    return (
        next((CODES[code] for code in codes if code in CODES), None)
        or next((fault for saying, fault in SAYINGS if saying in text), None)
        or next((KINDS[code] for code in codes if code in KINDS), None)
        or next((STATUS_FAULTS[int(code)] for code in codes if code in _STATUSES), None)
        or Fault.OTHER
    )
