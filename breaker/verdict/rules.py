"""The rules by which an answer is judged, in the order in which they decide."""

from collections.abc import Callable

from breaker.answer import Answer, Body, Ended, Fault, Finish, Part
from breaker.verdict.counts import (
    MAX_BYTES_PER_TOKEN,
    MIN_JUDGED_PROMPT_BYTES,
    UNREAD_BYTES_PER_TOKEN,
    USUAL_BYTES_PER_TOKEN,
    at_own_limit,
    bytes_per_token,
    fills_window,
    is_uncounted,
    leaves_no_room,
    shows_cut,
)
from breaker.verdict.faults import BY_FAULT, STATUS_FAULTS, cause_of
from breaker.verdict.words import Blame, Confidence, Judgement, Verdict

# A phrase shorter than this comes in one piece from a model as well.
MIN_PIECE_CHARS = 40
# So begins the id of a phrase that only sounds like a gateway's.
GUESSED = "like-"
# A tail that deflates to less than this share repeats itself; ordinary prose stays above 0.3.
LOOP_SQUEEZE = 0.1

_F, _C, _I = Blame.PROVIDER_FAILURE, Blame.CALLER_FAULT, Blame.INCONCLUSIVE
_MEDIUM, _LOW = Confidence.MEDIUM, Confidence.LOW
# Ends for which nothing need have been said.
_WORDLESS = (Finish.LENGTH, Finish.WINDOW, Finish.FILTERED, Finish.BLOCKED, Finish.PAUSED)


def judge(answer: Answer) -> Judgement:
    """Say what an answer was. Total: every answer gets a verdict, whatever facts are missing; never raises.

    What decides first stands first: what the provider said of itself, then how the attempt ended for its caller,
    then what is wrong with what was sent. Only an answer that has come to its end and has none of it is `ok`.
    """
    for rule in _RULES:
        if (judgement := rule(answer)) is not None:
            return judgement
    return _good(answer)


def _good(a: Answer) -> Judgement:
    verdict = Verdict.TOOL_CALL if a.tool_calls else Verdict.OK
    why = "a complete answer with a tool call" if a.tool_calls else "a complete answer"
    if a.finish is Finish.OTHER or (a.finish is None and a.end_mark and a.streamed):
        return Judgement(verdict, Blame.OK, f"{why}, though nothing known says why it ended", confidence=_LOW)
    if a.broken or _repeats(a):
        oddity = "parts of the stream can't be read" if a.broken else "it repeats itself"
        return Judgement(verdict, Blame.OK, f"{why}, though {oddity}", confidence=_MEDIUM)
    return Judgement(verdict, Blame.OK, why)


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
    fault = a.fault if a.fault in BY_FAULT else STATUS_FAULTS.get(a.status)
    if fault is Fault.AUTH and a.body is Body.HTML:
        fault = None  # a bot challenge at the door, not the provider's word on the key
    return BY_FAULT[fault] if fault in BY_FAULT else Judgement(Verdict.HTTP_ERROR, _F, f"HTTP status {a.status}")


def _unreachable(a: Answer) -> Judgement | None:
    if a.ended is Ended.UNREACHABLE:
        return Judgement(Verdict.CONNECT_ERROR, _F, "no connection, or it broke before anything came")
    return None


def _error_event(a: Answer) -> Judgement | None:
    """An error inside a body whose status said that all was well."""
    if a.fault is Fault.FILTERED:
        if a.first_byte_s is None and not a.text_chars:
            return BY_FAULT[a.fault]
        why = "the provider's filter broke the answer off"
        return Judgement(Verdict.ERROR_EVENT, _I, why, cause=Verdict.FILTERED)
    if a.fault is not None:
        known = BY_FAULT.get(a.fault)
        why = f"an error inside a 200: {known.why if known else 'the provider names no more'}"
        return Judgement(Verdict.ERROR_EVENT, known.blame if known else _F, why, cause=cause_of(a.fault))
    if a.finish is Finish.ERROR:
        return Judgement(Verdict.ERROR_EVENT, _F, "the model's turn was ended by an error")
    return None


