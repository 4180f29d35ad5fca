"""Reads the configuration anew while the service runs, and hands it on only if it is good."""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from breaker.api.notices import Notice, warning
from breaker.logged import RELOAD_REFUSED, RELOADED
from monitor.aside import aside
from monitor.config import ConfigError, load
from monitor.config.faults import SHOWN
from monitor.settings import Settings

_log = logging.getLogger(__name__)

# Between two looks at the file. A change counts once two looks find the same, since editors write in several steps.
LOOK_S = 1.0
# The most faults that one line of the log names.
_SAID = 5

Renew = Callable[[Settings, Mapping[str, str]], Awaitable[None]]


class _Mark(NamedTuple):
    """What tells one state of a file from another, a file that was renamed into its place too."""

    changed_ns: int
    inode: int
    size: int


class Reloading:
    """The configuration in use, and the way to another one.

    `settings` were read from their `source`; `environ` is this process's own and never changes while it runs. `renew`
    takes over what has been read; the service sets it.
    """

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        assert settings.source is not None
        self.settings = settings
        self.good = True
        self.reloaded_at = time.time()
        self._path = settings.source
        self._environ = environ
        self._faults: list[str] = []
        self._turn = asyncio.Lock()
        self._seen = self._kept = _mark(self._path)
        self._tasks: set[asyncio.Task[list[str]]] = set()
        self.renew: Renew | None = None

    async def now(self) -> list[str]:
        """Read it and take it over; gives all that is wrong with it, and then nothing has changed."""
        async with self._turn:
            self._kept = self._seen = await asyncio.to_thread(_mark, self._path)
            try:
                found = await asyncio.to_thread(self._read)
            except ConfigError as error:
                return self._refuse([f"{fault.place}: {fault.wrong}; {fault.hint}" for fault in error.faults[:SHOWN]])
            if fixed := _fixed(self.settings, found):
                return self._refuse(fixed)
            if self.renew is not None and found != self.settings:
                await self.renew(found, keys_of(found, self._environ))
            self.settings, self.good, self.reloaded_at, self._faults = found, True, time.time(), []
            about = RELOADED(targets=len(found.targets), routes=len(found.routes))
            _log.info("the configuration was read anew and is in use", extra=about)
            return []

    def soon(self) -> None:
        """The same, for those who can't wait, such as a signal."""
        task = asyncio.create_task(self.now(), name="reading the configuration anew")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def watch(self) -> None:
        """One look at the file, and what follows from it."""
        await asyncio.sleep(LOOK_S)
        mark = await asyncio.to_thread(_mark, self._path)
        settled, self._seen = mark == self._seen, mark
        if mark != self._kept and settled:
            await self.now()

    def notices(self) -> list[Notice]:
        """That the file and what is in use aren't the same; what is wrong with it stands in the log alone."""
        if self.good:
            return []
        many = f"{len(self._faults)} faults" if len(self._faults) > 1 else "a fault"
        said = f"the configuration was changed and has {many}, so the one before goes on; the log says more"
        return [warning(said)]

    def _read(self) -> Settings:
        with aside():
            return load(self._path, self._environ)

    def _refuse(self, faults: list[str]) -> list[str]:
        self.good, self._faults = False, faults
        about = RELOAD_REFUSED(count=len(faults))
        few = " | ".join(faults[:_SAID])
        _log.error("the configuration was changed and isn't used, the one before goes on: %s", few, extra=about)
        return faults


def keys_of(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Each provider's key, by the provider's name; those without one are left out."""
    providers = {plan.target.provider.name: plan.target.provider for plan in settings.targets}
    return {name: environ[one.api_key_env] for name, one in providers.items() if one.api_key_env is not None}


def _fixed(before: Settings, after: Settings) -> list[str]:
    """What can't be changed while the service runs, and was."""
    pairs = {
        "the store": (before.store_url, after.store_url),
        "door: host": (before.door.host, after.door.host),
        "door: port": (before.door.port, after.door.port),
        "audit": (before.audit, after.audit),
    }
    return [f"{name} was changed, which takes a restart" for name, (old, new) in pairs.items() if old != new]


def _mark(path: Path) -> _Mark | None:
    """The state of a file; None where there is none, as for a moment while an editor saves it."""
    with contextlib.suppress(OSError):
        found = os.stat(path)  # noqa: PTH116 # it runs in a thread as it is
        return _Mark(found.st_mtime_ns, found.st_ino, found.st_size)
    return None
