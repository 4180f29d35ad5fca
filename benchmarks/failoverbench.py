"""Plays situations in which a provider fails an agent to the plain SDKs, and to the same SDKs with the transport.

Run it as `python -m benchmarks.failoverbench`, with `--write` to write `docs/failover.md`; it takes a minute. The
situations, with what a good client makes of each, stand in `tests/agent/failoverbench.py` and `serviced.py`.
"""

import argparse
import asyncio
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks._machine import machine
from tests.agent.faces import FACES, Face
from tests.agent.failoverbench import SITUATIONS, SPEED, Outcome, Situation
from tests.agent.playing import plain, play
from tests.agent.serviced import SERVICED, Serviced

PAGE = Path(__file__).parents[1] / "docs" / "failover.md"
# Here begins the part that `benchmarks/series.py` writes.
SERIES = "## An agent of many steps"
# A plain SDK waits for ten minutes; after so many real seconds nobody waits for it any longer.
LIMIT_S = 8.0
# Who has its answer later than this, in the situation's own seconds, has waited for it.
LATE_S = 45.0
AT_ONCE = 4


@dataclass(frozen=True, kw_only=True)
class Way:
    """What came of a situation in one way, in a word, and whether it is its best outcome."""

    word: str
    best: bool

    @property
    def false(self) -> bool:
        """Whether something that is no answer was taken for one."""
        return "**" in self.word


@dataclass(frozen=True, kw_only=True)
class Line:
    """A situation with what came of it in each way, without the transport and with it."""

    situation: Situation | Serviced
    alone: Sequence[Way]
    helped: Sequence[Way]

    @property
    def kept(self) -> bool:
        """Whether the transport brought the best outcome in all ways."""
        return all(way.best for way in self.helped)

    def told(self) -> str:
        """The line of the table."""
        one = self.situation
        return f"| {one.id} | {one.what} | {one.wants} | {_said(self.alone)} | {_said(self.helped)} |"


