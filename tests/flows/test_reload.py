"""Another configuration for a service that runs: taken over whole or not at all, and nothing is torn down for it."""

import asyncio
import contextlib
import os
import pty
import re
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from monitor.simulator import Simulator
from monitor.simulator.record import End
from tests.processes import FIRSTBYTE, Started, environment, started, using

POLICY = "{slow_s: 20, hold_s: 60, interval_s: 1, jitter_s: 0, confirm_s: 0.2, half_open_s: 1, silence_s: 40}"
HOLD = {"who": "a test", "why": "to see it stay", "for_s": 600}


@dataclass
class Served:
    """A service in a process of its own, and its file."""

    file: Path
    process: Started
    door: httpx.AsyncClient
    simulator: Simulator

    def config(self, models: str, routes: str, more: str = "") -> str:
        """A configuration with the simulated provider."""
        provider = f"{{base_url: {self.simulator.base_url('p')}, wire: openai-chat, models: {models}}}"
        return (
            f"policy: {POLICY}\nprobe: {{prompt_tokens: 300}}\n{more}\nproviders:\n  p: {provider}\nroutes: {routes}\n"
        )

    def rename(self, text: str) -> None:
        """Put another file in the place of ours, as editors do."""
        new = self.file.with_suffix(".new")
        new.write_text(text)
        new.replace(self.file)

    async def reload(self) -> httpx.Response:
        """Ask for it."""
        return await self.door.post("/-/reload")

    async def metric(self, name: str) -> float | None:
        """A series' value; None where there is none."""
        lines = (await self.door.get("/metrics")).text.splitlines()
        return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} ")), None)

    async def routes(self) -> dict[str, list[str]]:
        """The routes with their targets."""
        said: dict[str, Any] = (await self.door.get("/routes")).json()
        return {route["route"]: route["targets"] for route in said["routes"]}


@pytest_asyncio.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """Two targets, `p/a` and `p/b`, in one route."""
    async with Simulator({f"p/{name}": "healthy" for name in "abc"}) as simulator:
        made = Served(tmp_path / "firstbyte.yaml", None, None, simulator)  # type: ignore[arg-type] # set below
        made.file.write_text(made.config("{a: , b: }", "{coder: [p/a, p/b]}"))
        env = environment(tmp_path / "data")
        async with started("run", env=env, cwd=tmp_path) as made.process:
            url = (await made.process.line("listening at (http://[^ ]+)", within_s=240))[1]
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as made.door:
                yield made


async def until(check: Any, what: str) -> None:
    """Wait until something that has to be asked for is so."""
    try:
        async with asyncio.timeout(60):
            while not await check():  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"not in time: {what}") from None


async def test_a_signal_brings_other_routes_and_touches_nothing_that_stays(served: Served) -> None:
    await until(lambda: _opens(served, "p/a"), "a target is held by hand")
    await served.simulator.set("p/b", "first_byte_after,after_s=4")
    under_way = len(served.simulator.asked("p/b").attempts)
    await until(lambda: _more(served, under_way), "a probe that takes long is under way")
    etag = (await served.door.get("/route")).headers["etag"]
    waiting = asyncio.create_task(
        served.door.get("/route", params={"route": "coder", "wait": 50}, headers={"If-None-Match": etag})
    )
    await asyncio.sleep(0.05)

    served.file.write_text(served.config("{a: , c: }", "{coder: [p/a, p/c], spare: [p/c]}"))
    served.process.send(signal.SIGHUP)
    await served.process.line("read anew and is in use", within_s=240)

    assert (await waiting).json()["target"] == "p/c"
    assert await served.routes() == {"coder": ["p/a", "p/c"], "spare": ["p/c"]}
    targets = {one["target"]: one["state"] for one in (await served.door.get("/targets")).json()["targets"]}
    assert targets == {"p/a": "held-open", "p/c": "closed"}
    assert (await served.door.get("/targets", params={"target": "p/b"})).status_code == 404
    report = {"target": "p/b", "id": "late", "ended": "complete", "seconds": 1.0, "status": 200}
    assert (await served.door.post("/reports", json=report)).status_code == 400
    await until(lambda: _probed(served, "c"), "the new target is probed")
    await until(lambda: _ended(served, "b"), "the probe that was under way has come to its end")
    assert "firstbyte_" in (metrics := (await served.door.get("/metrics")).text)
    assert 'model="b"' not in metrics
    assert 'firstbyte_circuit_state{model="a",provider="p",state="held-open"} 1.0' in metrics
    assert not [line for line in served.process.said if "fault" in line]


