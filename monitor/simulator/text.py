"""The words that a simulated model says."""

import random
import re
from collections.abc import Iterator

_MARK = re.compile(r"FB-[0-9A-F]{8}")
_PIECE = 4
_WORDS = """
lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua
enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat
""".split()  # noqa: SIM905  # a line of prose reads better than a list

FILLER = "Lorem ipsum dolor sit amet."
AFTER_MARKS = "\nAll marks are returned."
GATEWAY = "[gateway] The upstream gave no answer. Please try again in a moment."
REPEATED = "I will now look at the file again. "


def marks(prompt: str) -> list[str]:
    """Return the distinct marks of a prompt in the order of their first appearance."""
    return list(dict.fromkeys(_MARK.findall(prompt)))


def pieces(text: str) -> list[str]:
    """Return a text in tokens of four characters, so that a mark is spread over several."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def reply_to(prompt: str, max_tokens: int | None, at_least: int, chance: random.Random) -> tuple[list[str], bool]:
    """Return the tokens of a good answer, and whether `max_tokens` cut it.

    The sentence after the marks is left out where it alone would go beyond the limit.
    """
    found = " ".join(marks(prompt))
    said = pieces(found + AFTER_MARKS) if found else pieces(FILLER)
    if found and max_tokens is not None and len(said) > max_tokens:
        said = pieces(found)
    words = wander(chance)
    said += [next(words) for _ in range(at_least - len(said))]
    limit = len(said) if max_tokens is None else max_tokens
    return said[:limit], len(said) > limit


def wander(chance: random.Random) -> Iterator[str]:
    """Yield words for ever, in no order that repeats."""
    while True:
        yield f" {chance.choice(_WORDS)}"


def repeat() -> Iterator[str]:
    """Yield the tokens of one sentence for ever."""
    while True:
        yield from pieces(REPEATED)
