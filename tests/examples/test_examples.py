"""Each example, run as it stands, against the demonstration's providers."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.demonstration import settings, simulator
from tests.processes import ROOT, environment
from tests.service import running

EXAMPLES = ROOT / "examples"
LIMIT_S = 120.0
# What curl.sh needs of curl, for a machine that has none.
_CURL = """\
#!{python}
import sys, urllib.request
url, headers, data, shows = None, {{}}, None, False
words = iter(sys.argv[1:])
for word in words:
    if word == "-H":
        name, _, value = next(words).partition(": ")
        headers[name] = value
    elif word == "-d":
        data = next(words).encode()
    elif word == "-i":
        shows = True
    elif word != "-s":
        url = word
with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as response:
    if shows:
        print(f"HTTP/1.1 {{response.status}}", *map(": ".join, response.getheaders()), "", sep="\\n")
    print(response.read().decode(), end="")
"""


@asynccontextmanager
async def demonstration(data: Path) -> AsyncIterator[dict[str, str]]:
    """The demonstration without its story: the environment in which an example finds it.

    Its probes come seldom, so that it is the example's own steps that meet the failure first.
    """
    environ = environment(data)
    async with simulator() as providers:
        told = settings(providers, environ)
        plans = [replace(plan, policy=replace(plan.policy, interval_s=60.0)) for plan in told.targets]
        async with running(replace(told, targets=tuple(plans))) as service:
            kept = {name: value for name, value in environ.items() if not name.upper().endswith("_PROXY")}
            yield {**kept, "FIRSTBYTE_URL": service.url}


async def ran(command: Sequence[str], env: Mapping[str, str]) -> str:
    """What a command prints; it must end well."""
    process = await asyncio.create_subprocess_exec(
        *command, env=env, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, said.decode()
    return said.decode()


# The first step at the primary; one that the primary fails and the backup answers; one that goes there at once.
BY_HEADERS = (
    r"step 1: 'Lorem .*  target: {primary}  role: primary  attempts: 1  verdicts: ",
    r"step \d+: 'Lorem .*  target: {backup}  role: backup  attempts: 2  verdicts: gateway_text",
    r"step \d+: 'Lorem .*  target: {backup}  role: backup  attempts: 1  verdicts: ",
)
BY_HAND = (
    r"step 1 goes to {primary} \(healthy\)\n  {primary} \(primary\): ok\n  'Lorem ",
    r"step \d+ goes to {primary} \(healthy\)\n  {primary} \(primary\): overloaded\n  {backup} \(backup\): ok\n",
    r"step \d+ goes to {backup} \(errors\), switched\n  {backup} \(backup\): ok\n",
)
BY_DOOR = (
    r"x-firstbyte-target: {primary}\s+x-firstbyte-role: primary\s+x-firstbyte-attempts: 1\s",
    r"x-firstbyte-target: {backup}\s+x-firstbyte-role: backup\s+x-firstbyte-attempts: 2\s+\S+ gateway_text,ok\s",
)
UNDONE = (
    r": Anna updated\n.*: Error: TimeoutError: \n.*: Error: NotStartedError: refund was not started again: nobody",
    r"send_email, as the model is told: .*: send_email was not started: it needs refund, which hasn't succeeded",
    r"done: False, partially_completed, decided by: (service|local)",
    r"Nobody knows whether it happened .*: `refund` \(TimeoutError\)\. Not started: `send_email`, which needs refund\.",
)
CODER = ("aurora/swift-1", "borealis/swift-1")
WRITER = ("cirrus/steady-2", "dorado/steady-2")


EVERY = [
    ("openai_sdk", CODER, BY_HEADERS),
    ("anthropic_sdk", WRITER, BY_HEADERS),
    ("langchain_chat", CODER, BY_HEADERS),
    ("plain_loop", CODER, BY_HAND),
    ("curl.sh", CODER, BY_DOOR),
    ("is_it_done", CODER, UNDONE),
]


@pytest.mark.parametrize(("name", "targets", "tells"), EVERY, ids=[name for name, _, _ in EVERY])
async def test_it_shows_what_it_says(name: str, targets: tuple[str, str], tells: Sequence[str], tmp_path: Path) -> None:
    python = [sys.executable, "-W", "error", "-m", f"examples.{name}"]
    command = [str(EXAMPLES / name)] if name.endswith(".sh") else python
    async with demonstration(tmp_path) as env:
        said = await ran(command, {**env, "PATH": path(tmp_path)})

    patterns = [one.format(primary=targets[0], backup=targets[1]) for one in tells]
    places = [found and found.start() for found in (re.search(pattern, said) for pattern in patterns)]
    assert None not in places, said
    assert "Warning" not in said


def path(folder: Path) -> str:
    """The PATH, with a stand-in for curl where there is none."""
    if shutil.which("curl") is None:
        stand_in = folder / "curl"
        stand_in.write_text(_CURL.format(python=sys.executable), encoding="utf-8")
        stand_in.chmod(0o755)
    return os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])


def test_each_example_is_run_and_named_in_their_readme() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    found = {one.name.removesuffix(".py") for one in EXAMPLES.iterdir() if one.suffix in (".py", ".sh")}

    assert found - {"__init__", "demonstration"} == {name for name, _, _ in EVERY}
    assert {name for name in found if f"]({name}" not in text} == {"__init__"}
