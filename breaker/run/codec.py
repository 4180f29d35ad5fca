"""Facts of a run as lines of text: the same fact is always the same line.

A line is a list in JSON: a letter for the kind, then the values in their order; new ones are only ever added at its
end. What another version wrote and this one can't read is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from breaker.answer import Ended, Finish
from breaker.run.facts import Check, Fact, Stage, Step
from breaker.run.words import Effect, Outcome, Says, State
from breaker.verdict import Blame, Confidence, Verdict

_LETTERS: dict[type[Fact], str] = {Step: "s", Stage: "o", Check: "c"}
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)


def write(fact: Fact) -> str:
    """A fact as one line of ASCII."""
    return _ENCODER.encode([_LETTERS[type(fact)], *fact])


def read(lines: Sequence[str]) -> list[Fact]:
    """The facts in lines, each of which is one; those that can't be read are left out."""
    try:
        # All at once, which takes half of the time.
        values = json.loads(f"[{','.join(lines)}]")
    except ValueError:
        values = [found for line in lines if (found := _parsed(line)) is not None]
    return [fact for said in values if (fact := _fact(said)) is not None]


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _fact(said: Any) -> Fact | None:  # Any: whatever a line holds
    try:
        return _READ[said.pop(0)](said)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None


def _words(kind: type[StrEnum]) -> dict[str | None, Any]:  # Any: a word of this kind
    return {word.value: word for word in kind}


def _words_or_none(kind: type[StrEnum]) -> dict[str | None, Any]:  # Any: as above
    return {None: None, **_words(kind)}


_ENDED, _VERDICT, _BLAME, _CONFIDENCE = map(_words, (Ended, Verdict, Blame, Confidence))
_CAUSE, _FINISH, _SAYS = map(_words_or_none, (Verdict, Finish, Says))
_STATE, _EFFECT, _OUTCOME = map(_words, (State, Effect, Outcome))


# A run is read whole each time that somebody asks whether it is done, so these take no more steps than they must.


def _step(said: list[Any]) -> Step:
    (id_, seq, target, ended, verdict, blame, why, confidence, cause, status, finish, *more) = said
    (end_mark, tools, tool_calls, calls, says, prompt_tokens, completion_tokens, *_) = more
    return Step(
        id_,
        seq + 0,
        target,
        _ENDED[ended],
        _VERDICT[verdict],
        _BLAME[blame],
        why,
        _CONFIDENCE[confidence],
        _CAUSE[cause],
        status,
        _FINISH[finish],
        end_mark,
        tools,
        tool_calls,
        calls,
        _SAYS[says],
        prompt_tokens,
        completion_tokens,
    )


def _stage(said: list[Any]) -> Stage:
    (id_, seq, tool, state, effect, attempt, needs, replaces, *rest) = said
    (required, key, reference, error, retryable, arguments, result, seconds, at_s, *_) = rest
    return Stage(
        id_,
        seq + 0,
        tool,
        _STATE[state],
        _EFFECT[effect],
        attempt + 0,
        tuple(needs),
        tuple(replaces),
        required,
        key,
        reference,
        error,
        retryable,
        arguments,
        result,
        seconds,
        at_s,
    )


def _check(said: list[Any]) -> Check:
    id_, seq, name, outcome, *_ = said
    return Check(id_, seq + 0, name, _OUTCOME[outcome])


_READ: dict[str, Callable[[list[Any]], Fact]] = {"s": _step, "o": _stage, "c": _check}
