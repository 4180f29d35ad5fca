"""One server process on one data folder."""

import asyncio
import contextlib
import logging
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TypeVar

from breaker.errors import EmbeddedStoreError
from breaker.logged import STORE_SERVER
from breaker.store.lock import Lock
from breaker.store.machine import command_of

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_PULSE_S = 1.0
_AGAIN_S = 0.01
# A server that reads back a large file says so meanwhile.
_LOADING_S = 30.0
_ENDING_S = 3.0
_UNREADABLE = re.compile(r"Bad file format|AOF MANIFEST|length\. stat|Unrecoverable|RDB format|Wrong signature")


class Pulse(Enum):
    """What a server says when it is asked whether it lives."""

    ANSWERS = "answers"
    LOADING = "loading"
    MUTE = "mute"


class Server:
    """The server of a data folder, whoever started it; its process holds a lock there for as long as it lives.

    Not safe for several callers at one time: they agree on who calls. Raises EmbeddedStoreError with a remedy.
    """

    def __init__(self, data: Path, socket: Path) -> None:
        self._data = data
        self._socket = socket
        self._life = Lock(data / "server.lock")

    async def pulse(self) -> Pulse:
        """Whether the server answers, within a second."""
        said = await self._ask(b"PING\r\n", _PULSE_S)
        if said.startswith(b"-LOADING"):
            return Pulse.LOADING
        # Any other refusal is an answer too: a full disk isn't mended by a new process.
        return Pulse.ANSWERS if said.startswith((b"+", b"-")) else Pulse.MUTE

    async def raise_up(self, binary: str) -> None:
        """See to it that a server answers: the one that is there, or a new one."""
        pulse = await self.pulse()
        if pulse is Pulse.ANSWERS or (pulse is Pulse.LOADING and await self._loads()):
            return
        await self._take_life()
        try:
            await self._spawn(binary)
            if await self._loads():
                return
            self._set_aside()
            await self._take_life()
            await self._spawn(binary)
        finally:
            self._life.drop()
        if not await self._loads():
            raise EmbeddedStoreError(f"{binary} ended at once in {self._data}; it said: {self._last_words()}")

    async def end(self) -> None:
        """End the server, with all that it knows on disk; nothing is left of it, whoever started it."""
        if not await self._ended(_ENDING_S, asking=True):
            await self._take_life()
        self._life.drop()
        self._socket.unlink(missing_ok=True)

    # Inside

    async def _ask(self, line: bytes, limit_s: float) -> bytes:
        """The first line of a reply; empty where none comes."""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(limit_s):
                reader, writer = await asyncio.open_unix_connection(str(self._socket))
                try:
                    writer.write(line)
                    return await reader.readline()
                finally:
                    writer.close()
        return b""

    async def _take_life(self) -> None:
        """Make sure that no server lives here, and let none begin to."""
        if self._life.take():
            return
        process = self._process()
        if process is None:
            raise EmbeddedStoreError(
                f"a server that doesn't answer holds {self._data}, and it can't be told which process it is;"
                " end it, or choose another folder with FIRSTBYTE_DATA"
            )
        _log.warning("the server of %s doesn't answer; process %d is ended", self._data, process, extra=STORE_SERVER())
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        if not await self._ended(_ENDING_S):
            raise EmbeddedStoreError(f"process {process} holds {self._data} and can't be ended")

    async def _ended(self, limit_s: float, *, asking: bool = False) -> bool:
        """Wait until no server lives here; True with the lock taken. A server that has just begun is asked again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not self._life.take():
                    if asking:
                        await self._ask(b"SHUTDOWN\r\n", _PULSE_S)
                    await asyncio.sleep(_AGAIN_S)
                return True
        return False

    def _process(self) -> int | None:
        """The server's process id. Ids are used again, so the process must name our folder or socket."""
        try:
            process = int((self._data / "server.pid").read_text())
        except (OSError, ValueError):
            return None
        command = command_of(process)
        ours = os.fsencode(self._socket) in command or os.fsencode(self._data) in command
        return process if ours else None

    async def _spawn(self, binary: str) -> None:
        """Start a server that goes on without us, with our lock in its hands."""
        for stale in (self._socket, self._data / "server.pid", self._data / "server.log"):
            stale.unlink(missing_ok=True)
        try:
            done = await _to_the_end(lambda: self._run(binary))
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EmbeddedStoreError(f"{binary} can't be started: {error}") from None
        finally:
            self._life.drop()
        if done.returncode:
            said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
            raise EmbeddedStoreError(
                f"{binary} ended with {done.returncode}; it said: {said[-1] if said else 'nothing'}"
            )

    def _run(self, binary: str) -> subprocess.CompletedProcess[bytes]:
        """Returns as soon as the server has gone into the background."""
        return subprocess.run(  # noqa: S603 # no shell, and no words from outside
            [binary, *self._options()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LOADING_S,
            check=False,
            pass_fds=(self._life.file,),
            umask=0o077,
        )

    def _options(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": self._socket,
            "unixsocketperm": "600",
            "dir": self._data,
            "daemonize": "yes",
            "pidfile": self._data / "server.pid",
            "logfile": self._data / "server.log",
            "loglevel": "warning",
            "databases": "1",
            "save": "",
            "appendonly": "yes",
            # What was written survives the death of every process, unless the disk is busy; then, and where the machine
            # dies, up to two seconds are lost.
            "appendfsync": "everysec",
            "aof-load-truncated": "yes",
            # Commands alone: they are read by any version of both servers, whichever is found next time.
            "aof-use-rdb-preamble": "no",
            "auto-aof-rewrite-min-size": "8mb",
            "maxmemory-policy": "noeviction",
        }
        return [word for name, value in options.items() for word in (f"--{name}", str(value))]

    async def _loads(self) -> bool:
        """Wait until the server answers; False where it died."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOADING_S):
                while await self.pulse() is not Pulse.ANSWERS:
                    if self._life.take():
                        self._life.drop()
                        return False
                    await asyncio.sleep(_AGAIN_S)
                return True
        raise EmbeddedStoreError(f"the server of {self._data} doesn't answer after {_LOADING_S:g} s")

    def _set_aside(self) -> None:
        """Move a file that the server couldn't read out of the way: an empty store is better than none."""
        said = self._last_words()
        if not _UNREADABLE.search(said):
            raise EmbeddedStoreError(f"a server started in {self._data} ended at once; it said: {said}")
        aside = self._data / "unreadable"
        for name in ("appendonlydir", "appendonly.aof"):
            if (self._data / name).exists():
                shutil.rmtree(aside, ignore_errors=True)
                aside.mkdir(mode=0o700)
                (self._data / name).rename(aside / name)
        _log.warning("the store starts empty; what it couldn't read is in %s: %s", aside, said, extra=STORE_SERVER())

    def _last_words(self) -> str:
        try:
            lines = (self._data / "server.log").read_text(errors="replace").splitlines()
        except OSError:
            return "nothing"
        words = [line.partition(" # ")[2] or line for line in lines if line.strip()] or ["nothing"]
        return next((line for line in words if _UNREADABLE.search(line)), words[-1])


async def _to_the_end(work: Callable[[], _T]) -> _T:
    """Blocking work in a thread; where we are cancelled it is waited for, since half a start would leave a process."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise
