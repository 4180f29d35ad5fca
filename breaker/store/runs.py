"""Runs on Redis or Valkey: a set of facts each, in the order of their arrival, under a name of its own."""

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from breaker.errors import StoreError
from breaker.store.call import Call, answered, command, memory_of, time_of
from breaker.store.contract import Added, Conclusion, KeptRun, LastRuns, Note, Novel
from breaker.store.room import Room
from breaker.store.script import ADD, CONCLUDE, NOTE, RUN
from breaker.store.servers import Servers
from breaker.store.together import Together

# A run is forgotten so long after its last fact.
KEPT_S = 86_400
# So much of a run is kept.
MOST_FACTS = 1_000
MOST_BYTES = 262_144
# Of all runs together.
MOST_LAST = 100
LAST_KEPT_S = 30 * 86_400

_LAST, _CLAIMS = "firstbyte:{runs}:last", "firstbyte:{runs}:claims"


class RedisRuns:
    """Runs on the servers of a store; each addition is one round trip."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._room = Room()
        # Looks for news at each server, of however many runs.
        self._looks = defaultdict[str, Together](lambda: Together(servers.send))

    async def add(self, name: str, lines: Sequence[str]) -> tuple[Added, ...]:
        """Add facts, each once; what became of each. No run begins while a server is nearly full."""
        keys = _keys(name)
        calls = [ADD.call(keys, (KEPT_S, MOST_FACTS, MOST_BYTES, int(self._room.short), *lines))]
        if self._room.due(time.monotonic()):
            calls.append(memory_of(keys[0]))
        said, *memory = await self._servers.send(calls)
        for one in memory:
            self._room.told(one)
        return tuple(map(Added, answered(said)))

    async def read(self, name: str, known: str = "") -> KeptRun:
        """What is kept of a run: all, or what came after a known stamp."""
        call = RUN.call(_keys(name), (known,))
        looks = self._looks[self._servers.place_of(call.key)]
        said: str = answered(await looks.ask(call)) if known else await self._ask(call)
        stamp, whole, began, overfull, decided, claimed, lines = said.split("\0")
        return KeptRun(
            stamp=stamp,
            whole=bool(whole),
            lines=tuple(lines.split("\n")) if lines else (),
            began=float(began) if began else None,
            overfull=bool(overfull),
            decided=decided,
            claimed=claimed,
        )

    async def conclude(self, made: Sequence[Conclusion]) -> list[Novel | StoreError]:
        """Note what was decided of runs, and which step was claimed to be the end; what is new in each."""
        replies = await self._servers.send([CONCLUDE.call(_keys(one.name)[1:], one[1:]) for one in made])
        return [said if isinstance(said, StoreError) else Novel(*map(bool, said)) for said in replies]

    async def note(self, notes: Sequence[Note]) -> None:
        """Note decisions among the last ones of all runs, in their order, and count the claims."""
        words = [word for one in notes for word in (one.line, one.claimed_by or "", int(one.prevented))]
        await self._ask(NOTE.call([_LAST, _CLAIMS], (MOST_LAST, LAST_KEPT_S, *words)))

    async def last(self, limit: int) -> LastRuns:
        """The last decisions of all runs."""
        calls = [command("LRANGE", _LAST, 0, limit - 1), command("HGETALL", _CLAIMS), time_of(_LAST)]
        lines, claims, (seconds, micros) = map(answered, await self._servers.send(calls))
        return LastRuns(
            lines=tuple(lines),
            claimed=_counts(claims, "claimed "),
            prevented=_counts(claims, "prevented "),
            now=seconds + micros / 1e6,
        )

    async def _ask(self, call: Call) -> Any:  # Any: what a reply is, the call alone says
        return answered(*await self._servers.send([call]))


def _keys(name: str) -> list[str]:
    """The keys of a run; what stands in braces decides the cluster's slot."""
    return [f"firstbyte:{{run:{name}}}:{kind}" for kind in ("facts", "about")]


def _counts(claims: dict[str, str], kind: str) -> dict[str, int]:
    return {name.removeprefix(kind): int(count) for name, count in claims.items() if name.startswith(kind)}
