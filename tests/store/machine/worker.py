"""One of several processes on one store: a switchboard that does what it is told, one JSON object a line."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from breaker.answer import Answer
from breaker.circuit import Circuit, Move
from breaker.errors import StoreError
from breaker.route import Route
from breaker.store import codec
from breaker.store.redis import RedisStore
from breaker.switchboard import Judged, Listeners, Switchboard
from breaker.target import Provider, Target
from breaker.usual import write as write_usual
from tests.store.machine.clock import shifted_circuit, shifted_usual
from tests.store.machine.policies import POLICIES

TARGET = Target(provider=Provider(name="first", base_url="http://x/v1", wire="openai-chat"), model="m")
PATIENT_S = 60.0

Words = dict[str, Any]


class GatedStore(RedisStore):
    """A store that can stop before it makes a move, until it is told to go on."""

    gate: asyncio.Event | None = None

    async def apply(self, target: str, move: Move, judged: Circuit) -> Move | None:
        """Make the move, once the gate is open."""
        if self.gate is not None:
            gate, self.gate = self.gate, None
            say({"gate": True})
            await gate.wait()
        return await super().apply(target, move, judged)


class Worker:
    """A switchboard and what its listeners were told."""

    def __init__(self, url: str) -> None:
        self.store = GatedStore.from_url(url, limit_s=PATIENT_S)
        self.gate = asyncio.Event()
        self.reset(policy=0)

    def reset(self, policy: int) -> None:
        """Forget everything."""
        self.told: list[list[object]] = []
        self.judged: list[str] = []
        self.counted: list[Judged] = []
        listeners = Listeners(judged=(self._judged,), moved=(self._moved,))
        route = Route(name="coder", targets=(TARGET,))
        self.board = Switchboard(self.store, [route], {TARGET.name: POLICIES[policy]}, listeners)

    def _judged(self, judged: Judged) -> None:
        self.judged.append(judged.answer.id)
        self.counted.append(judged)

    def _moved(self, _: str, move: Move) -> None:
        self.told.append([move.circuit.epoch, move.circuit.generation])

    async def report(self, answer: Words, gate: bool = False) -> Words:
        """Report an answer; with a gate, stop before the move that it causes."""
        if gate:
            self.gate = self.store.gate = asyncio.Event()
        judged = await self.board.report(Answer.from_facts(answer))
        if gate:
            self.store.gate = None
        assert judged is not None, "the store was gone"
        reading = judged.reading
        return {
            "answer": [judged.answer.id, judged.answer.part.value],
            # Those that go into the store together share a reading.
            "counted": any(one is judged for one in self.counted),
            "now": reading.now,
            "waited_s": judged.waited_s,
            "circuit": codec.write_circuit(reading.circuit),
            "usual": write_usual(reading.log.usual),
        }

    def go(self) -> None:
        """Open the gate."""
        self.gate.set()

    async def settle(self) -> Words:
        """Make what the clock demands."""
        return {"next_s": await self.board.settle()}

    async def refresh(self) -> None:
        """Read all circuits."""
        await self.board.refresh()

    async def hold(self, opened: bool, for_s: float) -> None:
        """Hold by hand."""
        await self.board.hold(TARGET.name, opened=opened, who="ann", why="trial", for_s=for_s)

    async def release(self) -> None:
        """Release by hand."""
        await self.board.release(TARGET.name, who="bob", why="done")

    async def read(self) -> None:
        """Read whatever there is to be read."""
        self.board.route()
        self.board.standings()
        self.board._looked_at = None  # else a second must pass between two
        await self.board.look_again()
        await self.board.moves(TARGET.name)

    def shift(self, by_s: float) -> None:
        """The store's clock is set: what is known of its times moves as well."""
        known = self.board._snapshot
        for name, circuit in known.circuits.items():
            known.circuits[name] = shifted_circuit(circuit, by_s)
        for name, log in known.logs.items():
            known.logs[name] = replace(log, usual=shifted_usual(log.usual, by_s))

    def known(self) -> Words:
        """What is known here, and what listeners were told."""
        standing = self.board.standing(TARGET.name)
        return {
            "circuit": codec.write_circuit(standing.circuit),
            "state": standing.state.value,
            "told": self.told,
            "judged": self.judged,
            "role": self.board.route().role.value,
        }


def say(what: Words) -> None:
    """One line to whoever started this process."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


async def obey(worker: Worker, line: str) -> None:
    """Do what a line says, and say what came of it."""
    words = json.loads(line)
    done: Words | Awaitable[Words | None] | None
    call: Callable[..., Any] = getattr(worker, words.pop("do"))
    try:
        done = call(**words)
        if isinstance(done, Awaitable):
            done = await done
    except StoreError as error:
        done = {"error": str(error)}
    say(done or {})


async def main(url: str) -> None:
    """Obey until the input ends."""
    worker = Worker(url)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    tasks: set[asyncio.Task[None]] = set()
    say({"ready": True})
    async for line in lines:
        task = asyncio.create_task(obey(worker, line.decode()))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    for task in tasks:
        task.cancel()
    with contextlib.suppress(StoreError):
        await worker.store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
