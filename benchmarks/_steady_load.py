"""Asks and reports at a steady pace, whether answers come or not, and writes down what became of each."""

import asyncio
import contextlib
import json
import re
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

TICK_S = 0.002
# An answer that comes later than this is as good as none: the agent has gone on.
LATE_S = 1.0
# So many connections are used in turn, from the start on: what a service keeps for each is no growth.
CONNECTIONS = 200
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_STALE = re.compile(rb'"stale":\s*true')
_TARGET = re.compile(rb'"target":\s*"([^"]+)"')


@dataclass(slots=True)
class Asked:
    """A request; `took_s` and `status` are None until it is answered. `name` is a report's id."""

    at: float
    name: str = ""
    took_s: float | None = None
    status: int | None = None
    target: str = ""
    stale: bool = False

    @property
    def failed(self) -> bool:
        """Whether the agent was let down."""
        return self.late or self.took_s is None or self.status not in (200, 202)

    @property
    def late(self) -> bool:
        """Whether it was answered, and too late."""
        return self.took_s is not None and self.took_s > LATE_S

    def __str__(self) -> str:
        """What became of it."""
        where = "/reports" if self.name else "/route"
        if self.status is None:
            return f"of {where} unanswered"
        return f"of {where} answered with {self.status} after {self.took_s or 0.0:.0f} s"


@dataclass(frozen=True)
class Reporting:
    """What is reported: of each target in turn what `facts` says at that moment."""

    targets: tuple[str, ...]
    facts: Callable[[str], dict[str, object]]


class Load:
    """Requests to one door: `/route` at each tick, and a report at each fifth where there is something to report."""

    def __init__(self, port: int, reporting: Reporting | None = None) -> None:
        self.port = port
        self.routes: list[Asked] = []
        self.reports: list[Asked] = []
        self.stopped = False
        self.forgotten = 0
        self._faults: list[Asked] = []
        self._reporting = reporting
        self._free: deque[_Connection] = deque()
        self._all: set[_Connection] = set()
        self._due: deque[tuple[bytes, Asked]] = deque()  # all connections are busy
        self._opening: set[asyncio.Task[None]] = set()
        self._question = f"GET /route?route=coder HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()

    async def run(self) -> None:
        """Go on until stopped."""
        await asyncio.gather(*(self._open() for _ in range(CONNECTIONS)))
        due, ticks = time.perf_counter(), 0
        while not self.stopped:
            self._send(self.routes, self._question, "")
            if self._reporting is not None and ticks % 5 == 0:
                self._send(self.reports, *self._report(self._reporting, ticks // 5))
            ticks += 1
            due += TICK_S
            await asyncio.sleep(max(0.0, due - time.perf_counter()))

    def forget(self, before: float) -> None:
        """Count what was sent before a moment, and keep no more of it than the faults; the unanswered ones are some."""
        for where in (self.routes, self.reports):
            old = between(where, 0.0, before - LATE_S)
            self.forgotten += len(old)
            self._faults += [one for one in old if one.failed]
            where[:] = between(where, before - LATE_S, float("inf"))

    @property
    def sent(self) -> int:
        """How many requests were sent in all."""
        return self.forgotten + len(self.routes) + len(self.reports)

    @property
    def faults(self) -> list[Asked]:
        """Those of them that failed."""
        return [*self._faults, *(one for one in (*self.routes, *self.reports) if one.failed)]

    async def answered(self, before: float) -> None:
        """Wait until all that was sent before a moment is answered, or so late that it doesn't matter."""
        waiting = [one for one in (*self.routes, *self.reports) if one.took_s is None and one.at < before]
        ends = time.perf_counter() + LATE_S
        while any(one.took_s is None for one in waiting) and time.perf_counter() < ends:  # noqa: ASYNC110 # bounded
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        """Stop, wait for the last answers, and hang up."""
        self.stopped = True
        await self.answered(time.perf_counter())
        for connection in list(self._all):
            connection.transport.abort()

    def _report(self, reporting: Reporting, number: int) -> tuple[bytes, str]:
        target = reporting.targets[number % len(reporting.targets)]
        name = f"report-{number}"
        body = json.dumps({"target": target, "id": name} | reporting.facts(target)).encode()
        head = f"POST /reports HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body, name

    def _send(self, where: list[Asked], question: bytes, name: str) -> None:
        where.append(asked := Asked(time.perf_counter(), name))
        self._due.append((question, asked))
        self._go_on()
        if self._due and len(self._all) + len(self._opening) < CONNECTIONS:
            task = asyncio.create_task(self._open())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    def _go_on(self) -> None:
        while self._due and self._free:
            self._free.popleft().ask(*self._due.popleft())

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):  # what stays unanswered has failed
            await loop.create_connection(lambda: _Connection(self._freed, self._lost), "127.0.0.1", self.port)

    def _freed(self, connection: "_Connection") -> None:
        self._all.add(connection)
        self._free.append(connection)
        self._go_on()

    def _lost(self, connection: "_Connection") -> None:
        self._all.discard(connection)
        if connection in self._free:
            self._free.remove(connection)


class _Connection(asyncio.Protocol):
    """A connection with one request at a time; says when it is free, and when it is lost."""

    def __init__(self, freed: Callable[["_Connection"], None], lost: Callable[["_Connection"], None]) -> None:
        self._freed = freed
        self._lost = lost
        self._said = b""
        self._asked: Asked | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's own is none by name
        self._freed(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(self)

    def ask(self, question: bytes, asked: Asked) -> None:
        """Send a request."""
        self._asked, self._said = asked, b""
        self.transport.write(question)

    def data_received(self, data: bytes) -> None:
        self._said += data
        head, blank, body = self._said.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not blank or length is None or len(body) < int(length[1]) or self._asked is None:
            return
        asked, self._asked = self._asked, None
        asked.took_s = time.perf_counter() - asked.at
        asked.status = int(head[9:12])
        asked.stale = _STALE.search(body) is not None
        found = _TARGET.search(body)
        asked.target = found[1].decode() if found else ""
        self._freed(self)


@dataclass
class Tail:
    """The middle and the tail of some times, by default of what requests took in microseconds."""

    took_us: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, asked: Iterable[Asked]) -> "Tail":
        """Of those that were answered."""
        return cls([one.took_s * 1e6 for one in asked if one.took_s is not None])

    def at(self, percent: int) -> float:
        """That percentile; not a number where there are too few."""
        if len(self.took_us) < 2:
            return float("nan")
        return statistics.quantiles(self.took_us, n=100, method="inclusive")[percent - 1]


def between(asked: Iterable[Asked], begin: float, end: float) -> list[Asked]:
    """Those that were sent then."""
    return [one for one in asked if begin <= one.at < end]