def _loop(a: Answer) -> Judgement | None:
    by_itself = a.finish is None and a.end_mark
    if not _repeats(a) or by_itself or a.finish not in (None, Finish.LENGTH, Finish.WINDOW, Finish.OTHER):
        return None
    if a.tool_calls and not a.bad_tool_calls:
        return Judgement(Verdict.LOOP, _I, "the text repeats itself beside a whole tool call", confidence=_MEDIUM)
    return Judgement(Verdict.LOOP, _F, "the text repeats itself and didn't end by itself")


def _repeats(a: Answer) -> bool:
    return a.squeeze is not None and a.squeeze < LOOP_SQUEEZE


def _silence(a: Answer) -> Judgement | None:
    """Silence after the end mark is no fault: the answer was there."""
    if a.ended is not Ended.SILENCE or a.end_mark:
        return None
    if a.first_byte_s is None and a.body is not Body.PACKED:
        return Judgement(Verdict.TIMEOUT_FIRST_BYTE, _F, f"nothing of an answer within {a.seconds:.1f} s")
    return Judgement(Verdict.TIMEOUT_SILENCE, _F, "the answer stopped halfway and nothing more came")


def _foreign_body(a: Answer) -> Judgement | None:
    if a.body in (Body.HTML, Body.OTHER):
        return Judgement(Verdict.MALFORMED, _F, f"the body is not in the wire's format ({a.body.value})")
    if a.body is Body.PACKED and not _is_cut(a):
        why = "the body came in a content encoding that its reader couldn't undo, so nobody knows what it said"
        return Judgement(Verdict.MALFORMED, _I, why)
    return None


def _gateway_text(a: Answer) -> Judgement | None:
    """A gateway's phrase and a second sign: the phrase alone may be a quotation, and what sounds like one is none."""
    if a.phrase is None:
        return None
    guessed = a.phrase.startswith(GUESSED)
    if _is_unmarked(a) or (_is_gateways_count(a) if guessed else _is_gateways_way(a)):
        blame = _C if a.phrase_says is Fault.CONTEXT_TOO_LONG else _F
        why = f"a gateway's own words ({a.phrase}) instead of the model's"
        confidence = _MEDIUM if guessed else Confidence.HIGH
        return Judgement(Verdict.GATEWAY_TEXT, blame, why, cause_of(a.phrase_says), confidence)
    if guessed:
        return None
    why = f"a gateway's words ({a.phrase}), or the model quotes them"
    return Judgement(Verdict.GATEWAY_TEXT, _I, why, cause_of(a.phrase_says), _LOW)


def sounds_foreign(a: Answer) -> bool:
    """Whether all of an answer is what gateways write, whoever wrote it; a guess needs another sign of one besides."""
    if a.phrase is None or a.phrase_before:
        return False
    return not a.phrase.startswith(GUESSED) or not a.streamed or a.deltas == 1 or _is_gateways_way(a)


def _is_unmarked(a: Answer) -> bool:
    return bool(a.marks_sent) and not a.marks_returned


def _is_gateways_way(a: Answer) -> bool:
    """Whether it was counted or sent as models' answers are not."""
    undercounted = (bytes_per_token(a) or 0.0) > USUAL_BYTES_PER_TOKEN
    long_piece = a.deltas == 1 and (a.text_chars or 0) >= MIN_PIECE_CHARS
    return is_uncounted(a) or undercounted or long_piece


def _is_gateways_count(a: Answer) -> bool:
    """Whether nothing was counted, and it came at once or in an agent's step: many hosts count nothing at all."""
    in_a_step = bool(a.tools) and (a.prompt_bytes or 0) >= MIN_JUDGED_PROMPT_BYTES
    return is_uncounted(a) and (a.deltas == 1 or not a.streamed or in_a_step)


def _unprocessed(a: Answer) -> Judgement | None:
    if a.marks_sent and a.marks_returned == a.marks_sent:
        return None  # all of it was read; some relays leave what the cache held out of their count
    much = bytes_per_token(a)
    if much is None or much <= MAX_BYTES_PER_TOKEN:
        return None
    why = f"{a.prompt_tokens} prompt tokens counted for {a.prompt_bytes} bytes"
    if much > UNREAD_BYTES_PER_TOKEN or shows_cut(a):
        return Judgement(Verdict.UNPROCESSED, _F, f"{why}: most of it went unread")
    return Judgement(Verdict.UNPROCESSED, _I, f"{why}: fewer than any language needs", confidence=_LOW)


