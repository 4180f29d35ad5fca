"""Ordinary answers: what a model said, of a kind, from a seed."""

import random
from collections.abc import Callable

from tests.cases.said import Call, Said
from tests.ordinary.texts import TEXTS, long, sentence


def pieces(text: str, chance: random.Random) -> tuple[str, ...]:
    """The text as a stream brings it: in pieces of a few characters, of a line, or all in one."""
    size = chance.choice((7, 23, 60, 180, len(text) or 1))
    return tuple(text[at : at + size] for at in range(0, len(text), size))


def _said(text: str, chance: random.Random, **more: object) -> Said:
    read = chance.choice((1_300, 2_900, 9_300))
    return Said(text=pieces(text, chance), read=read, written=max(len(text) // 4, 1), **more)  # type: ignore[arg-type] # the fields' own names


def _call(chance: random.Random) -> Call:
    arguments: dict[str, object] = {
        "path": f"src/{chance.choice(('büro', '倉庫', 'a b', 'x'))}/{chance.randrange(999)}.md",
        "text": sentence(chance) * chance.randrange(0, 40),
        "lines": [chance.randrange(99) for _ in range(chance.randrange(3))],
    }
    return Call(
        chance.choice(("read_file", "write_file", "run")), chance.choice((arguments, {}, {"q": "429 overloaded"}))
    )


def _thoughts(chance: random.Random) -> tuple[str, ...]:
    return pieces(" ".join(sentence(chance) for _ in range(chance.randrange(1, 40))), chance)


def tool_only(chance: random.Random) -> Said:
    """Nothing but calls."""
    return _said("", chance, calls=tuple(_call(chance) for _ in range(chance.randrange(1, 4))))


def text_then_tool(chance: random.Random) -> Said:
    """A sentence, then a call."""
    return _said(sentence(chance), chance, calls=(_call(chance),))


def thinking_then_tool(chance: random.Random) -> Said:
    """Thoughts, then a call."""
    return _said("", chance, thoughts=_thoughts(chance), calls=(_call(chance),))


def thinking_then_text(chance: random.Random) -> Said:
    """Thoughts, then text."""
    return _said(sentence(chance), chance, thoughts=_thoughts(chance))


def cached(chance: random.Random) -> Said:
    """An answer whose prompt was nearly all in the cache."""
    text = long(chance)
    return Said(text=pieces(text, chance), read=9_300, cached=9_000, written=len(text) // 4)


def _of_text(make: Callable[[random.Random], str]) -> Callable[[random.Random], Said]:
    return lambda chance: _said(make(chance), chance)


KINDS: dict[str, Callable[[random.Random], Said]] = {
    **{name: _of_text(make) for name, make in TEXTS.items()},
    **{make.__name__: make for make in (tool_only, text_then_tool, thinking_then_tool, thinking_then_text, cached)},
}
