"""An agent asks whether its task is done before it says so; a refund was sent, and no answer ever came.

Start the demonstration in one terminal (`make run`; its providers are simulated, so no key is needed), and this in
another:

    .venv/bin/python -m examples.is_it_done
"""

from functools import partial

import httpx2
import openai

from breaker.client import Firstbyte, NotStartedError
from breaker.client.transport import Transport
from examples.demonstration import wanted


def main() -> None:
    """A task of three operations, of which the second is lost on its way."""
    wanted("coder")  # an agent needs no such line
    with (
        Firstbyte() as firstbyte,
        httpx2.Client(transport=Transport(guide=firstbyte, route="coder")) as http,
        openai.OpenAI(api_key="replaced", base_url="http://replaced.invalid/v1", http_client=http) as client,
        firstbyte.run() as run,  # give it the task's own name, so that another process can go on with it
    ):

        @run.tool(effect="write")
        def update_customer(name: str) -> str:
            return f"{name} updated"

        @run.tool(effect="write", needs=["update_customer"])
        def refund(order: int) -> str:
            raise TimeoutError  # it was sent, and nothing came back

        @run.tool(effect="write", needs=["refund"])
        def send_email(to: str) -> str:
            return f"sent to {to}"

        calls = (partial(update_customer, "Anna"), partial(refund, 7), partial(refund, 7), partial(send_email, "Anna"))
        for call in calls:  # the model wants the refund a second time
            try:
                told = call()
            except (TimeoutError, NotStartedError) as error:
                told = f"Error: {type(error).__name__}: {error}"
            print(f"{call.func.__name__}, as the model is told: {told}", flush=True)
        # Whatever the model says now, "I have refunded the order" for instance: its answer alone decides nothing.
        client.chat.completions.create(model="replaced", messages=[{"role": "user", "content": "Is it done?"}])
        done = run.done()
        print(f"done: {done.completion_allowed}, {done.decision}, decided by: {done.source}", flush=True)
        print(done.message, flush=True)


if __name__ == "__main__":
    main()
