"""What the examples share: a provider of the demonstration that fails for a while. No agent needs any of it."""

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import httpx

from breaker.client import Decision, Door, DoorError

# A circuit that an earlier run has opened closes by itself within a minute.
PATIENCE_S = 120.0
# A step of a real agent takes longer.
PAUSE_S = 0.2
MOST_STEPS = 200
GATEWAY_TEXT = {"behaviour": "gateway_text"}
UNAVAILABLE = {"behaviour": "http_error", "status": 503}


@contextlib.contextmanager
def failing(route: str, behaviour: Mapping[str, object] = GATEWAY_TEXT) -> Iterator[None]:
    """While this lasts, the primary of a route fails; without a behaviour it says its gateway's words for an error.

    Only the providers of the demonstration can be told to fail. Exits where there is no demonstration.
    """
    primary = _primary(route)
    _tell(primary, behaviour)
    print(f"-- now {primary.target} fails: {behaviour['behaviour']}", flush=True)
    try:
        yield
    finally:
        _tell(primary, {"behaviour": "healthy"})
        print(f"-- {primary.target} is well again; agents come back when its circuit closes", flush=True)


def steps() -> Iterator[int]:
    """The numbers of an agent's steps, with a pause between them as for its tools; not for ever."""
    for number in range(1, MOST_STEPS + 1):
        yield number
        time.sleep(PAUSE_S)
    sys.exit(f"nothing has changed in {MOST_STEPS} steps")


def told(headers: Mapping[str, str]) -> str:
    """What the transport says in a response's headers about what it did."""
    prefix = "x-firstbyte-"
    return "  ".join(
        f"{name.removeprefix(prefix)}: {value}" for name, value in headers.items() if name.startswith(prefix)
    )


def _primary(route: str) -> Decision:
    """The decision for the primary, once agents go there."""
    until = time.monotonic() + PATIENCE_S
    with Door() as door:
        while True:
            try:
                decision = door.route(route)
            except DoorError as error:
                sys.exit(f"{error}\nThe examples want the demonstration: `make run` without a firstbyte.yaml")
            if decision.role == "primary" or time.monotonic() > until:
                return decision
            print(f"-- {decision.primary} is out ({decision.reason}); waiting until agents go there", flush=True)
            time.sleep(2.0)


def _tell(target: Decision, behaviour: Mapping[str, object]) -> None:
    """Have a simulated target behave so from now on."""
    place = urlsplit(target.base_url)
    if place.hostname != "127.0.0.1":
        sys.exit(f"{target.target} is a real provider; the examples want the simulated ones of `make run`")
    with httpx.Client(trust_env=False) as http:
        url = f"http://{place.netloc}/_sim/targets"
        http.post(url, params={"target": target.target}, json=dict(behaviour)).raise_for_status()
