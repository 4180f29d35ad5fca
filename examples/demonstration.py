"""What the examples share: a provider of the demonstration that fails for a while. No agent needs any of it."""

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import httpx

from breaker.client import Decision, Door, DoorError

# A circuit that was opened closes by itself within a minute, and agents return over another.
PATIENCE_S, RETURN_S = 180.0, 60.0
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


def steps(route: str) -> Iterator[int]:
    """The numbers of an agent's steps, with a pause between them as for its tools; not for ever.

    The first waits until the route's primary is well. Exits where there is no demonstration.
    """
    _primary(route)
    for number in range(1, MOST_STEPS + 1):
        yield number
        time.sleep(PAUSE_S)
    sys.exit(f"nothing has changed in {MOST_STEPS} steps")


def wanted(route: str) -> None:
    """Exits where nothing answers or no such route is known, as there would be no demonstration."""
    with Door() as door:
        _asked(door, route)


def told(headers: Mapping[str, str]) -> str:
    """What the transport says in a response's headers about what it did."""
    prefix = "x-firstbyte-"
    return "  ".join(
        f"{name.removeprefix(prefix)}: {value}" for name, value in headers.items() if name.startswith(prefix)
    )


def _primary(route: str) -> Decision:
    """The decision for the primary, once all agents go there: they return over a minute when its circuit has closed."""
    until = time.monotonic() + PATIENCE_S
    with Door() as door:
        decision = _asked(door, route)
        if not _is_settled(decision):
            print(f"-- {decision.primary} was out until now or still is; waiting until all agents are back", flush=True)
        while not _is_settled(decision):
            if time.monotonic() > until:
                sys.exit(f"{decision.primary} is out ({decision.reason}); try again when it is well")
            time.sleep(1.0)
            decision = _asked(door, route)
        return decision


def _is_settled(decision: Decision) -> bool:
    return decision.role == "primary" and (decision.since_s is None or decision.since_s > RETURN_S)


def _asked(door: Door, route: str) -> Decision:
    try:
        return door.route(route)
    except DoorError as error:
        sys.exit(f"{error}\nThe examples want the demonstration: `make run` without a firstbyte.yaml")


def _tell(target: Decision, behaviour: Mapping[str, object]) -> None:
    """Have a simulated target behave so from now on."""
    place = urlsplit(target.base_url)
    if place.hostname != "127.0.0.1":
        sys.exit(f"{target.target} is a real provider; the examples want the simulated ones of `make run`")
    with httpx.Client(trust_env=False) as http:
        url = f"http://{place.netloc}/_sim/targets"
        http.post(url, params={"target": target.target}, json=dict(behaviour)).raise_for_status()
