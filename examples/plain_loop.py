"""An agent with a loop of its own and no SDK asks before each step where to go, and says after it how it went.

This is the by-hand way, for what the transport can't be put into: it sees what HTTP tells, and leaves the reading of an
answer (is it one at all?) to you. Where you ask by httpx anyway, `httpx.Client(transport=Transport(route="coder"))`
does all of it.

Start the demonstration in one terminal (`make run`; its providers are simulated, so no key is needed), and this in
another:

    .venv/bin/python -m examples.plain_loop
"""

import os
import time

import httpx

from breaker.client import Decision, Firstbyte
from examples.demonstration import UNAVAILABLE, failing, steps

MOST_SECONDS = 120.0


def ask(http: httpx.Client, to: Decision, question: str) -> httpx.Response:
    """Ask a target. Raises what httpx raises where it can't be reached."""
    key = os.environ.get(to.api_key_env, "") if to.api_key_env else ""
    return http.post(
        f"{to.base_url}/chat/completions",
        json={"model": to.model, "messages": [{"role": "user", "content": question}]},
        headers={"authorization": f"Bearer {key}"} if key else {},
    )


def attempt(firstbyte: Firstbyte, http: httpx.Client, to: Decision, question: str) -> str | None:
    """What a target answers, None where it failed; either way it is reported."""
    began = time.monotonic()
    status, ended = None, "unreachable"
    try:
        response = ask(http, to, question)
        status, ended = response.status_code, "complete"
    except httpx.TimeoutException:
        ended = "silence"
    except httpx.TransportError:
        pass
    # Facts alone: no prompt and no answer leaves this process.
    verdict = firstbyte.report(
        target=to.target, ended=ended, status=status, seconds=time.monotonic() - began, streamed=False
    )
    print(f"  {to.target} ({to.role}): {verdict}", flush=True)
    return response.json()["choices"][0]["message"]["content"] if status == 200 else None


def step(firstbyte: Firstbyte, http: httpx.Client, number: int) -> Decision:
    """One step: where it is sent, and once more elsewhere if it fails there."""
    to = firstbyte.route("coder")
    # Between two steps is the moment to drop what only the other target understands, such as signed thoughts.
    print(f"step {number} goes to {to.target} ({to.reason}){', switched' if to.switched else ''}", flush=True)
    said = attempt(firstbyte, http, to, f"What is step {number}?")
    if said is None and (other := firstbyte.besides([to.target], "coder")) is not None:
        said = attempt(firstbyte, http, other, f"What is step {number}?")
    print(f"  {said!r}", flush=True)
    return to


def main() -> None:
    """Steps with a primary that is well, and with one that answers 503."""
    numbers = steps("coder")
    with Firstbyte() as firstbyte, httpx.Client(timeout=MOST_SECONDS) as http:
        step(firstbyte, http, next(numbers))
        with failing("coder", UNAVAILABLE):
            while not step(firstbyte, http, next(numbers)).switched:
                pass


if __name__ == "__main__":
    main()
