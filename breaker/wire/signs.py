"""What providers and gateways are known to say, from `signs.json`, where each sign stands with its source."""

import json
import re
from dataclasses import dataclass
from pkgutil import get_data
from typing import Any

from breaker.answer import Fault, Finish

_SIGNS: list[dict[str, Any]] = json.loads(get_data("breaker.wire", "signs.json") or b"")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A gateway's own words as they stand in place of a model's: `tail` more characters may follow `text`."""

    id: str
    text: str
    tail: int


def _table(part: str) -> dict[str, str]:
    return {sign: meaning for entry in _SIGNS for sign, meaning in entry.get(part, {}).items()}


def _pattern(part: str) -> re.Pattern[str]:
    return re.compile("|".join(word for entry in _SIGNS for word in entry.get(part, ())))


_FINISHES = {value: Finish(finish) for value, finish in _table("finishes").items()}

# An error's code or type that says what is wrong, in small letters.
CODES = {code: Fault(fault) for code, fault in _table("codes").items()}
# An error's type that says only roughly what is wrong: its message may say it better.
KINDS = {kind: Fault(fault) for kind, fault in _table("kinds").items()}
# What an error's message contains, in small letters, the longest and so most telling first.
SAYINGS = sorted(((text, Fault(fault)) for text, fault in _table("sayings").items()), key=lambda pair: -len(pair[0]))
# What a finish says besides that the turn failed.
FINISH_FAULTS = {value: Fault(fault) for value, fault in _table("finish_faults").items()}

PHRASES = tuple(Phrase(**phrase) for entry in _SIGNS for phrase in entry.get("phrases", ()))
# How texts begin that only a gateway has reason to write, in small letters.
CUES = {name: re.compile(cue, re.DOTALL) for name, cue in _table("cues").items()}
# Who stands between caller and model; what goes wrong there; and names in brackets that logs begin with.
PARTIES, TROUBLES, LOG_LEVELS = _pattern("parties"), _pattern("troubles"), _pattern("log_levels")
# What only a model says in such a text: that it did something itself, or code.
SPEAKERS = _pattern("speakers")


def finish_of(value: str) -> Finish:
    """Why the model stopped, from any wire's own word for it."""
    return _FINISHES.get(value.lower(), Finish.OTHER)
