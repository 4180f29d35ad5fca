"""An agent on the OpenAI SDK goes on while its provider fails; one line is all that is added.

Start the demonstration in one terminal (`make run`; its providers are simulated, so no key is needed), and this in
another:

    .venv/bin/python -m examples.openai_sdk
"""

from collections.abc import Mapping

import httpx2
import openai

from breaker.client.transport import Transport
from examples.demonstration import failing, steps, told

# The one line is the last. Key, model and address are replaced by those of the target; the SDK's own address would be
# asked where no service is there.
client = openai.OpenAI(
    api_key="replaced",
    base_url="http://replaced.invalid/v1",
    http_client=httpx2.Client(transport=Transport(route="coder")),
)


def step(number: int) -> Mapping[str, str]:
    """One step of the agent, streamed; gives the response's headers, which say who answered."""
    raw = client.chat.completions.with_raw_response.create(
        model="replaced", messages=[{"role": "user", "content": f"What is step {number}?"}], stream=True
    )
    said = "".join(chunk.choices[0].delta.content or "" for chunk in raw.parse() if chunk.choices)
    print(f"step {number}: {said!r}  {told(raw.headers)}", flush=True)
    return raw.headers


def main() -> None:
    """Steps with a primary that is well, and with one that answers every question with an error's text."""
    numbers = steps("coder")
    with client:
        step(next(numbers))
        # HTTP 200, a good end, and an error's words in place of the model's: the SDK alone would hand them on, and the
        # agent say "done". Here the step that meets it is asked of the backup at once.
        with failing("coder"):
            while step(next(numbers))["x-firstbyte-attempts"] != "1":
                pass
            print("-- the circuit is open: steps go to the backup without a try at the primary", flush=True)


if __name__ == "__main__":
    main()
