"""Lets the real SDKs and our reading meet the same twenty exchanges.

Run it as `python -m benchmarks.sdks`, with `--write` to write `docs/sdks.md`; it takes half a minute, most of it to
install the SDKs in an environment that it throws away. Without a package index it says so and writes nothing.
"""

import argparse
import asyncio
import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._installing import installed
from benchmarks._machine import machine
from breaker.exchange import Exchange
from breaker.verdict import Blame, Judgement, judge
from monitor.simulator import Simulator
from tests.flows import sockets

SDKS = ("openai>=3,<4", "anthropic>=2,<3")
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "sdks.md"
ASKER = Path(__file__).with_name("_sdks_ask.py")
ASK_S = 60
SPEED = 20.0
SHOWN = 60

FAILURES = {
    "gateway-retry-or-reduce": "a gateway's words in place of the answer",
    "gateway-credit-plain": "the same, about the account's credit",
    "unseen-bracketed-diagnosed": "the same, of a gateway unknown to us, with a diagnosis below",
    "chat-unread-prompt": "an answer to a prompt that was read in part",
    "chat-nothing-streamed": "a good end and nothing before it",
    "null-content": "a message without content",
    "messages-thoughts-alone": "thoughts, and then the end",
    "messages-cut-clean": "half an answer, then the end of the connection",
    "responses-cut-clean": "the same in another wire",
    "failed-halfway": "half an answer, then the word that it failed",
    "chat-error-halfway": "half an answer, then an error",
    "error-base-resp-quota": "an empty account, told in a field of the host's own",
    "error-in-its-own-field": "an error in a line that no event has",
    "native-reason-is-an-error": "the upstream's trouble beside a good word for the end",
}
LOOK_ALIKES = {
    "azure-filter-did-not-run": "a filter's error beside a whole answer",
    "stop-in-the-first-chunk": "a reason to stop in each chunk of a whole answer",
    "quoted-speaks-of-quota-plain": "an answer that speaks of quotas",
    "quoted-error-as-json-anthropic-messages": "an answer that shows an error's JSON",
    "pause": "a pause, to be asked to go on",
    "limits-noticed-then-answered": "a notice of limits before a whole answer",
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One exchange with what the SDK returned and what we said."""

    exchange: Exchange
    what: str
    returned: Mapping[str, Any]
    said: Judgement

    @property
    def seen(self) -> bool:
        """Whether the SDK raised."""
        return "error" in self.returned

    def told(self) -> str:
        """The line of the table."""
        how = "streamed" if self.exchange.streamed else "plain"
        blame = self.said.blame.replace("_", " ")
        verdict = f"`{self.said.verdict}`" if self.said.blame is Blame.OK else f"`{self.said.verdict}`, {blame}"
        return f"| {self.what} | {self.exchange.wire}, {how} | {_returned(self.returned)} | {verdict} |"


def main() -> int:
    """Ask, say what came of it, and write the page if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sdks", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/sdks.md")
    chosen = parser.parse_args()
    print(f"{machine()}\n\ninstalling the SDKs in an environment of their own ...", flush=True)
    with installed(SDKS) as python:
        if isinstance(python, str):
            print(f"the SDKs can't be installed, so nothing is compared: {python}")
            return 0
        print("asking ...", flush=True)
        versions, lines = asyncio.run(_lines(python))
    print(_summary(lines))
    if chosen.write:
        PAGE.write_text(_page(versions, lines), encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
    return 0


async def _lines(python: Path) -> tuple[Mapping[str, str], list[Line]]:
    whats = FAILURES | LOOK_ALIKES
    known = {one.id: one for path in (ROOT / "tests" / "cases").glob("*.jsonl") for one in sockets.read(path)}
    exchanges = [known[name] for name in whats]
    targets = {f"p/{exchange.id}": exchange for exchange in exchanges}
    async with Simulator(targets, speed=SPEED) as simulator:
        answers = await sockets.meet(simulator, targets)
        came = await _ask(python, simulator.base_url("p"), exchanges)
    lines = [
        Line(exchange=exchange, what=whats[exchange.id], returned=returned, said=judge(answer))
        for exchange, returned, answer in zip(exchanges, came["answers"], answers, strict=True)
    ]
    return came["versions"], lines


async def _ask(python: Path, base_url: str, exchanges: Sequence[Exchange]) -> Any:
    questions = [
        {"wire": one.wire, "streamed": one.streamed, "model": one.id, "base_url": base_url} for one in exchanges
    ]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(python, "-I", ASKER, stdin=pipe, stdout=pipe)
    try:
        async with asyncio.timeout(ASK_S):
            said, _ = await process.communicate(json.dumps(questions).encode())
    finally:
        if process.returncode is None:
            process.kill()
    return json.loads(said)


def _returned(returned: Mapping[str, Any]) -> str:
    if "error" in returned:
        return f"raised `{returned['error']}`"
    text = " ".join(returned["text"].split()).replace("|", "\\|").replace("`", "'")
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    words = [f"“{shown}”" if text else "no text", *(f"a call of `{name}`" for name in returned["calls"])]
    return f"{', '.join(words)}; {_finish(returned['finish'])}"


def _finish(finish: str | None) -> str:
    return "no word for the end" if finish is None else f"`{finish}`"


def _summary(lines: Sequence[Line]) -> str:
    failures, look_alikes = lines[: len(FAILURES)], lines[len(FAILURES) :]
    raised, wrong = (sum(line.seen for line in part) for part in (failures, look_alikes))
    named, blamed = (sum(line.said.blame is not Blame.OK for line in part) for part in (failures, look_alikes))
    return (
        f"Of {len(failures)} failures the SDKs raised on {raised} and we named {named}; of {len(look_alikes)} good "
        f"answers that look like failures they raised on {wrong} and we blamed {blamed}. They were chosen to show "
        "kinds of failure, not to count them: the shares say nothing of how often each comes."
    )


def _page(versions: Mapping[str, str], lines: Sequence[Line]) -> str:
    names = " and ".join(f"`{name}` {version}" for name, version in versions.items())
    return _TEMPLATE.format(
        opening=_filled(_OPENING.format(names=names)),
        summary=_filled(_summary(lines)),
        meaning=_filled(_MEANING),
        failures="\n".join(line.told() for line in lines[: len(FAILURES)]),
        look_alikes="\n".join(line.told() for line in lines[len(FAILURES) :]),
    )


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_on_hyphens=False)


_OPENING = """
Twenty exchanges over a real socket, all with HTTP 200: once through the official Python packages ({names}), once
through our reading. The texts and ids are made up. `python -m benchmarks.sdks --write` writes
this page.
"""
_MEANING = """
An SDK hands on what it was sent; it has no reason to doubt an answer that is well formed. Where it returns a text and a
good word for the end, an agent that looks no further goes on as if it had been answered.
"""
_TEMPLATE = """\
# What the SDKs return, and what we say

{opening}

{summary}

{meaning}

## Failures that look like answers

| what came | wire | the SDK | Firstbyte |
| --- | --- | --- | --- |
{failures}

## Answers that look like failures

| what came | wire | the SDK | Firstbyte |
| --- | --- | --- | --- |
{look_alikes}
"""


if __name__ == "__main__":
    sys.exit(main())