def main() -> int:
    """Play all, say what came of it, and write the page if asked to; 1 where a best outcome was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.failoverbench", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/failover.md")
    chosen = parser.parse_args()
    print(machine(), flush=True)
    lines = asyncio.run(_lines())
    print(_summary(lines))
    if chosen.write:
        write(_page(lines))
        print(f"written: {PAGE.name}")
    return int(not all(line.kept for line in lines))


def write(page: str = "", series: str = "") -> None:
    """Write this part of the page, and leave the other as it is."""
    kept, found, other = PAGE.read_text(encoding="utf-8").partition(SERIES)
    PAGE.write_text((page or kept.rstrip() + "\n") + "\n" + (series or found + other), encoding="utf-8")


async def _lines() -> list[Line]:
    """All situations, some at a time; most of each is waiting."""
    lines, turns = [], asyncio.Semaphore(AT_ONCE)

    async def in_turn(situation: Situation | Serviced) -> Line:
        async with turns:
            return await (_line(situation) if isinstance(situation, Situation) else _serviced(situation))

    for begun in [asyncio.create_task(in_turn(situation)) for situation in _ordered()]:
        lines.append(await begun)
        print(lines[-1].told(), flush=True)
    return lines


def _ordered() -> list[Situation | Serviced]:
    """Those of the methodology first, each by its number."""
    return sorted([*SITUATIONS, *SERVICED], key=lambda one: (one.id[0] != "S", int(one.id[1:])))


async def _line(situation: Situation) -> Line:
    def way(outcome: Outcome) -> Way:
        return Way(word=_word(situation, outcome), best=situation.best(outcome))

    alone = await asyncio.gather(*(plain(situation, face, LIMIT_S) for face in _awaited()))
    helped = await asyncio.gather(*(play(situation, face) for face in FACES))
    return Line(situation=situation, alone=[*map(way, alone)], helped=[way(outcome) for outcome, _ in helped])


async def _serviced(situation: Serviced) -> Line:
    """One after the other: each has a service of its own."""
    alone = [await situation.alone(face) for face in _awaited()]
    helped = []
    for face in FACES:
        with tempfile.TemporaryDirectory(prefix="firstbyte-failover-") as folder:
            helped.append(await situation.helped(face, Path(folder)))
    ways = ([Way(word=course.word, best=course.best) for course in courses] for courses in (alone, helped))
    return Line(situation=situation, alone=next(ways), helped=next(ways))


def _awaited() -> list[Face]:
    """The plain SDKs do the same whether they block or are awaited, and only what is awaited can be left alone."""
    return [face for face in FACES if face.awaits]


def _said(ways: Sequence[Way]) -> str:
    words = [way.word for way in ways]
    return "; ".join(f"{word} ({words.count(word)})" for word in dict.fromkeys(words))


def _word(situation: Situation, outcome: Outcome) -> str:
    """What an agent has in hand."""
    if isinstance(outcome.came.error, TimeoutError):
        return f"still waiting after {LIMIT_S * SPEED:.0f} s"
    if outcome.came.error is not None:
        return "a clear error" if outcome.clear else f"`{type(outcome.came.error).__name__}`"
    first = outcome.count(next(iter(situation.targets)))
    answered_by_first = outcome.came.done.get("target", "a/m") == "a/m"
    if situation.lies and answered_by_first:
        return "**an error taken for an answer**"
    if not outcome.whole or not (outcome.good or situation.id == "A9"):
        return "**half an answer taken for one**"
    late = f", {outcome.s * SPEED // 30 * 30:.0f} s late" if outcome.s * SPEED > LATE_S else ""
    return f"the answer{late}" if answered_by_first and first == 1 else "the answer, after a failure unseen"


def _summary(lines: Sequence[Line]) -> str:
    false = sum(way.false for line in lines for way in line.alone)
    bad = sum(way.false for line in lines for way in line.helped)
    best = sum(line.kept for line in lines)
    alone = sum(way.best for line in lines for way in line.alone)
    ways = len(lines) * len(_awaited())
    return (
        f"With the transport {best} of {len(lines)} situations come out as their best outcome says, in all eight ways "
        f"(two SDKs, blocking and awaited, streamed and plain), and {bad} times something that is none is taken for an "
        f"answer. The plain SDKs, with the retries of their own, come to that outcome in {alone} of {ways} runs, and "
        f"{false} times an agent goes on with what is no answer."
    )


def _page(lines: Sequence[Line]) -> str:
    names = " and ".join(f"`{name}` {version(name)}" for name in ("openai", "anthropic"))
    opening = (
        f"Situations in which a provider fails an agent, played by the simulator to the real SDKs ({names}): once as "
        "they are, with the first target's address and their own two retries, and once with the "
        "[transport](transport.md) in them. They are our own, after the sixteen of FailoverBench's methodology (S01 to "
        "S16) and further ones from bug reports (A1 to A13). An SDK alone has no backup to go to: look at what it "
        "takes for an answer, and for how long it waits. All times are divided by twenty, and told here as they "
        "would be. `python -m benchmarks.failoverbench --write` writes this page."
    )
    rest = (
        "S15, A10 and A11 are of more than one step, and the first two of them have a service: it probes the provider "
        "that flaps, or ends after five of ten steps."
    )
    return _TEMPLATE.format(
        opening=_filled(opening),
        summary=_filled(_summary(lines)),
        rest=_filled(rest),
        lines="\n".join(line.told() for line in lines),
    )


def _filled(text: str) -> str:
    return textwrap.fill(text, 140, break_on_hyphens=False)


_TEMPLATE = """\
# When a provider fails: the SDKs alone, and with the transport

{opening}

{summary}

In brackets: in how many of the ways tried. A clear error is one that an agent can act upon; bold is what must not be.

| | the provider | what is wanted | the SDK alone | with the transport |
| --- | --- | --- | --- | --- |
{lines}

{rest}
"""


if __name__ == "__main__":
    sys.exit(main())
