"""Finds a gateway's own words where a model's should stand."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from breaker.answer import Fault
from breaker.wire.faults import fault_in_text
from breaker.wire.signs import CUES, LOG_LEVELS, PARTIES, SPEAKERS, TROUBLES, Phrase

# A guess by its wording is made only about texts that are no longer, unless diagnostics follow.
MOST_GUESSED = 400
# The first words of a text, in which a guess must be right.
_OPENING = 240
# Prose has three signs and digits in a hundred characters, code and logs more than ten.
_DIAGNOSTIC = 0.12
_SIGN = re.compile(r'[0-9{}\[\]<>"/\\|=_@#$%^&*+~`]')
_SIGNED = "like-signed"
# A text that opens with a quotation mark quotes.
_ORNAMENT = re.compile(r"^[^\w\[\"'`>«»„「『]+")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


class Found(NamedTuple):
    """A gateway's words in a text: their id, how many characters stood before them, and what they say is wrong."""

    id: str
    before: int
    says: Fault | None


def phrase_ids(phrases: Iterable[Phrase]) -> frozenset[str]:
    """All ids that an answer's phrase can have where these are looked for, guesses included."""
    return frozenset({*(phrase.id for phrase in phrases), _SIGNED, *map(_like, CUES)})


def find_phrase(head: str, chars: int, last: str, phrases: Sequence[Phrase]) -> Found | None:
    """The gateway's words that a text is, or that its last paragraph is; None if it is none.

    `head` are the first characters of the text, `chars` is its whole length, `last` the last of several paragraphs. A
    known phrase may go on for its tail, or with diagnostics of any length. What only sounds like one has an id that
    begins with `like-`.
    """
    whole, end = _plain(head), _plain(last)
    for phrase in phrases:
        text, longest = _plain_text(phrase), len(phrase.text) + phrase.tail
        if whole.startswith(text) and (chars <= longest or _is_diagnostic(whole[len(text) :])):
            return Found(phrase.id, 0, _says(whole))
        if end.startswith(text) and len(last) <= longest:
            return Found(phrase.id, chars - len(last), _says(end))
    return _guess(whole, chars)


def _guess(whole: str, chars: int) -> Found | None:
    """What a text sounds like from its first words on; a model that speaks of itself is no gateway."""
    opening = whole[:_OPENING]
    if SPEAKERS.search(opening):
        return None
    found = (
        _SIGNED
        if _is_signed(opening)
        else next((_like(name) for name, cue in CUES.items() if cue.search(opening)), None)
    )
    rest = whole[len(opening.partition("\n")[0]) :]
    if found is None or (chars > MOST_GUESSED and not _is_diagnostic(rest)):
        return None
    return Found(found, 0, _says(whole))


def _like(cue: str) -> str:
    return f"like-{cue}"


def _is_signed(opening: str) -> bool:
    """Whether a name in brackets speaks of a party between caller and model, and of trouble with it."""
    name, closed, _ = opening.removeprefix("[").partition("]")
    if not (opening.startswith("[") and closed and 2 <= len(name) <= 40) or LOG_LEVELS.fullmatch(name):
        return False
    return bool(PARTIES.search(opening) and TROUBLES.search(opening))


def _is_diagnostic(text: str) -> bool:
    """Whether a text is data, a log or a trace rather than prose."""
    solid = "".join(text.split())
    return bool(solid) and len(_SIGN.findall(solid)) >= _DIAGNOSTIC * len(solid)


def _says(text: str) -> Fault | None:
    fault = fault_in_text(text)
    return None if fault is Fault.OTHER else fault


@cache
def _plain_text(phrase: Phrase) -> str:
    return _plain(phrase.text)


def _plain(text: str) -> str:
    """Small letters and plain quotes, without bold type and the ornament before them."""
    return _ORNAMENT.sub("", text.translate(_QUOTES).lower().replace("**", ""))
