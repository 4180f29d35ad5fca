"""Says what an answer was, from its facts alone."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from breaker.answer import Answer, Body, Ended, Fault, Finish, Part


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


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its class and one sentence of why.

    `cause` is what lay behind a failure inside a 200, None where the verdict says it all or nothing is known.
    """

    verdict: Verdict
    blame: Blame
    why: str
    cause: Verdict | None = None
    confidence: Confidence = Confidence.HIGH


# Fewer prompt bytes than this say nothing about how many tokens were read.
MIN_JUDGED_PROMPT_BYTES = 4_000
# No language has more bytes a token than 9.4 (measured with eight tokenizers); twice that means that half went unread.
MAX_BYTES_PER_TOKEN = 20
# A host whose window was too small says half of the window and two as its count, when it cuts what it was sent
# (seen: 2050, 2051, 32770); it still leaves less than a token for so many bytes.
CUT_COUNTS = frozenset({2051, *(2**power + 2 for power in range(11, 18))})
MAX_BYTES_PER_CUT_TOKEN = 10
# A phrase shorter than this comes in one piece from a model as well.
MIN_PIECE_CHARS = 40
# Who counts differently by a few tokens has still reached the limit.
NEAR_LIMIT = 0.95
# A tail that deflates to less than this share repeats itself; ordinary prose stays above 0.3.
LOOP_SQUEEZE = 0.1

_F, _C, _I = Blame.PROVIDER_FAILURE, Blame.CALLER_FAULT, Blame.INCONCLUSIVE

_BY_FAULT: dict[Fault, Judgement] = {
    Fault.RATE_LIMITED: Judgement(Verdict.RATE_LIMITED, _F, "the provider says that too much was asked of it"),
    Fault.QUOTA: Judgement(Verdict.QUOTA, _F, "the account is out of credit or quota: look at its billing page"),
    Fault.AUTH: Judgement(Verdict.AUTH, _F, "the key was refused: look at the environment variable that holds it"),
    Fault.NOT_FOUND: Judgement(Verdict.NOT_FOUND, _F, "the provider doesn't know this model or path"),
    Fault.OVERLOADED: Judgement(Verdict.OVERLOADED, _F, "the provider says that it is overloaded"),
    Fault.CONTEXT_TOO_LONG: Judgement(Verdict.CONTEXT_TOO_LONG, _C, "the request is longer than the model can read"),
    Fault.BAD_REQUEST: Judgement(Verdict.BAD_REQUEST, _C, "the provider refused the request as it was written"),
    Fault.FILTERED: Judgement(Verdict.FILTERED, _C, "the provider's filter refused the prompt"),
}

# Sources: the error pages of OpenAI, Anthropic, OpenRouter and DeepSeek, as of 2026-11.
_STATUS_FAULTS: dict[int, Fault] = {
    400: Fault.BAD_REQUEST,
    401: Fault.AUTH,
    402: Fault.QUOTA,
    403: Fault.AUTH,
    404: Fault.NOT_FOUND,
    413: Fault.CONTEXT_TOO_LONG,
    422: Fault.BAD_REQUEST,
    429: Fault.RATE_LIMITED,
    503: Fault.OVERLOADED,
    529: Fault.OVERLOADED,
}


def judge(answer: Answer) -> Judgement:
    """Say what an answer was. Total: every answer gets a verdict, whatever facts are missing; never raises.

    What decides first stands first: what the provider said of itself, then how the attempt ended for its caller,
    then what is wrong with what was sent. Only an answer that has come to its end and has none of it is `ok`.
    """
    for rule in _RULES:
        if (judgement := rule(answer)) is not None:
            return judgement
    if answer.tool_calls:
        return Judgement(Verdict.TOOL_CALL, Blame.OK, "a complete answer with a tool call")
    return Judgement(Verdict.OK, Blame.OK, "a complete answer")


