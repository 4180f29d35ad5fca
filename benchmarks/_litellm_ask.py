"""Asks through LiteLLM in its own environment: where the targets are on stdin, what came of each question on stdout.

`python -m benchmarks._litellm_ask` reads the pairs of targets as JSON, the one that fails first.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the internet for prices

import httpx2
import litellm  # type: ignore[import-not-found] # only its own environment has it

from breaker.client import AsyncFirstbyte, Firstbyte, Spot
from breaker.client.transport import AsyncTransport, Transport

NOWHERE = "http://127.0.0.1:9"
TOOL = {"name": "depth_of", "parameters": {"type": "object", "properties": {"lock": {"type": "integer"}}}}


def _asked(*, streamed: bool) -> dict[str, Any]:
    messages = [{"role": "user", "content": "How deep is the third lock?"}]
    tools = [{"type": "function", "function": TOOL}]
    return {"model": "openai/any", "api_key": "own", "messages": messages, "tools": tools, "stream": streamed}


def _blocking(spots: Sequence[Spot], *, streamed: bool) -> Any:
    with Firstbyte(NOWHERE, fallback=spots) as guide, httpx2.Client(transport=Transport(guide=guide)) as client:
        litellm.client_session = client
        came = litellm.completion(**_asked(streamed=streamed))
        return litellm.stream_chunk_builder(list(came)) if streamed else came


async def _awaiting(spots: Sequence[Spot], *, streamed: bool) -> Any:
    async with (
        AsyncFirstbyte(NOWHERE, fallback=spots) as guide,
        httpx2.AsyncClient(transport=AsyncTransport(guide=guide)) as client,
    ):
        litellm.aclient_session = client
        came = await litellm.acompletion(**_asked(streamed=streamed))
        return litellm.stream_chunk_builder([chunk async for chunk in came]) if streamed else came


def _ask(spots: Sequence[Spot], *, awaits: bool, streamed: bool) -> str:
    """The call that came, or what was raised."""
    litellm.in_memory_llm_clients_cache.flush_cache()  # it would keep the client of the question before
    try:
        came = asyncio.run(_awaiting(spots, streamed=streamed)) if awaits else _blocking(spots, streamed=streamed)
        calls = came.choices[0].message.tool_calls or []
    except Exception as error:  # noqa: BLE001 # whatever is raised is what came
        return f"{type(error).__name__}: {error}"
    return "; ".join(f"{call.function.name} {call.function.arguments}" for call in calls) or "no call"


if __name__ == "__main__":
    print(
        json.dumps([_ask(one["spots"], awaits=one["awaits"], streamed=one["streamed"]) for one in json.load(sys.stdin)])
    )
