"""An asynchronous agent on the Anthropic SDK goes on while its provider fails, and keeps its history fit for the next.

Start the demonstration in one terminal (`make run`; its providers are simulated, so no key is needed), and this in
another:

    .venv/bin/python -m examples.anthropic_sdk
"""

import asyncio

import anthropic
import httpx2
from anthropic.types import MessageParam

from breaker.client.transport import AsyncTransport
from examples.demonstration import failing, steps, told

_THOUGHTS = ("thinking", "redacted_thinking")


class Agent:
    """An agent with a history, and the target that gave its last answer."""

    def __init__(self, client: anthropic.AsyncAnthropic) -> None:
        self._client = client
        self._history: list[MessageParam] = []
        self._target = ""

    async def step(self, number: int) -> str:
        """One step, streamed; gives how many attempts it took."""
        self._history.append({"role": "user", "content": f"What is step {number}?"})
        async with self._client.messages.stream(model="replaced", max_tokens=1024, messages=self._history) as stream:
            message = await stream.get_final_message()
        headers = stream.response.headers
        if headers["x-firstbyte-target"] != self._target:
            # Blocks of thoughts are signed by whoever made them, and nobody else takes them back.
            self._target = headers["x-firstbyte-target"]
            self._history = [_without_thoughts(said) for said in self._history]
        self._history.append({"role": "assistant", "content": message.content})
        text = "".join(block.text for block in message.content if block.type == "text")
        print(f"step {number}: {text!r}  {told(headers)}", flush=True)
        return headers["x-firstbyte-attempts"]


def _without_thoughts(said: MessageParam) -> MessageParam:
    content = said["content"]
    if said["role"] != "assistant" or isinstance(content, str):
        return said
    kept = [block for block in content if isinstance(block, dict) or block.type not in _THOUGHTS]
    return {"role": "assistant", "content": kept}


async def main() -> None:
    """Steps with a primary that is well, and with one that answers every question with an error's text."""
    # The one line. Key, model and address are replaced by those of the target.
    http = httpx2.AsyncClient(transport=AsyncTransport(route="writer"))
    numbers = steps("writer")
    async with anthropic.AsyncAnthropic(
        api_key="replaced", base_url="http://replaced.invalid", http_client=http
    ) as client:
        agent = Agent(client)
        await agent.step(next(numbers))
        with failing("writer"):
            while await agent.step(next(numbers)) != "1":
                pass
            print("-- the circuit is open: steps go to the backup without a try at the primary", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
