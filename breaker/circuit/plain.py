"""What opens a circuit, in plain words, and what somebody has to do where waiting doesn't help."""

from dataclasses import dataclass

from breaker.circuit.words import Cause


@dataclass(frozen=True, slots=True)
class Words:
    """How people say it of a target: what it was, what it is now, and both in a word or two."""

    was: str
    now: str
    short: str


WORDS: dict[Cause, Words] = {
    Cause.SLOW: Words("was slow", "is slow", "slow"),
    Cause.ERRORS: Words("failed", "fails", "failing"),
    Cause.ERROR_RATE: Words("failed too often", "fails too often", "failing too often"),
    Cause.SLUMP: Words("was far slower than usual", "is far slower than usual", "far slower than usual"),
    Cause.RATE_LIMITED: Words("was asked too much", "says that too much was asked of it", "rate limited"),
    Cause.QUOTA: Words("was out of credit or quota", "is out of credit or quota", "no credit or quota"),
    Cause.AUTH: Words("refused the key", "refuses the key", "key refused"),
    Cause.NOT_FOUND: Words("didn't know the model", "doesn't know the model", "model not known"),
}


def words(cause: Cause | None) -> Words:
    """The words for what opened a circuit; a cause that opens none is taken for errors."""
    return WORDS.get(cause, WORDS[Cause.ERRORS]) if cause else WORDS[Cause.ERRORS]


def remedy(cause: Cause | None, *, provider: str, model: str, api_key_env: str | None) -> str | None:
    """What somebody has to do, as the rest of a sentence; None where the target may come back by itself."""
    match cause:
        case Cause.QUOTA:
            return f"top up the account of {provider}, or raise its limit"
        case Cause.AUTH if api_key_env is None:
            return f"name the variable with the key of {provider} in the configuration (api_key_env)"
        case Cause.AUTH:
            return f"look at the key in {api_key_env} (api_key_env of {provider})"
        case Cause.NOT_FOUND:
            return f"look at the name of the model ({model}) and at base_url of {provider}"
        case _:
            return None
