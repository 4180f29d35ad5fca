"""An agent on LangChain goes on while its provider fails: one argument is all that is added.

Start the demonstration in one terminal (`make run`; its providers are simulated, so no key is needed), and this in
another:

    .venv/bin/python -m examples.langchain_chat
"""

import httpx2
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from breaker.client.transport import Transport
from examples.demonstration import failing, steps, told


def step(model: ChatOpenAI, number: int) -> str:
    """One step of the agent, streamed; gives how many attempts it took."""
    chunks = list(model.stream(f"What is step {number}?"))
    headers: dict[str, str] = chunks[0].response_metadata["headers"]
    print(f"step {number}: {''.join(chunk.text for chunk in chunks)!r}  {told(headers)}", flush=True)
    return headers["x-firstbyte-attempts"]


def main() -> None:
    """Steps with a primary that is well, and with one that answers every question with an error's text."""
    numbers = steps("coder")
    with httpx2.Client(transport=Transport(route="coder")) as http:
        # `http_client` serves invoke and stream; ainvoke and astream want the same with AsyncTransport in
        # `http_async_client`. Key, model and address are replaced by those of the target.
        model = ChatOpenAI(
            model="replaced",
            api_key=SecretStr("replaced"),
            base_url="http://replaced.invalid/v1",
            http_client=http,
            include_response_headers=True,  # only so that this example can print them
        )
        step(model, next(numbers))
        with failing("coder"):
            while step(model, next(numbers)) != "1":
                pass
            print("-- the circuit is open: steps go to the backup without a try at the primary", flush=True)


if __name__ == "__main__":
    main()
