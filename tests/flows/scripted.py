"""An agent as many are written, whose model follows a script: it believes any end, and asks before it says so."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import openai

from breaker.answer import Ended
from breaker.client import AsyncFirstbyte, Done, Firstbyte, NotStartedError
from breaker.client.run.run import AwaitedRun, BlockingRun
from breaker.client.transport import AsyncTransport, Limits, Transport
from breaker.exchange import Exchange
from breaker.policy import Policy
from monitor.daemon import Parts
from monitor.simulator import Simulator
from tests.cases.chat import plain
from tests.cases.said import Call, Said, dump
from tests.cases.wires import CHAT
from tests.service import plan, running, settings

NOWHERE = "http://nowhere.invalid/v1"
TARGET = "a/m"
# One attempt each: what isn't an answer is to reach the agent.
ONCE = Limits(first_byte_s=30.0, silence_s=60.0, attempts=1)
TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("refund", "look", "send_email")
]
ASKED: Any = {"role": "user", "content": "Refund order 7 and tell the customer."}
_MOST_TURNS = 12


def calls(name: str, **arguments: object) -> Exchange:
    """A turn that calls a tool."""
    return answer(Said(calls=(Call(name, arguments),)))


def says(text: str, finish: str = "") -> Exchange:
    """A turn that only says something."""
    return answer(Said(text=(text,), finish=finish))


def answer(said: Said) -> Exchange:
    """A plain answer."""
    body = dump(plain(said)).encode()
    headers = {"content-type": "application/json"}
    return Exchange(
        wire=CHAT, streamed=False, status=200, headers=headers, chunks=((0.0, body),), ended=Ended.COMPLETE, end_at_s=0
    )


@dataclass
class Story:
    """What the model says in its turns, what its tools give, and what was heard of it."""

    turns: Sequence[Exchange]
    results: Mapping[str, object] = field(default_factory=dict)
    messages: list[Any] = field(default_factory=lambda: [ASKED])
    called: list[str] = field(default_factory=list)
    asked: int = 0

    def tools(self, run: BlockingRun | AwaitedRun) -> dict[str, Callable[..., Any]]:
        """The tools as the run follows them."""
        return {
            "refund": run.tool(self._made("refund"), name="refund", effect="write"),
            "look": run.tool(self._made("look"), name="look"),
            "send_email": run.tool(self._made("send_email"), name="send_email", effect="write", needs=["refund"]),
        }

    def _made(self, name: str) -> Callable[..., object]:
        def function(**_: object) -> object:
            self.called.append(name)
            result = self.results.get(name, "ok")
            if isinstance(result, Exception):
                raise result
            return result

        return function

    def heard(self, message: Any, tools: Mapping[str, Callable[..., Any]]) -> bool:
        """Carry out what a turn calls; whether it called anything."""
        self.messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or ():
            try:
                result = tools[call.function.name](**json.loads(call.function.arguments))
            except (NotStartedError, TimeoutError) as error:
                result = f"Error: {error}"
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
        return bool(message.tool_calls)

    def goes_on(self, done: Done) -> bool:
        """Whether the agent goes on, by what it is told."""
        if done.next == "go_on" and done.notice:
            self.messages.append({"role": "user", "content": done.notice})
        return done.next in ("go_on", "ask_again")


def work(sdk: openai.OpenAI, run: BlockingRun, story: Story, play: Callable[[int], None]) -> Done:
    """The loop of an agent that blocks."""
    tools = story.tools(run)
    for turn in range(_MOST_TURNS):
        play(turn)
        story.asked += 1
        reply = sdk.chat.completions.create(model="any", messages=story.messages, tools=TOOLS)
        if story.heard(reply.choices[0].message, tools) and run.decide().next != "stop":
            continue
        done = run.done()
        if not story.goes_on(done):
            return done
    raise AssertionError("the agent never came to an end")


async def work_awaiting(
    sdk: openai.AsyncOpenAI, run: AwaitedRun, story: Story, play: Callable[[int], Awaitable[None]]
) -> Done:
    """The loop of one that awaits."""
    tools = story.tools(run)
    for turn in range(_MOST_TURNS):
        await play(turn)
        story.asked += 1
        reply = await sdk.chat.completions.create(model="any", messages=story.messages, tools=TOOLS)
        if story.heard(reply.choices[0].message, tools) and run.decide().next != "stop":
            continue
        done = await run.done()
        if not story.goes_on(done):
            return done
    raise AssertionError("the agent never came to an end")


@dataclass(frozen=True)
class Stage:
    """A service, a simulated provider, and agents that work there."""

    url: str
    providers: Simulator

    async def play(self, story: Story, run: str, *, awaits: bool) -> Done:
        """Let an agent work at a story as a run."""
        loop = asyncio.get_running_loop()

        async def play(turn: int) -> None:
            await self.providers.set(TARGET, story.turns[min(turn, len(story.turns) - 1)])

        def play_here(turn: int) -> None:
            asyncio.run_coroutine_threadsafe(play(turn), loop).result(30)

        if awaits:
            return await self._await(story, run, play)
        return await asyncio.to_thread(self._block, story, run, play_here)

    def _block(self, story: Story, run: str, play: Callable[[int], None]) -> Done:
        with Firstbyte(self.url) as firstbyte:
            transport = Transport(httpx2.HTTPTransport(verify=False), guide=firstbyte, route="coder", limits=ONCE)
            with (
                httpx2.Client(transport=transport) as client,
                openai.OpenAI(api_key="own", base_url=NOWHERE, http_client=client, max_retries=0) as sdk,
                firstbyte.run(run) as followed,
            ):
                return work(sdk, followed, story, play)

    async def _await(self, story: Story, run: str, play: Callable[[int], Awaitable[None]]) -> Done:
        async with AsyncFirstbyte(self.url) as firstbyte:
            inner = httpx2.AsyncHTTPTransport(verify=False)
            transport = AsyncTransport(inner, guide=firstbyte, route="coder", limits=ONCE)
            async with (
                httpx2.AsyncClient(transport=transport) as client,
                openai.AsyncOpenAI(api_key="own", base_url=NOWHERE, http_client=client, max_retries=0) as sdk,
                firstbyte.run(run) as followed,
            ):
                return await work_awaiting(sdk, followed, story, play)


@contextlib.asynccontextmanager
async def stage(data: Path) -> AsyncIterator[Stage]:
    """A service whose one target is played by the simulator, until the block ends."""
    async with Simulator({TARGET: says("Hello.")}, seed=1) as providers:
        chosen = settings([plan(providers, TARGET, Policy())], data)
        async with running(chosen, parts=Parts(probes=False)) as service:
            yield Stage(service.url, providers)
