"""Frameworks of agents with the transport in them by one argument: a provider's failure is unseen, tools are called."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from monitor.simulator import Recorded, Simulator
from tests.agent.calling import CALLED, FAILURES, exchange
from tests.agent.faces import NOWHERE
from tests.agent.world import World, awaiting, blocking
from tests.cases.said import Said, words
from tests.cases.wires import CHAT, MESSAGES, RESPONSES
from tests.guard.test_guard import guarded, spots
from tests.processes import ROOT, environment

ANSWERED = Said(text=words("The third lock is the deep one."), read=200)
ASKED = "How deep is the third lock?"


@asynccontextmanager
async def failing_first(wire: str, failure: str, *said: Said, streamed: bool) -> AsyncIterator[tuple[Simulator, World]]:
    """A primary that fails so, and a backup that says this in turn."""
    backup = Recorded(tuple(exchange(wire, one, streamed=streamed) for one in said))
    async with Simulator({"a/m": failure, "b/m": backup}, seed=1) as simulator:
        yield simulator, World(simulator, wire=wire)


@tool
def depth_of(lock: int) -> int:
    """How deep a lock is."""
    return lock


def _langchain(client: httpx2.Client, waiting: httpx2.AsyncClient) -> Any:
    model = ChatOpenAI(
        model="any", api_key=SecretStr("own"), base_url=NOWHERE, http_client=client, http_async_client=waiting
    )
    return model.bind_tools([depth_of])


async def _invoke(model: Any) -> Any:
    return await asyncio.to_thread(model.invoke, ASKED)


async def _ainvoke(model: Any) -> Any:
    return await model.ainvoke(ASKED)


async def _stream(model: Any) -> Any:
    return await asyncio.to_thread(lambda: _sum(list(model.stream(ASKED))))


async def _astream(model: Any) -> Any:
    return _sum([chunk async for chunk in model.astream(ASKED)])


def _sum(chunks: list[Any]) -> Any:
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return whole


WAYS = [(_invoke, False), (_ainvoke, False), (_stream, True), (_astream, True)]


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("way", "streamed"), WAYS, ids=["invoke", "ainvoke", "stream", "astream"])
async def test_langchain_calls_the_tool_that_the_backup_names(
    way: Callable[[Any], Any], streamed: bool, failure: str
) -> None:
    async with (
        failing_first(CHAT, failure, CALLED, streamed=streamed) as (_, world),
        httpx2.AsyncClient(transport=awaiting(world)) as waiting,
    ):
        with httpx2.Client(transport=blocking(world)) as client:
            message = await way(_langchain(client, waiting))

    assert [(call["name"], call["args"]) for call in message.tool_calls] == [("depth_of", {"lock": 3})]
    assert world.verdicts[-1] == "tool_call"
    assert len(world.reports) == 2


@pytest.mark.parametrize(("way", "streamed"), WAYS, ids=["invoke", "ainvoke", "stream", "astream"])
async def test_langchains_chat_anthropic_takes_no_client_and_is_sent_through_the_guard(
    way: Callable[[Any], Any], streamed: bool
) -> None:
    async with (
        failing_first(MESSAGES, "gateway_text", CALLED, streamed=streamed) as (simulator, _),
        guarded({"coder": spots(simulator, MESSAGES)}) as address,
    ):
        model = ChatAnthropic(
            model_name="any", api_key=SecretStr("none"), base_url=f"{address}/coder", timeout=None, stop=None
        )
        message = await way(model.bind_tools([depth_of]))

    assert [(call["name"], call["args"]) for call in message.tool_calls] == [("depth_of", {"lock": 3})]


def _chat(client: httpx2.AsyncClient) -> Any:
    return OpenAIChatModel("any", provider=OpenAIProvider(base_url=NOWHERE, api_key="own", http_client=client))


def _responses(client: httpx2.AsyncClient) -> Any:
    return OpenAIResponsesModel("any", provider=OpenAIProvider(base_url=NOWHERE, api_key="own", http_client=client))


def _messages(client: httpx2.AsyncClient) -> Any:
    base_url = NOWHERE.removesuffix("/v1")
    return AnthropicModel("any", provider=AnthropicProvider(base_url=base_url, api_key="own", http_client=client))


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "plain"])
@pytest.mark.parametrize(("wire", "model"), [(CHAT, _chat), (RESPONSES, _responses), (MESSAGES, _messages)])
async def test_pydantic_ai_runs_to_its_end(
    wire: str, model: Callable[[httpx2.AsyncClient], Any], streamed: bool, failure: str
) -> None:
    called: list[int] = []

    def depth_of(lock: int) -> int:
        called.append(lock)
        return lock

    async with (
        failing_first(wire, failure, CALLED, ANSWERED, streamed=streamed) as (_, world),
        httpx2.AsyncClient(transport=awaiting(world)) as client,
    ):
        agent = Agent(model(client), tools=[depth_of])
        if streamed:
            async with agent.run_stream(ASKED) as run:
                output = await run.get_output()
        else:
            output = (await agent.run(ASKED)).output

    assert output == ANSWERED.whole
    assert called == [3]
    assert world.verdicts[1::2] == ["tool_call", "ok"]


PAGE = (ROOT / "docs" / "transport.md").read_text(encoding="utf-8")
LINES = [block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "litellm" not in block]


@pytest.mark.parametrize("lines", LINES, ids=range(len(LINES)))
async def test_the_lines_in_the_docs_can_be_written_so(lines: str, tmp_path: Path) -> None:
    env = {**environment(tmp_path), "OPENAI_API_KEY": "own", "ANTHROPIC_API_KEY": "own"}
    made = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", lines], env=env, capture_output=True, text=True, timeout=60
    )

    assert made.returncode == 0, made.stderr
