"""A server of our own, for those who give no URL: shared by all that use its data folder, ended by the last."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

from breaker.errors import EmbeddedStoreError
from breaker.store.lock import Lock
from breaker.store.machine import find_binary, find_socket
from breaker.store.server import Pulse, Server

# Longer than any start of a server may take.
_TURN_S = 70.0


class EmbeddedStore:
    """The server of a data folder: `start`, then `ensure` from time to time, then `stop`.

    Every user of a folder holds a shared lock there while it lives, so nobody ends a server under another. A server
    whose users were all killed goes on; the next start uses it, or ends it if it doesn't answer.
    """

    def __init__(self, data: Path) -> None:
        self._data = data.expanduser().resolve()
        self._users = Lock(self._data / "users.lock")
        self._server: Server | None = None
        self._socket = self._data

    async def start(self) -> str:
        """The unix:// URL of a server that answers. Raises EmbeddedStoreError with the path and the remedy."""
        try:
            async with self._alone():
                self._users.take(shared=True)
                self._socket = find_socket(self._data)
                self._server = Server(self._data, self._socket)
                await self._server.raise_up(find_binary())
        except BaseException:
            await self.stop()
            raise
        return f"unix://{quote(str(self._socket))}"

    async def ensure(self) -> None:
        """Start the server again if it has died or doesn't answer. Raises EmbeddedStoreError."""
        assert self._server is not None, "start comes first"
        if await self._server.pulse() is Pulse.ANSWERS:
            return
        async with self._alone():
            if find_socket(self._data) != self._socket:
                raise EmbeddedStoreError(f"the folder of {self._socket} was taken by somebody else; start anew")
            await self._server.raise_up(find_binary())

    async def stop(self) -> None:
        """Leave the server to the others that use it, or end it where there are none. Safe to call twice."""
        if self._server is None:
            self._users.drop()
            return
        async with self._alone():
            self._users.drop()
            server, self._server = self._server, None
            if self._users.take():
                await server.end()
                self._forget_socket()
        self._users.drop()

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """One process at a time starts or ends the server of a folder."""
        turn = Lock(self._data / "start.lock")
        try:
            self._data.mkdir(mode=0o700, parents=True, exist_ok=True)
            async with turn.held(_TURN_S):
                yield
        except TimeoutError:
            raise EmbeddedStoreError(f"another process has kept {turn} for {_TURN_S:g} s; end it") from None
        except OSError as error:
            raise EmbeddedStoreError(
                f"the data folder {self._data} can't be used: {error.strerror};"
                " make it writable, or choose another with FIRSTBYTE_DATA"
            ) from None

    def _forget_socket(self) -> None:
        if self._socket.parent != self._data:
            with contextlib.suppress(OSError):
                self._socket.parent.rmdir()
            (self._data / "socket").unlink(missing_ok=True)
