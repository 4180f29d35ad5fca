"""The words in which an answer is judged: verdicts, classes, confidence."""

from enum import StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """What an answer was; a closed list."""

    OK = "ok"
    TOOL_CALL = "tool_call"
    EMPTY = "empty"
    GATEWAY_TEXT = "gateway_text"
    CUT = "cut"
    LOOP = "loop"
    UNPROCESSED = "unprocessed"
    ERROR_EVENT = "error_event"
    MALFORMED = "malformed"
    OVERLOADED = "overloaded"
    HTTP_ERROR = "http_error"
    TIMEOUT_FIRST_BYTE = "timeout_first_byte"
    TIMEOUT_SILENCE = "timeout_silence"
    CONNECT_ERROR = "connect_error"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    AUTH = "auth"
    NOT_FOUND = "not_found"
    LENGTH = "length"
    FILTERED = "filtered"
    CONTEXT_TOO_LONG = "context_too_long"
    BAD_REQUEST = "bad_request"
    CANCELLED = "cancelled"
    PENDING = "pending"  # a late part: the slow limit has passed, the answer is still to come


class Blame(StrEnum):
    """The class of a verdict: who has to change something."""

    OK = "ok"
    PROVIDER_FAILURE = "provider_failure"  # the same request may work elsewhere or later
    CALLER_FAULT = "caller_fault"  # the request itself must change
    INCONCLUSIVE = "inconclusive"  # says nothing about the provider


class Confidence(StrEnum):
    """How sure a verdict is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Judgement(NamedTuple):
    """A verdict with its class and one sentence of why.

    `cause` is what lay behind a failure inside a 200, None where the verdict says it all or nothing is known.
    """

    verdict: Verdict
    blame: Blame
    why: str
    cause: Verdict | None = None
    confidence: Confidence = Confidence.HIGH