async def _opens(served: Served, target: str) -> bool:
    """Hold one open by hand; on a busy machine the store may miss its limit."""
    return (await served.door.post("/circuit/open", params={"target": target}, json=HOLD)).is_success


async def _more(served: Served, than: int) -> bool:
    return len(served.simulator.asked("p/b").attempts) > than


async def _probed(served: Served, model: str) -> bool:
    return bool(await served.metric(f'firstbyte_probes_total{{model="{model}",provider="p"}}'))


async def _ended(served: Served, model: str) -> bool:
    ends = [attempt.end for attempt in served.simulator.asked(f"p/{model}").attempts]
    assert End.CLIENT_GONE not in ends
    return None not in ends


async def test_a_bad_file_changes_nothing_and_says_so_everywhere(served: Served) -> None:
    good = served.file.read_text()
    before = await served.metric("firstbyte_config_last_reload_success_timestamp_seconds")
    served.file.write_text(good.replace("wire: openai-chat", "wire: telepathy"))

    refused = await served.reload()

    assert refused.status_code == 422
    assert refused.json()["type"] == "urn:firstbyte:problem:bad-configuration"
    assert "telepathy" in refused.json()["faults"][0]
    assert await served.routes() == {"coder": ["p/a", "p/b"]}
    assert await served.metric("firstbyte_config_last_reload_successful") == 0
    assert await served.metric("firstbyte_config_last_reload_success_timestamp_seconds") == before
    await served.process.line("ERROR.*isn't used.*telepathy")
    said = "The configuration was changed and has a fault"
    assert said in (await served.door.get("/")).text.replace("&#x27;", "'")
    ready = await served.door.get("/readyz")
    assert (ready.status_code, ready.json()["notices"][0][: len(said)]) == (200, said)

    served.file.write_text(good)
    assert (await served.reload()).json() == {"reloaded": True}
    assert await served.metric("firstbyte_config_last_reload_successful") == 1
    assert (await served.door.get("/readyz")).json()["notices"] == []


async def test_a_file_that_is_renamed_into_its_place_is_read_by_itself(served: Served) -> None:
    stream: list[str] = []

    async def listen() -> None:
        async with served.door.stream("GET", "/events") as events:
            async for line in events.aiter_lines():
                stream.append(line)  # noqa: PERF401 # one by one, as they come

    listening = asyncio.create_task(listen())
    await until(lambda: _heard(stream, "retry"), "the stream has begun")
    served.rename(served.config("{b: , c: }", "{coder: [p/c, p/b]}"))
    await served.process.line("read anew and is in use", within_s=240)

    assert (await served.door.get("/route")).json()["target"] == "p/c"
    await until(lambda: _opens(served, "p/c"), "the new target is held by hand")
    await until(lambda: _heard(stream, '"target": ?"p/c"'), "who listened before hears of the new target")
    listening.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await listening


async def test_a_file_that_stays_away_is_missed_and_changes_nothing(served: Served) -> None:
    text = served.file.read_text()
    served.file.unlink()

    await served.process.line("ERROR.*isn't used.*no such file", within_s=240)

    assert await served.metric("firstbyte_config_last_reload_successful") == 0
    assert await served.routes() == {"coder": ["p/a", "p/b"]}
    served.file.write_text(text)
    await served.process.line("read anew and is in use", within_s=240)
    assert await served.metric("firstbyte_config_last_reload_successful") == 1


async def _heard(stream: list[str], text: str) -> bool:
    return any(re.search(text, line) for line in stream)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("store: redis://127.0.0.1:1/0", "the store was changed, which takes a restart"),
        ("door: {host: '::1'}", "door: host was changed, which takes a restart"),
    ],
)
async def test_what_takes_a_restart_is_refused(served: Served, more: str, said: str) -> None:
    served.file.write_text(served.config("{b: }", "{coder: [p/b]}", more))

    assert (await served.reload()).json()["faults"] == [said]
    assert await served.routes() == {"coder": ["p/a", "p/b"]}


