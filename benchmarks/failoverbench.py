"""Plays situations in which a provider fails an agent to the plain SDKs, and to the same SDKs with the transport.

Run it as `python -m benchmarks.failoverbench`, with `--write` to write `docs/failover.md`; it takes a minute. The
situations, with what a good client makes of each, stand in `tests/agent/failoverbench.py`.
"""

import argparse
import asyncio
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks._machine import machine
from tests.agent.faces import FACES, Face
from tests.agent.failoverbench import SITUATIONS, SPEED, Outcome, Situation
from tests.agent.playing import plain, play

PAGE = Path(__file__).parents[1] / "docs" / "failover.md"
# Here begins the part that `benchmarks/series.py` writes.
SERIES = "## An agent of many steps"
# A plain SDK waits for ten minutes; after so many real seconds nobody waits for it any longer.
LIMIT_S = 8.0
# Who has its answer later than this, in the situation's own seconds, has waited for it.
LATE_S = 45.0
AT_ONCE = 4


@dataclass(frozen=True, kw_only=True)
class Line:
    """A situation with what came of it in each way, without the transport and with it."""

    situation: Situation
    alone: Sequence[Outcome]
    helped: Sequence[Outcome]

    @property
    def kept(self) -> bool:
        """Whether the transport brought the best outcome in all ways."""
        return all(map(self.situation.best, self.helped))

    def told(self) -> str:
        """The line of the table."""
        one = self.situation
        return f"| {one.id} | {one.what} | {one.wants} | {_said(one, self.alone)} | {_said(one, self.helped)} |"


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

    async def in_turn(situation: Situation) -> Line:
        async with turns:
            return await _line(situation)

    for begun in [asyncio.create_task(in_turn(situation)) for situation in SITUATIONS]:
        lines.append(await begun)
        print(lines[-1].told(), flush=True)
    return lines


async def _line(situation: Situation) -> Line:
    return Line(
        situation=situation,
        alone=await asyncio.gather(*(plain(situation, face, LIMIT_S) for face in _awaited())),
        helped=[outcome for outcome, _ in await asyncio.gather(*(play(situation, face) for face in FACES))],
    )


def _awaited() -> list[Face]:
    """The plain SDKs do the same whether they block or are awaited, and only what is awaited can be left alone."""
    return [face for face in FACES if face.awaits]


def _said(situation: Situation, outcomes: Sequence[Outcome]) -> str:
    words = [_word(situation, outcome) for outcome in outcomes]
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
    late = f", {outcome.s * SPEED // 10 * 10:.0f} s late" if outcome.s * SPEED > LATE_S else ""
    return f"the answer{late}" if answered_by_first and first == 1 else "the answer, after a failure unseen"


def _summary(lines: Sequence[Line]) -> str:
    false = sum("**" in _word(line.situation, outcome) for line in lines for outcome in line.alone)
    bad = sum("**" in _word(line.situation, outcome) for line in lines for outcome in line.helped)
    best = sum(line.kept for line in lines)
    alone = sum(line.situation.best(outcome) for line in lines for outcome in line.alone)
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
        "S15 (a provider that flaps), A10 (the service goes away) and A11 (no network at all) need a service; they are "
        "played in `tests/agent/test_with_service.py`: in S15 an agent tries the failing provider at most twice, and "
        "uses it again once probes have found it well."
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
