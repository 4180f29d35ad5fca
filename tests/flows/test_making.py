"""What `make run` says at its end: nothing when its user ended it, and what went wrong when something did."""

import asyncio
import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.processes import ROOT, environment


def makefile(folder: Path) -> None:
    """A Makefile with what ours does to run the service, and nothing that installs anything."""
    shown = subprocess.run(
        ["make", "-n", "run"], cwd=ROOT, env=plain(os.environ), capture_output=True, text=True, check=True, timeout=120
    )
    recipe = shown.stdout.splitlines()[-1].replace(".venv/bin/python", shlex.quote(sys.executable))
    (folder / "Makefile").write_text(f"run:\n\t@{recipe} $(ARGS)\n")


def plain(env: Mapping[str, str]) -> dict[str, str]:
    """Without what a make that runs these tests hands on to others."""
    return {
        name: value for name, value in env.items() if name not in ("MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS")
    }


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param([], -signal.SIGINT, "", id="its user ends it"),
        pytest.param(["ARGS=--config /nowhere"], 2, "Error 2", id="it fails"),
    ],
)
async def test_make_tells_of_failures_and_not_of_an_end_that_was_wished(
    words: list[str], code: int, said: str, tmp_path: Path
) -> None:
    makefile(tmp_path)
    ours, its = pty.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            "setsid",
            "--ctty",
            "make",
            "run",
            *words,
            env=plain(environment(tmp_path / "data")),
            cwd=tmp_path,
            stdin=its,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout is not None
        async with asyncio.timeout(240):
            lines = []
            async for line in process.stdout:
                lines.append(line.decode())
                if "For agents" in lines[-1]:
                    os.write(ours, b"\x03")  # Ctrl-C
            assert await process.wait() == code
    finally:
        os.close(ours)
        os.close(its)

    assert [line for line in lines if "***" in line and said not in line] == []
    assert any(said in line for line in lines)