async def test_who_may_not_move_circuits_may_not_reload(served: Served, tmp_path: Path) -> None:
    env = environment(tmp_path / "other", {"A": "agent-token", "B": "admin-token"})
    path = tmp_path / "guarded.yaml"
    path.write_text(served.config("{a: }", "{coder: [p/a]}", "door: {agent_token_env: A, admin_token_env: B}"))
    async with started("run", "--config", str(path), env=env, cwd=tmp_path) as process:
        url = (await process.line("listening at (http://[^ ]+)", within_s=240))[1]
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as door:
            codes = [
                (await door.post("/-/reload", headers=headers)).status_code
                for headers in (
                    {},
                    {"Authorization": "Bearer agent-token"},
                    {"Authorization": "Bearer admin-token"},
                )
            ]
            path.write_text(path.read_text().replace("admin_token_env: B", "admin_token_env: A2"))
            refused = await door.post("/-/reload", headers={"Authorization": "Bearer admin-token"})
            path.write_text(path.read_text().replace("agent_token_env: A,", "agent_token_env: B,").replace("A2", "A"))
            swapped = await door.post("/-/reload", headers={"Authorization": "Bearer admin-token"})
            after = await door.post("/-/reload", headers={"Authorization": "Bearer admin-token"})

    assert codes == [401, 403, 200]
    assert "A2 is not set" in refused.json()["detail"]
    assert (swapped.status_code, after.status_code) == (200, 403)


async def test_a_service_that_nobody_sits_at_outlives_a_hangup(tmp_path: Path) -> None:
    async with Simulator({"p/a": "healthy"}) as simulator:
        served = Served(tmp_path / "firstbyte.yaml", None, None, simulator)  # type: ignore[arg-type] # not needed
        served.file.write_text(served.config("{a: }", "{coder: [p/a]}"))
        command = ("nohup", *FIRSTBYTE)
        async with started("run", env=environment(tmp_path / "data"), cwd=tmp_path, command=command) as process:
            await process.line("listening at", within_s=240)
            process.send(signal.SIGHUP)
            await process.line("read anew and is in use", within_s=240)
            process.send(signal.SIGTERM)
            assert await process.end(within_s=240) == 0


async def test_a_service_whose_standard_streams_are_closed_runs_and_ends_as_any_other(tmp_path: Path) -> None:
    async with Simulator({"p/a": "healthy"}) as simulator:
        served = Served(tmp_path / "firstbyte.yaml", None, None, simulator)  # type: ignore[arg-type] # not needed
        served.file.write_text(served.config("{a: }", "{coder: [p/a]}"))
        command = ("sh", "-c", 'exec "$@" <&- >&-', "sh", *FIRSTBYTE)
        async with started("run", env=environment(tmp_path / "data"), cwd=tmp_path, command=command) as process:
            url = (await process.line("listening at (http://[^ ]+)", within_s=240))[1]
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as door:
                assert (await door.get("/livez")).status_code == 200
            process.send(signal.SIGTERM)
            code = await process.end(within_s=240)

    assert (code, [line for line in process.said if "Assertion" in line]) == (0, [])


async def test_a_service_ends_with_the_terminal_that_it_was_started_from(tmp_path: Path) -> None:
    async with Simulator({"p/a": "healthy"}) as simulator:
        served = Served(tmp_path / "firstbyte.yaml", None, None, simulator)  # type: ignore[arg-type] # not needed
        served.file.write_text(served.config("{a: }", "{coder: [p/a]}"))
        ours, its = pty.openpty()
        log = (tmp_path / "log").open("wb")
        process = await asyncio.create_subprocess_exec(
            "setsid",
            "--ctty",
            *FIRSTBYTE,
            "run",
            env=environment(tmp_path / "data"),
            cwd=tmp_path,
            stdin=its,
            stdout=log,
            stderr=log,
        )
        os.close(its)
        log.close()
        try:
            await until(lambda: _said(tmp_path / "log", "listening at"), "it runs")
            os.close(ours)  # the window is shut
            async with asyncio.timeout(60):
                code = await process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    assert (code, using(tmp_path)) == (0, [])


async def _said(log: Path, text: str) -> bool:
    return text in await asyncio.to_thread(log.read_text)
