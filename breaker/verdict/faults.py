"""What the faults that providers name mean for whoever asked."""

from breaker.answer import Fault
from breaker.verdict.words import Blame, Judgement, Verdict

_F, _C = Blame.PROVIDER_FAILURE, Blame.CALLER_FAULT

_REFUSED_KEY = (
    "the key was refused: look at the variable that `api_key_env` names, whether it is set, whole, and this account's"
)

BY_FAULT: dict[Fault, Judgement] = {
    Fault.RATE_LIMITED: Judgement(Verdict.RATE_LIMITED, _F, "the provider says that too much was asked of it"),
    Fault.QUOTA: Judgement(Verdict.QUOTA, _F, "the account is out of credit or quota: look at its billing page"),
    Fault.AUTH: Judgement(Verdict.AUTH, _F, _REFUSED_KEY),
    Fault.NOT_FOUND: Judgement(
        Verdict.NOT_FOUND, _F, "the provider doesn't know this model or path: look at `model` and `base_url`"
    ),
    Fault.OVERLOADED: Judgement(Verdict.OVERLOADED, _F, "the provider says that it is overloaded"),
    Fault.CONTEXT_TOO_LONG: Judgement(Verdict.CONTEXT_TOO_LONG, _C, "the request is longer than the model can read"),
    Fault.BAD_REQUEST: Judgement(Verdict.BAD_REQUEST, _C, "the provider refused the request as it was written"),
    Fault.FILTERED: Judgement(Verdict.FILTERED, _C, "the provider's filter refused the prompt"),
    Fault.BROKEN_CALL: Judgement(Verdict.MALFORMED, _F, "the model called a tool in a form that can't be read"),
}

# Sources: the error pages of OpenAI, Anthropic, OpenRouter and DeepSeek, as of 2026-11.
STATUS_FAULTS: dict[int, Fault] = {
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


def cause_of(fault: Fault | None) -> Verdict | None:
    """The verdict that a fault inside a 200 would have had by itself; None where it says nothing."""
    if fault is Fault.EMPTY:
        return Verdict.EMPTY
    return BY_FAULT[fault].verdict if fault in BY_FAULT and fault is not Fault.BROKEN_CALL else None