def _malformed(a: Answer) -> Judgement | None:
    cut_short = _is_cut(a) or a.finish in (Finish.LENGTH, Finish.WINDOW) or at_own_limit(a)
    if a.bad_tool_calls and not cut_short:
        return Judgement(Verdict.MALFORMED, _F, "a tool call whose arguments can't be read")
    if a.broken and not a.text_chars and not a.tool_calls:
        return Judgement(Verdict.MALFORMED, _F, "nothing in the body could be read")
    if a.broken and a.body is Body.JSON and not a.streamed:
        return Judgement(Verdict.MALFORMED, _F, "the body holds an answer and more, and is no JSON as a whole")
    if a.tools is False and a.tool_calls:
        return Judgement(Verdict.MALFORMED, _F, "a call of a tool, though none was offered", confidence=_MEDIUM)
    return None


def _empty(a: Answer) -> Judgement | None:
    """Nothing to see or to do; reasoning alone is no answer, unless a limit ended it."""
    nothing = a.text_chars == 0 and not a.tool_calls and not a.media
    if (a.body is Body.EMPTY or (nothing and a.finish not in _WORDLESS)) and not _is_cut(a):
        cause = Verdict.CONTEXT_TOO_LONG if leaves_no_room(a) else None
        return Judgement(Verdict.EMPTY, _F, "no text and no tool call", cause)
    return None


def _cut(a: Answer) -> Judgement | None:
    if not _is_cut(a):
        return None
    if a.early_end and a.ended is Ended.COMPLETE:
        return Judgement(Verdict.CUT, _I, "the answer went on after its end mark, and has no other", confidence=_LOW)
    return Judgement(Verdict.CUT, _F, "the connection ended before the answer did")


def _is_cut(a: Answer) -> bool:
    """Broken off; an end without an end mark is only a cut where anything of an answer had come."""
    if a.end_mark:
        return False
    return a.ended is Ended.RESET or (a.end_mark is False and a.first_byte_s is not None)


def _finish(a: Answer) -> Judgement | None:
    if a.finish is Finish.BLOCKED:
        return BY_FAULT[Fault.FILTERED]
    if a.finish is Finish.FILTERED:
        return Judgement(Verdict.FILTERED, _I, "the provider's filter ended the answer")
    if a.finish is Finish.WINDOW:
        return Judgement(Verdict.LENGTH, _F, "the model's own window was full")
    if a.finish is Finish.LENGTH or (a.bad_tool_calls and at_own_limit(a)):
        return _length(a)
    return None


def _length(a: Answer) -> Judgement:
    if at_own_limit(a) is False or (a.max_tokens is None and fills_window(a)):
        return Judgement(Verdict.LENGTH, _F, "ended at the provider's limit of tokens")
    if a.max_tokens is None:
        return Judgement(Verdict.LENGTH, _I, "ended at a limit of tokens, nobody knows whose", confidence=_LOW)
    confidence = _MEDIUM if a.completion_tokens is None else Confidence.HIGH
    return Judgement(Verdict.LENGTH, _C, "ended at the caller's own limit of tokens", confidence=confidence)


def _unread_marks(a: Answer) -> Judgement | None:
    """Marks that didn't come back; a turn that calls a tool has no need to say them."""
    if a.marks_sent and not a.tool_calls and a.marks_returned is not None and a.marks_returned < a.marks_sent:
        why = f"{a.marks_returned} of {a.marks_sent} marks came back: part of the prompt went unread"
        return Judgement(Verdict.UNPROCESSED, _F, why)
    return None


def _unfit(a: Answer) -> Judgement | None:
    """A whole answer that its caller may not be able to use."""
    if a.other_wire is not None:
        return Judgement(Verdict.MALFORMED, _I, f"an answer, but in another wire's form ({a.other_wire})")
    if a.restarts:
        why = f"the answer began {a.restarts + 1} times in one stream"
        return Judgement(Verdict.MALFORMED, _I, why, confidence=_MEDIUM)
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
    _gateway_text,
    _unprocessed,
    _malformed,
    _empty,
    _cut,
    _finish,
    _unread_marks,
    _unfit,
)
