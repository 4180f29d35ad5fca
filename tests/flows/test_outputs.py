"""Where the log and the audit go is no matter of the agents': a reader that stops or leaves, a disk that is full."""

import asyncio
import contextlib
import fcntl
import itertools
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

import httpx

from monitor.simulator import Simulator
from tests.processes import FIRSTBYTE, environment

CONFIG = """\
policy: {{slow_s: 20, hold_s: 60, interval_s: 1, jitter_s: 0, confirm_s: 0.1, half_open_s: 1, silence_s: 40}}
probe: {{prompt_tokens: 300}}
log: {{level: debug}}
audit: {{to: {audit}, share: 1}}
providers:
  p: {{base_url: {url}, wire: openai-chat, models: {{good: {{}}}}}}
routes: {{coder: [p/good]}}
"""
CHECK = [{"id": f"c{number}", "seq": number, "name": "tests", "outcome": "failed"} for number in range(2)]


class Served:
    """A service whose output goes somewhere."""

    def __init__(self, process: asyncio.subprocess.Process, door: httpx.AsyncClient) -> None:
        self.process = process
        self.door = door
        self._names = itertools.count()

    async def until_up(self) -> None:
        """Wait until it answers."""
        async with asyncio.timeout(240):
            while True:
                assert self.process.returncode is None, "it has ended"
                with contextlib.suppress(httpx.TransportError):
                    if (await self.door.get("/livez")).is_success:
                        return
                await asyncio.sleep(0.05)

    async def works(self) -> None:
        """Whether it tells an agent where to go, and decides whether its task is done, again and again."""
        for number in itertools.islice(self._names, 3):
            assert (await self.door.get("/route")).json()["target"] == "p/good"
            assert (await self.door.post(f"/runs/r{number}/checks", json=CHECK)).status_code == 202
            assert (await self.door.get(f"/runs/r{number}/done")).json()["completion_allowed"] is False

    async def counts(self, name: str) -> None:
        """Wait until a counter isn't zero any more."""
        async with asyncio.timeout(120):
            while await self._metric(name) == 0:
                await self.works()
                await asyncio.sleep(0.05)

    async def _metric(self, name: str) -> float:
        lines = (await self.door.get("/metrics")).text.splitlines()
        return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} "))

    async def ends(self) -> int:
        """Stop it; gives its exit code."""
        self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            return await self.process.wait()


@contextlib.asynccontextmanager
async def serving(folder: Path, output: int | IO[bytes], audit: str = "stdout") -> AsyncIterator[Served]:
    """A service that writes both its streams there."""
    async with Simulator(["p/good"]) as providers:
        (folder / "firstbyte.yaml").write_text(CONFIG.format(url=providers.base_url("p"), audit=audit))
        env = environment(folder / "data")
        process = await asyncio.create_subprocess_exec(
            *FIRSTBYTE, "run", env=env, cwd=folder, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            url = f"http://127.0.0.1:{env['FIRSTBYTE_PORT']}"
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as door:
                yield Served(process, door)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def full_pipe() -> tuple[int, int]:
    """A pipe that nobody reads and into which nothing more goes."""
    reading, writing = os.pipe()
    os.write(writing, b"x" * fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096))
    return reading, writing


async def test_a_pipe_that_nobody_reads_stops_no_agent(tmp_path: Path) -> None:
    reading, writing = full_pipe()
    try:
        async with serving(tmp_path, writing) as served:
            await served.until_up()
            await served.works()
            assert await served.ends() == 0
    finally:
        os.close(reading)
        os.close(writing)


async def test_a_pipe_whose_reader_has_gone_stops_no_agent_and_lost_lines_are_counted(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        async with serving(tmp_path, writing) as served:
            await served.until_up()
            await served.counts("firstbyte_log_lines_dropped_total")
            await served.counts("firstbyte_audit_lines_dropped_total")
            assert await served.ends() == 0
    finally:
        os.close(writing)


async def test_a_disk_that_is_full_stops_no_agent_and_lost_lines_are_counted(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:  # noqa: ASYNC230 # nothing is read
        async with serving(tmp_path, full, audit="/dev/full") as served:
            await served.until_up()
            await served.counts("firstbyte_log_lines_dropped_total")
            await served.counts("firstbyte_audit_lines_dropped_total")
            assert await served.ends() == 0


async def test_an_audit_into_a_named_pipe_waits_for_no_reader(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (tmp_path / "log").open("wb") as log:
        async with serving(tmp_path, log, audit=str(pipe)) as served:
            await served.until_up()
            await served.counts("firstbyte_audit_lines_dropped_total")
            reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            try:
                await served.works()
                assert await served.ends() == 0
                assert os.read(reading, 65_536).startswith(b'{"ts": ')
            finally:
                os.close(reading)
    assert "audit" in (said := (tmp_path / "log").read_text())
    assert "of its lines were lost" in said
