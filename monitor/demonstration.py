"""What `firstbyte run` shows without a configuration: a primary that turns slow, and what becomes of its agents."""

import asyncio
from collections.abc import Callable, Mapping

import httpx

from breaker.answer import Part, Source
from breaker.circuit import Move, State
from breaker.log import weigh
from breaker.switchboard import Judged, Switchboard
from monitor.config import data_folder, load
from monitor.settings import Door, Settings
from monitor.simulator import Behaviour, BehaviourName, Simulator

# One second stands for this many.
SPEED = 20.0
PRIMARY = "aurora/swift-1"
NAMES = (PRIMARY, "borealis/swift-1", "cirrus/steady-2", "dorado/steady-2")
# In the providers' own time.
SLOW = Behaviour(name=BehaviourName.FIRST_BYTE_AFTER, after_s=70.0)
NOTE = "A demonstration with simulated providers: one second stands for twenty (40 s → 2 s, ten minutes → 30 s)."
# The defaults, each divided by SPEED.
CONFIG = """\
# Made by the demonstration: the default policy with every time divided by twenty.
policy:
  slow_s: 2
  hold_s: 30
  interval_s: 3
  jitter_s: 0.15
  confirm_s: 0.25
  half_open_s: 0.75
  silence_s: 6
  wary_s: 3
providers:
  aurora: {{base_url: {aurora}, wire: openai-chat, models: {{swift-1: {{}}}}}}
  borealis: {{base_url: {borealis}, wire: openai-chat, models: {{swift-1: {{}}}}}}
  cirrus: {{base_url: {cirrus}, wire: anthropic-messages, models: {{steady-2: {{}}}}}}
  dorado: {{base_url: {dorado}, wire: anthropic-messages, models: {{steady-2: {{}}}}}}
routes:
  coder: [aurora/swift-1, borealis/swift-1, cirrus/steady-2]
  writer: [cirrus/steady-2, dorado/steady-2]
"""


def simulator() -> Simulator:
    """Providers that are well."""
    return Simulator(NAMES, speed=SPEED, seed=1)


def settings(providers: Simulator, environ: Mapping[str, str]) -> Settings:
    """The demonstration's configuration, written where its store lies, and read as any other.

    Each port has a folder of its own, so that two demonstrations don't meet in one store. Raises ConfigError for
    faults of the environment, OSError where nothing can be written.
    """
    folder = data_folder(environ) / f"demo-{environ.get('FIRSTBYTE_PORT') or Door().port}"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / "firstbyte.yaml"
    urls = {name: providers.base_url(name) for name in providers.providers}
    file.write_text(CONFIG.format(**urls), encoding="utf-8")
    return load(file, {**environ, "FIRSTBYTE_DATA": str(folder)})


class Story:
    """Plays the demonstration once and tells it in plain lines; `judged` and `moved` are its ears."""

    def __init__(self, providers: Simulator, slow_s: float, say: Callable[[str], None]) -> None:
        self._providers = providers
        self._slow_s = slow_s
        self._say = say
        self._heard = asyncio.Event()
        self._over = False

    def judged(self, judged: Judged) -> None:
        """Tell of a probe of the primary, until the story is over."""
        if judged.answer.target == PRIMARY and judged.answer.source is Source.PROBE and not self._over:
            self._say(f"  probe of {PRIMARY}: {_told(judged, self._slow_s)}")
        self._heard.set()

    def moved(self, target: str, move: Move) -> None:
        """Tell of a move."""
        over = "the hold is over and " if move.before is State.HALF_OPEN else ""
        self._say(f"circuit of {target}: {move.before} → {move.after}, because {over}{move.why}")
        self._heard.set()

    async def play(self, board: Switchboard, url: str) -> None:
        """Play it from a healthy primary to a primary that is back; ends when told to the end."""
        left_over = board.standing(PRIMARY)
        if left_over.state is not State.CLOSED:
            self._say(f"{PRIMARY} is still {left_over.state} since last time; the story begins when that is over.")
        await self._until(lambda: _good(board, 2) and board.standing(PRIMARY).state is State.CLOSED)
        await self._ask(url)
        await self._providers.set(PRIMARY, SLOW)
        self._say(
            f"Now {PRIMARY} turns slow: its first byte takes {SLOW.after_s:g} s (here {SLOW.after_s / SPEED:g} s)."
        )
        await self._until(lambda: board.standing(PRIMARY).state is State.OPEN)
        await self._ask(url)
        await self._until(lambda: len(board.standing(PRIMARY).log.probes) > 0 and self._left(board) < 0.6)
        await self._providers.set(PRIMARY, Behaviour())
        self._say(f"{PRIMARY} is well again. The hold goes on all the same, and the agents stay where they are.")
        await self._until(lambda: board.standing(PRIMARY).state is State.CLOSED)
        await self._ask(url)
        self._over = True

    def _left(self, board: Switchboard) -> float:
        """The share of the hold that is left."""
        standing = board.standing(PRIMARY)
        return 0.0 if standing.until is None else (standing.until - board.now()) / standing.policy.hold_s

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            self._heard.clear()
            await asyncio.wait_for(self._heard.wait(), timeout=None)

    async def _ask(self, url: str) -> None:
        """Do what an agent does before a step."""
        async with httpx.AsyncClient(trust_env=False) as client:
            said = (await client.get(f"{url}/route", params={"route": "coder"})).json()
        until = "" if said["until_s"] is None else f", for {said['until_s']:.0f} s more"
        why = (
            "primary, "
            if said["target"] == said["primary"]
            else f"{said['role'].replace('_', ' ')}; {said['primary']}: "
        )
        self._say(f"GET /route?route=coder → {said['target']} ({why}{said['reason']}{until})")


def _good(board: Switchboard, count: int) -> bool:
    standing = board.standing(PRIMARY)
    probes = standing.log.probes[-count:]
    return len(probes) == count and not any(weigh(entry, standing.policy).bad for entry in probes)


def _told(judged: Judged, slow_s: float) -> str:
    answer, first = judged.answer, judged.answer.first_byte_s
    if answer.part is Part.LATE:
        return f"still silent after {answer.seconds:.1f} s, so it counts as slow"
    if first is None:
        return f"{judged.judgement.verdict} after {answer.seconds:.1f} s"
    at_last = " at last" if first > slow_s else ""
    return f"{judged.judgement.verdict}, first byte{at_last} after {first:.2f} s"
