"""Builds the question of a probe: as large as an agent's own, with marks that an answer must bring back."""

import random
from collections.abc import Generator, Iterator
from functools import cache
from typing import NamedTuple, cast

from breaker.wire.question import Question, Tool, prompt_bytes
from monitor.probe import filler
from monitor.probe.tools import TOOLS
from monitor.settings import ProbeShape

# What one token is taken to be, in bytes; source and logs have 3 to 5 with the tokenizers in use.
BYTES_PER_TOKEN = 4
# Below this size the tool schemas would be most of the prompt, so they are left out.
TOOLS_FROM_BYTES = 16_000
_LINES_A_STEP = 25
_SERIAL_DIGITS = 12

_SYSTEM = """You are a careful software engineer who works in a repository through tools. You read before you change
anything, keep changes small, and say plainly what you found. When a message asks for a plain reply you give exactly
that reply, without calling a tool and without adding a word.
"""
_OPENING = """Below is the material of the session so far: source, logs and notes in no particular order. Among it stand
three lines that begin with the word "checkmark" and hold a code: one near the beginning, one about halfway, one close
to the end. Keep the codes in mind while you read; nothing else in the material has to be acted on.
"""
_ASK = """
That was the material. Reply with the three codes from the lines that begin with "checkmark", in the order in which they
stand, with one space between them. No other words, no explanation, no tool call.
"""


class Probe(NamedTuple):
    """A question, and the marks in the order in which it holds them."""

    question: Question
    marks: tuple[str, str, str]


def build(shape: ProbeShape, chance: random.Random, *, tools: bool = True) -> Probe:
    """A new probe; its text is `prompt_tokens` long at four bytes a token, to within a line.

    All of it differs from any other probe's, from the first line on, so that no cache of prefixes holds it. With
    `stable_prefix` all but the last mark and what follows is the same each time: an answer still can't bring back the
    first two marks without that text having been read, nor the last without this very prompt. A shape smaller than
    the bare question gives the bare question. Without `tools`, for a model that can't call any, none are offered.
    """
    steps = building(shape, chance, tools=tools)
    while True:
        try:
            next(steps)
        except StopIteration as built:
            return cast("Probe", built.value)


def building(shape: ProbeShape, chance: random.Random, *, tools: bool = True) -> Generator[None, None, Probe]:
    """The same in steps of some 0.1 ms, for one who has other things to do as well; it returns the probe."""
    fresh = random.Random(chance.getrandbits(64))  # noqa: S311 # nothing is kept secret by it, and it must be quick
    stable = random.Random("firstbyte") if shape.stable_prefix else fresh  # noqa: S311 # the same each time on purpose
    marks = (_mark(stable), _mark(stable), _mark(fresh))
    room = shape.prompt_tokens * BYTES_PER_TOKEN
    serial = f"{stable.getrandbits(4 * _SERIAL_DIGITS):0{_SERIAL_DIGITS}x}"
    system = f"Session {serial}.\n{_SYSTEM}"
    offered = _tools(serial) if tools and room >= TOOLS_FROM_BYTES else ()
    room -= _bare_bytes(system, with_tools=bool(offered))
    lines: list[str] = []
    for line in _pieces(stable, marks, room):
        lines.append(line)
        if len(lines) % _LINES_A_STEP == 0:
            yield
    return Probe(Question(system=system, prompt="".join(lines), tools=offered, max_tokens=shape.max_tokens), marks)


def size(question: Question) -> int:
    """The `prompt_bytes` of a probe's question, found in half the time."""
    return _bare_bytes(question.system, with_tools=bool(question.tools)) + prompt_bytes(question.prompt)


def _bare_bytes(system: str, *, with_tools: bool) -> int:
    """The size of a question without a prompt."""
    return prompt_bytes(system) + (_tools_bytes() if with_tools else 0)


@cache
def _tools_bytes() -> int:
    """The tools' size, which is the same with any serial; to find it takes half as long as for a whole prompt."""
    return Question(system="", prompt="", tools=_tools("0" * _SERIAL_DIGITS), max_tokens=0).prompt_bytes


def _mark(chance: random.Random) -> str:
    return f"FB-{chance.getrandbits(32):08X}"


def _tools(serial: str) -> tuple[Tool, ...]:
    """The tools, the first with the session's serial, since some providers put them before all other text."""
    first, *others = TOOLS
    named = Tool(name=first.name, description=f"{first.description} Session {serial}.", schema=first.schema)
    return (named, *others)


def _pieces(chance: random.Random, marks: tuple[str, str, str], size: int) -> Iterator[str]:
    """Opening, mark, half of the filler, mark, the other half, mark, ask."""
    said = [f"checkmark {mark}\n" for mark in marks]
    room = size - prompt_bytes(_OPENING, _ASK, *said)
    yield from (_OPENING, said[0])
    yield from filler.lines(chance, room // 2)
    yield said[1]
    yield from filler.lines(chance, room - room // 2)
    yield from (said[2], _ASK)
