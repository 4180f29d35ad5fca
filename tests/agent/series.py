"""An agent of many steps whose provider fails it in the ways of a published series of runs, and what that costs.

The model is to call a tool in every step and to end with a text. An agent that gets a text and a good end without a
call believes that it is done; somebody has to tell it to go on.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import httpx2

from breaker.answer import Ended
from breaker.client.transport import AsyncTransport, Limits
from breaker.exchange import Exchange
from monitor.simulator import Attempt, Simulator
from tests.agent.faces import Came, Face, message
from tests.agent.world import World
from tests.cases.said import Call, Said, joined, words
from tests.cases.wires import MESSAGES, stream

PRIMARY, BACKUP = "a/m", "b/m"
# About 9,300 tokens, as the series' prompts had.
PROMPT = "Take the next of the steps that were agreed upon, and call the tool for it. " * 490
READ, CALLED, GATEWAY = 9_300, 40, 18
# Three stand on our list of gateways' words, three nobody has put there. Half of the prompt is counted, as then.
GATEWAY_TEXTS = (
    "The request could not be completed. Please retry later, or reduce the request parameters/content.",
    "[gateway] The upstream gave no answer. Please try again in a moment.",
    "Credit balance is too low",
    "Upstream request failed after several attempts. Please try again later.",
    "[ModelRelay] No provider is available at the moment, giving up.",
    "The model service is temporarily unavailable. Please retry in a few minutes.",
)
FIRST_BYTE_S, EMPTY_S = 2.0, 103.0
LOOP = "I will now look at the file again. "
# A provider's own limit of tokens ends a loop, if nobody else does.
LOOP_TOKENS, TOKENS_PER_S = 32_000, 60.0
_PIECE = 20


@dataclass(frozen=True, kw_only=True)
class Made:
    """An answer of a provider's: what comes, how many tokens its account is billed for it, and whether it ends late.

    `paced` says that its tokens come one after the other, so that whoever leaves before the end pays for fewer.
    """

    exchange: Exchange
    written: int
    paced: bool = False

    def billed(self, attempt: Attempt, speed: float) -> int:
        """How many tokens were made until the answer had come, or its reader had gone."""
        if not self.paced:
            return self.written
        made_s = ((attempt.end_s or 0.0) - (attempt.first_byte_s or 0.0)) * speed
        return min(int(made_s * TOKENS_PER_S), self.written)


@dataclass(frozen=True, kw_only=True)
class Play:
    """So many steps; in each of those named here the first answer of the primary is another than the good one."""

    wire: str
    steps: int
    failures: Mapping[int, Made]

    def good(self, step: int) -> Made:
        """The answer that takes a step: a call, or at the end a text."""
        if step < self.steps:
            call = Call("step", {"number": step})
            return _said(self.wire, Said(calls=(call,), read=READ, written=CALLED))
        text = words("All of the steps are taken, and each of them has left what it was to leave.")
        return _said(self.wire, Said(text=text, read=READ, written=CALLED))


@dataclass(kw_only=True)
class Tally:
    """What became of it: `seconds` are the providers' own, `read` and `written` tokens as providers bill them.

    `false_done` counts the times that the agent said "done" with work left, `cut` the answers that met a limit of
    tokens, `errors` those that the agent was told of: each of these costs one more question. So does each that the
    agent never saw, since it was asked again behind its back.
    """

    steps: int = 0
    false_done: int = 0
    cut: int = 0
    errors: int = 0
    seconds: float = 0.0
    asked: int = 0
    read: int = 0
    written: int = 0

    @property
    def unseen(self) -> int:
        """How many answers the agent never saw."""
        return self.asked - self.steps - self.false_done - self.cut - self.errors


def play_of(wire: str, steps: int = 46, *, loops: int = 2) -> Play:
    """The play in a wire: its failures are spread evenly over its steps."""
    made = [_said(wire, Said(text=(text,), read=READ // 2, written=GATEWAY)) for text in GATEWAY_TEXTS]
    made += [_empty(wire), *[_loop(wire)] * loops]
    # Neither the loops nor the texts come all together.
    mixed = made[::3] + made[1::3] + made[2::3]
    every = (steps - 1) / len(mixed)
    return Play(wire=wire, steps=steps, failures={1 + int(every * (at + 0.5)): one for at, one in enumerate(mixed)})


async def played(play: Play, *, helped: bool, speed: float) -> Tally:
    """Play it to an SDK, alone or with the transport in it; `speed` divides all times."""
    targets = [PRIMARY, BACKUP] if helped else [PRIMARY]
    async with Simulator(dict.fromkeys(targets, play.good(1).exchange), speed=speed, seed=1) as simulator:
        world = World(simulator, targets, wire=play.wire)
        async with _client(world if helped else None, speed) as client:
            agent = _Agent(play, simulator, client)
            began = time.monotonic()
            for step in range(1, play.steps + 1):
                await agent.take(step)
            agent.tally.seconds = (time.monotonic() - began) * speed
        agent.bill(speed)
    return agent.tally


class _Agent:
    def __init__(self, play: Play, simulator: Simulator, client: httpx2.AsyncClient) -> None:
        self.tally = Tally()
        self._play = play
        self._simulator = simulator
        self._client = client
        self._face = Face(play.wire, True, True)
        self._answers: dict[str, Made] = {}
        self._met: list[tuple[Attempt, Made]] = []

    async def take(self, step: int) -> None:
        """Ask until a step is taken; where the agent believes that it is done before, it is told to go on."""
        good = self._play.good(step)
        for target in self._simulator.targets:
            await self._let(target, good)
        await self._let(PRIMARY, self._play.failures.get(step, good))
        while not self._is_taken(await self._ask(step), step):
            await self._let(PRIMARY, good)
        self.tally.steps += 1

    def bill(self, speed: float) -> None:
        """Add up what was asked and what was made of it, once all attempts are over."""
        self.tally.asked = len(self._met)
        self.tally.read = sum(READ for _ in self._met)
        self.tally.written = sum(made.billed(attempt, speed) for attempt, made in self._met)

    async def _let(self, target: str, made: Made) -> None:
        self._answers[target] = made
        await self._simulator.set(target, made.exchange)

    async def _ask(self, step: int) -> Came:
        before = {target: self._simulator.asked(target).count for target in self._answers}
        question = {"model": "m", "messages": [message(f"{PROMPT}Step {step}.")], "tools": [_tool(self._play.wire)]}
        came = await self._face.wait(self._client, self._simulator.base_url("a"), question)
        for target, made in self._answers.items():
            self._met += [(attempt, made) for attempt in self._simulator.asked(target).attempts[before[target] :]]
        return came

    def _is_taken(self, came: Came, step: int) -> bool:
        """Whether an answer takes the step; what it was otherwise is counted."""
        calls, ends = came.finish in ("tool_calls", "tool_use"), came.finish in ("stop", "end_turn")
        if came.error is not None:
            self.tally.errors += 1
        elif ends and step < self._play.steps:
            self.tally.false_done += 1
        elif not calls and not ends:
            self.tally.cut += 1
        return came.error is None and (calls or (ends and step == self._play.steps))


def _client(world: World | None, speed: float) -> httpx2.AsyncClient:
    if world is None:
        return httpx2.AsyncClient(timeout=httpx2.Timeout(600.0), verify=False)
    inner = httpx2.AsyncHTTPTransport(verify=False)
    return httpx2.AsyncClient(transport=AsyncTransport(inner, guide=world, limits=_limits(speed)))


def _limits(speed: float) -> Limits:
    """The defaults, in less time."""
    usual = Limits()
    times = {one.name: getattr(usual, one.name) / speed for one in fields(usual) if one.name.endswith("_s")}
    return replace(usual, **times)


def _said(wire: str, said: Said) -> Made:
    """An answer after two seconds, at the usual pace."""
    chunks = [(FIRST_BYTE_S + 0.1 * at, piece.data) for at, piece in enumerate(stream(wire, said))]
    return Made(exchange=_exchange(wire, chunks), written=said.written or 0)


def _empty(wire: str) -> Made:
    """A good end after a long time, and nothing before it."""
    opening, *rest = stream(wire, Said(read=READ, written=0))
    return Made(exchange=_exchange(wire, [(FIRST_BYTE_S, opening.data), (EMPTY_S, joined(rest))]), written=0)


def _loop(wire: str) -> Made:
    """One sentence again and again, to the provider's limit of tokens."""
    text = (LOOP * (4 * LOOP_TOKENS // len(LOOP) + 1))[: 4 * LOOP_TOKENS]
    pieces = tuple(text[at : at + 4 * _PIECE] for at in range(0, len(text), 4 * _PIECE))
    finish = "max_tokens" if wire == MESSAGES else "length"
    made = stream(wire, Said(text=pieces, read=READ, written=LOOP_TOKENS, finish=finish))
    chunks = [(FIRST_BYTE_S + at * _PIECE / TOKENS_PER_S, piece.data) for at, piece in enumerate(made)]
    return Made(exchange=_exchange(wire, chunks), written=LOOP_TOKENS, paced=True)


def _exchange(wire: str, chunks: Sequence[tuple[float, bytes]]) -> Exchange:
    return Exchange(
        id="made",
        wire=wire,
        streamed=True,
        status=200,
        headers={"content-type": "text/event-stream"},
        chunks=tuple(chunks),
        ended=Ended.COMPLETE,
        end_at_s=chunks[-1][0],
    )


def _tool(wire: str) -> dict[str, Any]:
    """The tool that each step calls."""
    schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    what = {"name": "step", "description": "Takes a step."}
    if wire == MESSAGES:
        return {**what, "input_schema": schema}
    return {"type": "function", "function": {**what, "parameters": schema}}
