"""The page that compares: each scenario, and what became of it with each library."""

import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks._peers_scenarios import Scenario

CANT = "can't"


@dataclass(frozen=True)
class Cell:
    """How one scenario went with one library: right, wrong or can't, and what happened in a line."""

    mark: str
    what: str

    def told(self) -> str:
        """As it stands in the table."""
        mark = {"right": "right", "wrong": "**wrong**", CANT: "-"}[self.mark]
        return f"{mark}: {self.what}".replace("|", "\\|")


GROUPS = {
    "late": "Results of calls that began before",
    "herd": "Who may try, and how many at once",
    "stuck": "Stuck",
    "count": "What counts",
    "judge": "Whose fault it is",
    "store": "Replicas, clocks and a store that forgets",
    "both": "Probes, reports, routes and recovery together",
}


def page(told: list[Scenario], columns: Mapping[str, Mapping[str, Cell]], versions: Mapping[str, str]) -> str:
    """The whole page."""
    parts = ["# Scenarios\n", _filled(_OPENING), _counts(told, columns, versions), _filled(_READING)]
    parts += ["## What the others do well\n", *(_point(text) for text in _STRENGTHS)]
    for group, title in GROUPS.items():
        parts.append(f"\n## {title}\n")
        parts.append(_table([one for one in told if one.group == group], columns))
    return "\n".join(parts) + "\n"


def _counts(told: list[Scenario], columns: Mapping[str, Mapping[str, Cell]], versions: Mapping[str, str]) -> str:
    lines = ["| library | right | wrong | can't be expressed |", "| --- | --- | --- | --- |"]
    for name, column in columns.items():
        counts = Counter(column[one.id].mark for one in told)
        version = f" {versions[name]}" if name in versions else ""
        lines.append(f"| {name}{version} | {counts['right']} | {counts['wrong']} | {counts[CANT]} |")
    return "\n".join(lines) + "\n"


def _table(told: list[Scenario], columns: Mapping[str, Mapping[str, Cell]]) -> str:
    lines = [f"| what happens | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}"]
    for one in told:
        cells = " | ".join(_cell(one, name, column[one.id]) for name, column in columns.items())
        lines.append(f"| {one.id}: {one.story} | {cells} |")
    return "\n".join(lines)


def _cell(one: Scenario, name: str, cell: Cell) -> str:
    if name != "Firstbyte":
        return cell.told()
    file, _, test = one.test.partition("::")
    mark = "right" if cell.mark == "right" else "**wrong**"
    return f"{mark}: {cell.what} ([`{file}::{test}`](../tests/scenarios/{file}))"


def _point(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()), 120, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    )


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_on_hyphens=False) + "\n"


_OPENING = """
Stories in which circuit breakers have gone wrong, told to ours and to five others for Python. Each story is a test with
a clock that is moved and nobody who sleeps. `python -m benchmarks.peers --write docs/scenarios.md` installs the others,
plays everything that they can be told of, runs our tests, and writes this page.
"""
_READING = """
The others guard the calls of a program; Firstbyte watches a provider from beside it and tells many programs where to
go. So much of what they can't be told of is none of their business, and a dash is no fault. A *wrong* is measured
against what agents need of a provider that all of them share; for a library's own purpose it may be a choice. Each was
given the settings that suit the story best: two failures in a row open, a hold is 600 s, two good trials close where
that can be said, errors that say nothing are left out where it can be told to. Overlapping calls are coroutines or
blocks under way at the same time; "let in" means that the call was sent. The stories were collected to build
Firstbyte by: that it passes says that it does what was meant, and their numbers say nothing of how often each happens.
"""
_STRENGTHS = (
    """`pybreaker` waits for as many good trials as one likes, has blocks, functions and guarded generators, hears its
    listeners before and after each call, and shares its state in Redis, on clusters too. Its `call` holds a lock for
    the whole call, so that within a process there is never a second trial with it (nor a second call); the stories
    use its blocks, which overlap.""",
    """`purgatory` is the same in blocking and in asyncio programs, tells its hooks of every count, and keeps state and
    time in one record. With Redis the stories use its asyncio side, since the blocking one fails at its first call.""",
    """`aiobreaker` is small, leaves cancelled calls out altogether, and an old call's end decides nothing in half-open.
    """,
    """`circuitbreaker` is one file without dependencies, goes by a monotonic clock, says half-open as soon as the hold
    is over without anybody calling, and guards generators and async generators to their end.""",
    """`interlock-cb` fences old results by a generation, lets one trial in at a time, knows rates and slow calls, holds
    that grow, and errors of calls that never left the process; it keeps listeners' errors away from callers, goes by
    the server's clock with Redis, and comes with limits on time and on calls at once, which Firstbyte has none of.""",
    """All five refuse a call within microseconds inside the program, with no service to run. Firstbyte needs one.""",
)
