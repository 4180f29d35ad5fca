"""Says what the end of an answer's text sounds like; the patterns are data, in `claims.json`."""

from __future__ import annotations

import json
import re
from pkgutil import get_data

from breaker.run.words import Says

# So much of a text's end is looked at.
MOST_CHARS = 600
_WORDS = (Says.ACTED, Says.DONE, Says.NEXT)
_PATTERNS: dict[str, list[str]] = json.loads(get_data("breaker.run", "claims.json") or b"")
_ACTED, _DONE, _NEXT = (re.compile("|".join(f"(?:{one})" for one in _PATTERNS[says])) for says in _WORDS)
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
# What stands around a sentence and says nothing.
_AROUND = " \t*_#`>-~\"'“”()[]<>/✅🎉✔☑🚀\ufe0f"
_ENDS = ".!\u3002\uff01:\uff1a"
_TASK_MARK = re.compile(r"(?i)[<\[(]?/?(task[_ ]?complete[d]?|done|任务完成)[>\])]?")


def says(text: str) -> Says | None:
    """What the end of a text sounds like; None where it sounds like neither.

    A claim is a sentence of its own among the last two, or the first of a text; what comes next is announced by the
    last one alone.
    """
    tail = text[-MOST_CHARS:].strip()
    sentences = [found for one in _SENTENCE.split(tail) if (found := _bare(one))]
    if not sentences:
        return None
    if _NEXT.fullmatch(sentences[-1]):
        return Says.NEXT
    first = sentences[:1] if len(text) <= MOST_CHARS else []
    looked_at = [*first, *sentences[-2:]]
    if any(map(_ACTED.fullmatch, looked_at)):
        return Says.ACTED
    return Says.DONE if any(map(_is_claim, looked_at)) else None


def _is_claim(sentence: str) -> bool:
    return bool(_DONE.fullmatch(sentence.rstrip(_ENDS).strip(_AROUND)) or _TASK_MARK.fullmatch(sentence))


def _bare(sentence: str) -> str:
    return sentence.strip(_AROUND).replace("\u2019", "'").lower()
