"""Writes text without meaning that looks like an agent's session: source, logs and notes."""

import random
from collections.abc import Callable, Iterator, Sequence


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NOUNS = _words(
    "account archive badge basket batch branch bridge bucket buffer bundle cable cargo channel chapter circle clock "
    "cluster column compass counter courier cursor depot digest drawer engine envelope estimate export fabric feeder "
    "filter fleet folder forest fragment funnel garden gateway grid harbor header import index invoice journal kernel "
    "ladder lantern ledger lens letter lever locker mailbox margin marker meadow merger mirror module needle notice "
    "orchard order outlet packet panel parcel patch pillar planner pocket portal quarry queue quota ratio receipt "
    "record relay ribbon river roster router sample schema sector segment sensor shelf signal socket spool stamp "
    "station stream studio switch table tariff ticket timber token tower tracker trail tunnel valley vector vessel "
    "voucher wagon wallet window winder yard"
)
_VERBS = _words(
    "add align apply attach balance bind blend build carry check claim clean close collect combine compare copy count "
    "cover defer derive detach draw drop expand fetch fill find fold gather group guard hold insert join keep lift "
    "link load lock mark match measure merge move note offer open order pack park pass pick place prune pull push "
    "rank reach read release remove rename renew replace resolve rotate round scan seal select send settle share "
    "shift skip sort split stack store strip sweep swap tally track trim turn unpack update verify walk wrap write "
    "yield"
)
_ADJECTIVES = _words(
    "actual ample blank broad brief bright calm central cheap clear closed coarse common current daily dense distant "
    "early eager empty exact final firm fresh full gentle heavy hidden hollow idle inner joint known large late level "
    "light linear local loose lower main mild minor narrow neat nested next odd older open outer partial past plain "
    "prior quick quiet rapid rare ready recent remote rough round sharp short silent simple single slow small smooth "
    "solid sparse stable steady stiff strict sudden thin tidy tight total upper usual vague valid vast warm weak "
    "whole wide young"
)
_LEVELS = ("DEBUG", "INFO", "INFO", "INFO", "WARN", "ERROR")
_TYPES = ("int", "str", "float", "bool", "bytes", "list[str]", "dict[str, int]")


def lines(chance: random.Random, size: int) -> Iterator[str]:
    """ASCII lines, each with its newline, that together have exactly `size` bytes; none for a size of 0 or less."""
    left = size
    while left > 0:
        for line in chance.choice(_BLOCKS)(chance):
            if len(line) >= left:
                yield line[: left - 1] + "\n"
                return
            yield line
            left -= len(line)


def _picking(chance: random.Random) -> tuple[Callable[[Sequence[str]], str], Callable[..., int]]:
    """What `choice` and `randrange` do, at a third of their time; that the last digits are uneven harms nobody."""
    draw = chance.random

    def pick(words: Sequence[str]) -> str:
        return words[int(draw() * len(words))]

    def number(first: int, end: int | None = None) -> int:
        return int(draw() * first) if end is None else first + int(draw() * (end - first))

    return pick, number


def _source(chance: random.Random) -> Iterator[str]:
    pick, number = _picking(chance)
    noun, verb = pick(_NOUNS), pick(_VERBS)
    yield f"def {verb}_{noun}({pick(_NOUNS)}: {pick(_TYPES)}, {pick(_ADJECTIVES)}: int = {number(9000)}) -> str:\n"
    yield f'    """{verb.capitalize()} the {pick(_ADJECTIVES)} {noun} once its {pick(_NOUNS)} is known."""\n'
    for _ in range(number(3, 9)):
        a, b = pick(_NOUNS), pick(_NOUNS)
        option = f"{pick(_ADJECTIVES)}=0x{number(1 << 24):x}"
        yield f"    {a}_{pick(_ADJECTIVES)} = {pick(_VERBS)}_{b}({a}[{number(400)}:], {option})\n"
        if number(3) == 0:
            yield f"    if {b}.{pick(_ADJECTIVES)} > {number(100_000)}:\n"
            yield f"        raise {b.capitalize()}Error({pick(_NOUNS)!r}, {number(1000)})\n"
    yield f"    return {noun}_{pick(_ADJECTIVES)}\n\n"


def _log(chance: random.Random) -> Iterator[str]:
    pick, number = _picking(chance)
    second = number(80_000)
    for _ in range(number(6, 18)):
        second += number(1, 9)
        clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{number(1000):03}"
        yield (
            f"{clock} {pick(_LEVELS)} {pick(_NOUNS)}.{pick(_NOUNS)} {pick(_VERBS)} {pick(_ADJECTIVES)} {pick(_NOUNS)} "
            f"id={number(1 << 32):08x} took={number(4000)}ms rows={number(900)}\n"
        )
    yield "\n"


def _notes(chance: random.Random) -> Iterator[str]:
    pick, number = _picking(chance)
    yield f"## The {pick(_ADJECTIVES)} {pick(_NOUNS)} and its {pick(_NOUNS)}\n"
    for _ in range(number(4, 10)):
        yield (
            f"When a {pick(_ADJECTIVES)} {pick(_NOUNS)} has to {pick(_VERBS)} its {pick(_NOUNS)}, the {pick(_NOUNS)} "
            f"will {pick(_VERBS)} {number(2, 90)} of them and {pick(_VERBS)} the {pick(_ADJECTIVES)} rest.\n"
        )
    yield "\n"


def _data(chance: random.Random) -> Iterator[str]:
    pick, number = _picking(chance)
    for _ in range(number(4, 12)):
        yield (
            f'{{"{pick(_NOUNS)}": "{pick(_ADJECTIVES)}-{pick(_NOUNS)}", "{pick(_NOUNS)}_id": {number(1 << 30)}, '
            f'"{pick(_ADJECTIVES)}": {number(1000) / 8}}}\n'
        )
    yield "\n"


_BLOCKS: tuple[Callable[[random.Random], Iterator[str]], ...] = (_source, _log, _notes, _data)