def _pending(a: Answer) -> Judgement | None:
    if a.part is Part.LATE:
        return Judgement(Verdict.PENDING, _I, "no first byte yet")
    return None


def _cancelled(a: Answer) -> Judgement | None:
    """Many callers close a stream at its end mark or at an error, before the body ends: those say more than that."""
    if a.ended is Ended.CANCELLED and not a.end_mark:
        return Judgement(Verdict.CANCELLED, _I, "the caller ended it")
    return None


def _http_status(a: Answer) -> Judgement | None:
    """An HTTP error: the body's own code wins over the status."""
    if a.status is None or 200 <= a.status < 300:
        return None
    fault = a.fault if a.fault not in (None, Fault.OTHER) else _STATUS_FAULTS.get(a.status)
    if fault is Fault.AUTH and a.body is Body.HTML:
        fault = None  # a bot challenge at the door, not the provider's word on the key
    if fault in _BY_FAULT:
        return _BY_FAULT[fault]
    return Judgement(Verdict.HTTP_ERROR, _F, f"HTTP status {a.status}")


def _unreachable(a: Answer) -> Judgement | None:
    if a.ended is Ended.UNREACHABLE:
        return Judgement(Verdict.CONNECT_ERROR, _F, "no connection, or it broke before anything came")
    return None


def _error_event(a: Answer) -> Judgement | None:
    """An error inside a body whose status said that all was well."""
    if a.fault is not None:
        blame = _BY_FAULT[a.fault].blame if a.fault in _BY_FAULT else _F
        if a.fault is Fault.FILTERED and a.first_byte_s is not None:
            blame = _I  # what was filtered is the answer, not the prompt
        return Judgement(Verdict.ERROR_EVENT, blame, f"an error ({a.fault.value}) inside a 200")
    if a.finish is Finish.ERROR:
        return Judgement(Verdict.ERROR_EVENT, _F, "the model's turn was ended by an error")
    return None


def _silence(a: Answer) -> Judgement | None:
    """Silence after the end mark is no fault: the answer was there."""
    if a.ended is not Ended.SILENCE or a.end_mark:
        return None
    if a.first_byte_s is None:
        return Judgement(Verdict.TIMEOUT_FIRST_BYTE, _F, f"nothing of an answer within {a.seconds:.1f} s")
    return Judgement(Verdict.TIMEOUT_SILENCE, _F, "the answer stopped halfway and nothing more came")


def _foreign_body(a: Answer) -> Judgement | None:
    if a.body in (Body.HTML, Body.OTHER):
        return Judgement(Verdict.MALFORMED, _F, f"the body is not in the wire's format ({a.body.value})")
    return None


def _unprocessed(a: Answer) -> Judgement | None:
    # 0 and 1 are what gateways write that don't count at all.
    if not a.prompt_bytes or a.prompt_bytes < MIN_JUDGED_PROMPT_BYTES or a.prompt_tokens is None or a.prompt_tokens < 2:
        return None
    if a.marks_sent and a.marks_returned == a.marks_sent:
        return None  # all of it was read; some relays leave what the cache held out of their count
    bytes_per_token = a.prompt_bytes / a.prompt_tokens
    cut = a.prompt_tokens in CUT_COUNTS and bytes_per_token > MAX_BYTES_PER_CUT_TOKEN
    if cut or bytes_per_token > MAX_BYTES_PER_TOKEN:
        why = f"{a.prompt_tokens} prompt tokens counted for {a.prompt_bytes} bytes: most of it went unread"
        return Judgement(Verdict.UNPROCESSED, _F, why)
    return None


