"""Why a circuit moved, in plain words."""

from collections.abc import Sequence

from breaker.answer import Source
from breaker.circuit.words import Cause
from breaker.log import Entry, Weight, failure, weigh
from breaker.policy import Policy
from breaker.verdict import Blame, Verdict

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WHO = {Source.PROBE: "probe", Source.REPORT: "agent"}
_REFUSALS = {
    Cause.QUOTA: "the account is out of credit or quota",
    Cause.AUTH: "the key was refused",
    Cause.NOT_FOUND: "the provider doesn't know this model or path",
}
# Of more answers than this only the newest are named.
NAMED = 8


def row(run: Sequence[Entry], policy: Policy) -> str:
    """What a row of bad answers was."""
    kinds = {weigh(entry, policy) for entry in run}
    if kinds == {Weight.SLOW}:
        what = f"{_in_a_row(run, 'a first byte', 'first bytes')} came later than {policy.slow_s:g} s"
    else:
        what = f"{_in_a_row(run, 'an answer', 'answers')} {'were slow or ' if Weight.SLOW in kinds else ''}failed"
    return f"{what}: {each(run)}"


def each(run: Sequence[Entry]) -> str:
    """What each answer was, and who saw it."""
    named = [f"{_one(entry)} ({_WHO[entry.answer.source]})" for entry in run[-NAMED:]]
    left = len(run) - len(named)
    return ", ".join([f"{left} more", *named] if left else named)


def refused(cause: Cause, entry: Entry) -> str:
    """Why a target that refuses us is left at once."""
    status = "" if entry.answer.status is None else f"{entry.answer.status}, "
    return f"{_REFUSALS[cause]} ({status}{_WHO[entry.answer.source]})"


def spelled(count: int) -> str:
    """A small number as a word."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def seconds(value: float) -> str:
    """A length of time as people say it: 43.1 s, 600 s."""
    return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def _in_a_row(run: Sequence[Entry], one: str, more: str) -> str:
    return one if len(run) == 1 else f"{spelled(len(run))} {more} in a row"


def _one(entry: Entry) -> str:
    answer, said = entry.answer, failure(entry)
    if entry.blame is Blame.PROVIDER_FAILURE and said is not Verdict.TIMEOUT_FIRST_BYTE:
        words = said.value.replace("_", " ")
        return words if answer.status in (None, 200) else f"{words} {answer.status}"
    if answer.first_byte_s is None:
        return f"{seconds(answer.seconds)} and still silent"
    return seconds(answer.first_byte_s)
