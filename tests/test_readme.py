"""What the README says can be done."""

import asyncio
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from monitor.cli import main
from monitor.simulator import Simulator
from tests.flows.test_kill import CONFIG
from tests.processes import ROOT, environment, ran, started

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")

# The little of curl that the README uses: a URL, headers and a body.
_CURL = """
import sys, urllib.request
url, headers, data, words = sys.argv[1], {}, None, iter(sys.argv[2:])
for word in words:
    if word == "-H":
        name, _, value = next(words).partition(": ")
        headers[name] = value
    elif word == "-d":
        data = next(words).encode()
print(urllib.request.urlopen(urllib.request.Request(url, data, headers)).read().decode())
"""


def block(language: str, word: str) -> str:
    """The fenced block in a language in which a word stands."""
    (found,) = (each for each in re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL) if word in each)
    return str(found)


async def said_by(lines: str, env: Mapping[str, str]) -> str:
    """What lines of Python print, and nothing else may be said."""
    told = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-W", "error", "-c", lines],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert told.stderr == ""
    return told.stdout.strip()


async def test_an_agents_lines_work_against_the_demonstration(tmp_path: Path) -> None:
    env = environment(tmp_path)
    url = f"http://127.0.0.1:{env['FIRSTBYTE_PORT']}"
    curls = block("sh", "curl").replace("http://127.0.0.1:8642", url)
    if shutil.which("curl") is None:  # a machine with nothing but Python, make and git
        curls = f'curl() {{ {shlex.quote(sys.executable)} -c {shlex.quote(_CURL)} "$@"; }}\n{curls}'
    async with started("run", env=env, cwd=tmp_path) as demo:
        await demo.line("Status page")
        asked = await asyncio.to_thread(
            subprocess.run, ["bash", "-euc", curls], capture_output=True, text=True, check=True, timeout=120
        )
        role = await said_by(f"{block('python', 'firstbyte.route')}\nprint(to.role)", {**env, "FIRSTBYTE_URL": url})

    assert '"target": "aurora/swift-1"' in asked.stdout
    assert '"verdict": "ok"' in asked.stdout
    assert role in ("primary", "backup")


async def test_a_provider_of_the_demonstration_fails_by_the_line_that_it_prints(tmp_path: Path) -> None:
    env = environment(tmp_path)
    async with started("run", env=env, cwd=tmp_path) as demo:
        line = await demo.line(r"Let one fail +curl (.*)")
        url, _, body = shlex.split(line[1])
        said = await asyncio.to_thread(lambda: httpx.post(url, content=body, timeout=60).json())

    assert (said["target"], said["behaviour"]) == ("aurora/swift-1", "empty")


async def test_the_line_for_an_sdk_takes_its_steps_to_the_demonstration(tmp_path: Path) -> None:
    env = environment(tmp_path)
    own = {"FIRSTBYTE_URL": f"http://127.0.0.1:{env['FIRSTBYTE_PORT']}", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    kept = {name: value for name, value in env.items() if not name.upper().endswith("_PROXY")}
    step = """
with client:
    said = client.chat.completions.with_raw_response.create(model="m", messages=[{"role": "user", "content": "Hello"}])
print(said.headers["x-firstbyte-target"])
"""
    async with started("run", env=env, cwd=tmp_path) as demo:
        await demo.line("Status page")
        target = await said_by(block("python", "OpenAI") + step, {**kept, **own})

    assert target in ("aurora/swift-1", "borealis/swift-1")


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?:`|\$ |^)make ([a-z-]+)", TEXT, re.MULTILINE))))
def test_make_knows_what_the_readme_tells_to_make(target: str) -> None:
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 0


async def test_its_commands_for_own_providers_work_in_their_order(tmp_path: Path) -> None:
    commands = re.findall(r"\.venv/bin/firstbyte (\w+)", TEXT)
    env = environment(tmp_path / "data", {"OPENROUTER_API_KEY": "made-up-key", "DEEPSEEK_API_KEY": "made-up-key"})
    assert commands == ["init", "check", "probe"]

    assert (await ran("init", env=env, cwd=tmp_path))[0] == 0
    assert (await ran("check", env=env, cwd=tmp_path))[0] == 0
    # The third asks real providers, which tests never do: simulated ones stand in for them.
    async with Simulator({"first/m": "healthy", "second/m": "healthy"}) as providers:
        urls = {name: providers.base_url(name) for name in providers.providers}
        (tmp_path / "firstbyte.yaml").write_text(CONFIG.format(**urls), encoding="utf-8")
        code, said = await ran("probe", env=env, cwd=tmp_path)

    assert code == 0
    assert "first/m  ok  first byte" in said


def test_every_command_of_the_command_line_has_its_row_in_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    ([a-z]+) ", capsys.readouterr().out, re.MULTILINE)
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")

    assert len(commands) >= 13
    assert [name for name in commands if not re.search(rf"`(firstbyte )?{name}\b", page)] == []
