"""The command `firstbyte` as a process of its own, as a user starts it."""

import asyncio
import contextlib
import itertools
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

FIRSTBYTE = (sys.executable, "-c", "from monitor.cli import entry; entry()")
ROOT = Path(__file__).parents[1]
_TURNS = itertools.count()


class Started:
    """A started process with all that it has said so far, stdout and stderr together."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.said: list[str] = []
        self._more = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def line(self, pattern: str, *, within_s: float = 240.0) -> re.Match[str]:
        """Wait for a line that matches, among those already said too."""
        try:
            async with asyncio.timeout(within_s), self._more:
                while (found := next(filter(None, (re.search(pattern, said) for said in self.said)), None)) is None:
                    assert not self._reading.done(), f"ended without {pattern!r}: {self.said}"
                    await self._more.wait()
                return found
        except TimeoutError:
            raise AssertionError(f"no {pattern!r} within {within_s} s: {self.said}") from None

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    async def end(self, *, within_s: float = 120.0) -> int:
        """Wait until it has ended; gives its exit code."""
        async with asyncio.timeout(within_s):
            await self._reading
            return await self._process.wait()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for raw in self._process.stdout:
            async with self._more:
                self.said.append(raw.decode().rstrip("\n"))
                self._more.notify_all()
        async with self._more:
            self._more.notify_all()


def environment(data: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """A user's environment with a data folder of its own and a free port."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("FIRSTBYTE_", "COV", "XDG_"))}
    own = {"PYTHONPATH": str(ROOT), "FIRSTBYTE_DATA": str(data), "FIRSTBYTE_PORT": str(free_port())}
    return {**kept, **own, **(more or {})}


def free_port() -> int:
    """A port that was free a moment ago, as was the one ten thousand above it, where a cluster's node has its bus.

    Both lie below those that connections get by chance. A process has a hundred of its own and takes them in turn, so
    that nobody else takes one before it is used, and a server that is down keeps its own.
    """
    for turn in itertools.islice(_TURNS, 100):
        port = 10_000 + os.getpid() % 97 * 100 + turn % 100
        with (
            contextlib.suppress(OSError),
            socket.create_server(("127.0.0.1", port)),
            socket.create_server(("127.0.0.1", port + 10_000)),
        ):
            return port
    raise AssertionError("no free port")


@contextlib.asynccontextmanager
async def started(
    *words: str, env: Mapping[str, str], cwd: Path, command: Sequence[str] = FIRSTBYTE
) -> AsyncIterator[Started]:
    """`firstbyte WORDS`, ended by force when the block ends if it hasn't ended by then."""
    process = await asyncio.create_subprocess_exec(
        *command,
        *words,
        env=env,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    made = Started(process)
    try:
        yield made
    finally:
        if process.returncode is None:
            process.terminate()  # it ends its store too; killed, it would leave it behind
        try:
            await made.end()
        except TimeoutError:
            process.kill()
            raise


async def ran(*words: str, env: Mapping[str, str], cwd: Path) -> tuple[int, str]:
    """The exit code and output of `firstbyte WORDS`."""
    async with started(*words, env=env, cwd=cwd) as made:
        code = await made.end(within_s=120)
    return code, "\n".join(made.said)


def using(folder: Path) -> list[int]:
    """The processes whose command line names a folder (Linux)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found
