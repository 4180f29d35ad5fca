"""Plays every scenario to one library and prints what happened as JSON; runs in the libraries' own environment.

Arguments: the library, then the sockets of a Redis, of a node of a cluster, and of a Redis that may be shut down.
"""

import contextlib
import importlib
import io
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable
from importlib import metadata
from typing import Any

from benchmarks import _peers_alone, _peers_counting, _peers_judging, _peers_shared
from benchmarks._peers_face import CantSay, Library
from benchmarks._peers_libraries import LIBRARIES

NO_PROBES = "it asks nobody by itself: only callers find out"
NO_ROUTES = "it guards one target and chooses none"
NO_BYTES = "it sees how a call ends, not its bytes"
CANT = {
    "late-5": "it lets nobody in during a hold, and learns nothing in it",
    "herd-9": "a call ends once",
    "stuck-10": NO_PROBES,
    "count-9": NO_BYTES,
    "count-10": NO_PROBES,
    "judge-5": "it has no word for 'come back later'",
    "judge-9": NO_BYTES,
    "store-11": "it has no word for 'come back later'",
    "store-14": "a call has no id by which it could be known again",
    "both-1": NO_PROBES,
    "both-2": NO_ROUTES,
    "both-3": NO_ROUTES,
    "both-8": "each breaker knows its own target only",
    "both-10": "it announces nothing to other processes",
    "both-13": NO_PROBES,
}


# What a library does besides, where the way in which it is played doesn't show it.
BESIDES = {("pybreaker", key): "in blocks; its `call` lets one in at a time" for key in ("herd-1", "herd-4", "herd-8")}


class Sockets:
    """Gives clients of the server at a socket."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.url = f"unix://{path}"
        self._made: dict[bool, Any] = {}

    @property
    def gone(self) -> type[Exception]:
        """What a client raises whose server is gone."""
        exceptions: Any = importlib.import_module("redis.exceptions")
        return exceptions.ConnectionError  # type: ignore[no-any-return] # a class that is only known when it runs

    def __call__(self, *, raw: bool = False) -> Any:
        """A client that gives text, or bytes where `raw`."""
        redis: Any = importlib.import_module("redis")
        backoff: Any = importlib.import_module("redis.backoff")
        retry: Any = importlib.import_module("redis.retry")
        if raw not in self._made:
            once = retry.Retry(backoff.NoBackoff(), 0)
            text = not raw
            self._made[raw] = redis.Redis(unix_socket_path=self.path, decode_responses=text, protocol=2, retry=once)
        return self._made[raw]


def scenes(name: str) -> dict[str, tuple[Callable[[Library], Any], bool]]:
    """Each scenario that can be played, and whether a Redis is needed."""
    shares = "shared" in LIBRARIES[name]().able
    alone = _peers_alone.SCENES | _peers_counting.SCENES | _peers_judging.SCENES
    shared = dict(_peers_shared.SCENES)
    if name != "interlock-cb":
        shared.pop("late-9")
    if not shares:
        shared.pop("both-7")
    return {
        **{key: (scene, False) for key, scene in alone.items()},
        **{k: (scene, True) for k, scene in shared.items()},
    }


def played(name: str, scene: Callable[[Library], Any], redis: Sockets | None) -> tuple[str, str]:
    """One scenario: right, wrong or can't, and what happened."""
    library = LIBRARIES[name]()
    library.redis = redis
    try:
        right, what = scene(library)
    except CantSay as reason:
        return "can't", str(reason)
    except Exception as error:  # noqa: BLE001 # whatever it raises is what happened
        return "wrong", f"it raises {type(error).__name__}{_where(error)}"
    return ("right" if right else "wrong"), what


def _where(error: BaseException) -> str:
    """Nothing for an error out of the library; else a fault of ours, which must not look like the library's."""
    frames = traceback.extract_tb(error.__traceback__)
    return (
        ""
        if (frames and "site-packages" in frames[-1].filename) or "/lib/python" in frames[-1].filename
        else " (in the play)"
    )


def main() -> None:
    """Play all and print."""
    name, plain, cluster, mortal = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    told: dict[str, tuple[str, str]] = {key: ("can't", why) for key, why in CANT.items()}
    servers = {"store-10": cluster, "store-7": mortal}
    with contextlib.redirect_stderr(io.StringIO()):
        for key, (scene, shares) in scenes(name).items():
            mark, what = played(name, scene, Sockets(servers.get(key, plain)) if shares else None)
            besides = BESIDES.get((name, key))
            told[key] = mark, f"{what} ({besides})" if besides else what
    print(json.dumps({"version": metadata.version(name), "told": told}))
    sys.stdout.flush()
    os._exit(0)  # threads of its own, and calls that never end, shall not hold us up


if __name__ == "__main__":
    main()