def _gateway_text(a: Answer) -> Judgement | None:
    """A known phrase and a second sign; the phrase alone may be a quotation."""
    if a.phrase is None:
        return None
    uncounted = not a.prompt_tokens and not a.completion_tokens
    one_piece = a.deltas == 1 and (a.text_chars or 0) >= MIN_PIECE_CHARS
    unmarked = a.marks_sent and not a.marks_returned
    if uncounted or one_piece or unmarked:
        return Judgement(Verdict.GATEWAY_TEXT, _F, f"a gateway's own words ({a.phrase}) instead of the model's")
    return Judgement(Verdict.GATEWAY_TEXT, _I, f"a gateway's words ({a.phrase}), or the model quotes them")


def _loop(a: Answer) -> Judgement | None:
    if a.squeeze is not None and a.squeeze < LOOP_SQUEEZE and a.finish not in (Finish.STOP, Finish.TOOL_CALLS):
        return Judgement(Verdict.LOOP, _F, "the text repeats itself and didn't end by itself")
    return None


def _empty(a: Answer) -> Judgement | None:
    """Nothing to see or to do; reasoning alone is no answer, unless a limit ended it."""
    nothing = a.text_chars == 0 and not a.tool_calls
    if a.body is Body.EMPTY or (nothing and a.finish not in (Finish.LENGTH, Finish.FILTERED) and not _is_cut(a)):
        return Judgement(Verdict.EMPTY, _F, "no text and no tool call")
    return None


def _cut(a: Answer) -> Judgement | None:
    if _is_cut(a):
        return Judgement(Verdict.CUT, _F, "the connection ended before the answer did")
    return None


def _is_cut(a: Answer) -> bool:
    """Broken off; an end without an end mark is only a cut where anything of an answer had come."""
    if a.end_mark:
        return False
    return a.ended is Ended.RESET or (a.end_mark is False and a.first_byte_s is not None)


def _finish(a: Answer) -> Judgement | None:
    if a.finish is Finish.LENGTH or (a.bad_tool_calls and _at_own_limit(a)):
        whose = "the provider's" if _at_own_limit(a) is False or _fills_window(a) else "the caller's own"
        return Judgement(Verdict.LENGTH, _F if whose == "the provider's" else _C, f"ended at {whose} limit of tokens")
    if a.finish is Finish.FILTERED:
        return Judgement(Verdict.FILTERED, _I, "the provider's filter ended the answer")
    return None


def _at_own_limit(a: Answer) -> bool | None:
    """Whether the caller's own limit was reached; None if that isn't known."""
    if a.max_tokens is None or a.completion_tokens is None:
        return None
    return a.completion_tokens >= a.max_tokens * NEAR_LIMIT


def _fills_window(a: Answer) -> bool:
    """Whether prompt and answer together fill a window of a round size, with no limit of the caller's known."""
    total = (a.prompt_tokens or 0) + (a.completion_tokens or 0)
    return a.max_tokens is None and total >= 2048 and total & (total - 1) == 0


def _malformed(a: Answer) -> Judgement | None:
    if a.bad_tool_calls and not (_is_cut(a) or a.finish is Finish.LENGTH or _at_own_limit(a)):
        return Judgement(Verdict.MALFORMED, _F, "a tool call whose arguments can't be read")
    if a.broken and not a.text_chars and not a.tool_calls:
        return Judgement(Verdict.MALFORMED, _F, "nothing in the body could be read")
    return None


def _unread_marks(a: Answer) -> Judgement | None:
    """Marks that didn't come back; a turn that calls a tool has no need to say them."""
    if a.marks_sent and not a.tool_calls and a.marks_returned is not None and a.marks_returned < a.marks_sent:
        why = f"{a.marks_returned} of {a.marks_sent} marks came back: part of the prompt went unread"
        return Judgement(Verdict.UNPROCESSED, _F, why)
    return None


_RULES: tuple[Callable[[Answer], Judgement | None], ...] = (
    _pending,
    _http_status,
    _error_event,
    _cancelled,
    _unreachable,
    _loop,
    _silence,
    _foreign_body,
    _unprocessed,
    _gateway_text,
    _malformed,
    _empty,
    _cut,
    _finish,
    _unread_marks,
)
