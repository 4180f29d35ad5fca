"""Commands, their words and their exit codes, as a user at a shell meets them."""

import asyncio
import json
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from monitor.cli import main
from monitor.cli.exits import UsageError
from monitor.cli.times import seconds, whole
from monitor.simulator import Simulator
from tests.flows.test_kill import CONFIG
from tests.probes.raw_server import Exchange, raw_server
from tests.processes import FIRSTBYTE, ROOT, environment, free_port, ran, started

KEY = "key-that-nobody-may-see"


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[tuple[Simulator, dict[str, str], Path]]:
    """Two simulated providers, and a folder with a configuration for them."""
    async with Simulator({"first/m": "healthy", "second/m": "healthy"}) as providers:
        text = CONFIG.format(first=providers.base_url("first"), second=providers.base_url("second"))
        (tmp_path / "firstbyte.yaml").write_text(text, encoding="utf-8")
        yield providers, environment(tmp_path / "data"), tmp_path


@pytest.mark.parametrize("lines", [1, 4])
def test_the_demonstration_ends_quietly_where_nobody_is_left_to_read_it(lines: int, tmp_path: Path) -> None:
    command, env = [*FIRSTBYTE, "run"], environment(tmp_path)
    with (
        subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as telling,
        subprocess.Popen(["head", "-n", str(lines)], stdin=telling.stdout, stdout=subprocess.PIPE) as reading,
    ):
        assert telling.stdout is not None
        telling.stdout.close()
        try:
            read, _ = reading.communicate(timeout=240)
            _, said = telling.communicate(timeout=240)
        finally:
            telling.terminate()
            reading.terminate()

    assert (telling.returncode, said, read.count(b"\n")) == (0, b"", lines)


async def test_the_demonstration_asks_its_own_service_past_any_proxy(tmp_path: Path) -> None:
    env = environment(tmp_path, {"ALL_PROXY": "gopher://127.0.0.1:1", "all_proxy": ""})
    async with started("run", env=env, cwd=tmp_path) as demonstration:
        await demonstration.line(r"GET /route\?route=coder", within_s=240)
        demonstration.send(signal.SIGTERM)
        assert await demonstration.end(within_s=240) == 0


async def test_version_says_which_one() -> None:
    assert main(["version"]) == 0
    assert main(["version", "--json"]) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90.0), ("90s", 90.0), ("10m", 600.0), ("2h", 7200.0), ("3d", 259_200.0), ("1.5h", 5400.0)],
)
def test_a_length_of_time_reads_as(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    ("length_s", "text"),
    [(0.3, "0 s"), (387.6, "388 s"), (3599.4, "3599 s"), (7200.0, "2 h"), (2_592_000.0, "30 d")],
)
def test_a_length_of_time_to_the_second_is_said_as(length_s: float, text: str) -> None:
    assert whole(length_s) == text


@pytest.mark.parametrize("text", ["", "soon", "-5", "1w", "nan", "1e3", "9" * 400])
def test_no_length_of_time(text: str) -> None:
    with pytest.raises(UsageError, match="no length of time"):
        seconds(text)


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        pytest.param(
            ["frobnicate"], 2, "there is no command 'frobnicate'; `firstbyte --help` lists", id="unknown command"
        ),
        pytest.param(["statuss"], 2, "there is no command 'statuss'; did you mean status?", id="a misspelt command"),
        pytest.param([], 2, "    status    Show each target", id="no command"),
        pytest.param(
            ["check", "a.yaml"], 2, "a configuration is named by --config a.yaml", id="a file without --config"
        ),
        pytest.param(
            ["check", "--jsn"], 2, "firstbyte check: error: unrecognized arguments: --jsn", id="unknown option"
        ),
        pytest.param(
            ["status", "now"], 2, "firstbyte status: error: unrecognized arguments: now", id="a word too many"
        ),
        pytest.param(
            ["--config", "a.yaml", "check"], 2, "--config belongs after the command", id="an option too early"
        ),
        pytest.param(["check", "--config", "-"], 2, "for the standard input write /dev/stdin", id="standard input"),
        pytest.param(["open", "a/b"], 2, "required: --why", id="a hold without a reason"),
        pytest.param(["status"], 3, "nothing answers at http://127.0.0.1:", id="no service"),
        pytest.param(["route", "coder"], 3, "nothing answers at http://127.0.0.1:", id="no service to route"),
        pytest.param(["check"], 2, "there is no firstbyte.yaml here; `firstbyte init` writes one", id="no file"),
        pytest.param(["serve"], 2, "`firstbyte serve` needs a configuration", id="serve without a file"),
        pytest.param(["monitor"], 2, "`firstbyte monitor` needs a configuration", id="monitor without a file"),
        pytest.param(["run", "--config", "gone.yaml"], 2, "gone.yaml: ", id="a file that isn't there"),
        pytest.param(["simulate", "a/m=sulking"], 2, "unknown behaviour 'sulking'; there are: healthy", id="behaviour"),
        pytest.param(["simulate", "--port", "70000"], 2, "port must be 0-65535", id="port"),
        pytest.param(["open", "a/b", "--why", "\udcff"], 2, "why has characters in it that can't be printed", id="why"),
        pytest.param(
            ["open", "a/b", "--why", "x", "--for", "soon"], 2, "'soon' is no length of time", id="for how long"
        ),
    ],
)
async def test_what_cant_be_done_says_why_in_a_line(words: list[str], code: int, line: str, tmp_path: Path) -> None:
    env = environment(tmp_path)
    env["FIRSTBYTE_URL"] = f"http://127.0.0.1:{env['FIRSTBYTE_PORT']}"

    got, said = await ran(*words, env=env, cwd=tmp_path)

    assert got == code
    assert line in said
    assert "Traceback" not in said


@pytest.mark.parametrize("words", [["status"], ["status", "--json"], ["release", "a/b", "--why", "x"], ["route"]])
async def test_another_service_at_the_address_is_no_service_of_ours(words: list[str], tmp_path: Path) -> None:
    """It answers all with an object that has our names and nothing of ours below them."""

    async def answer(exchange: Exchange) -> None:
        await exchange.whole(b'{"targets": [{}], "stale": false, "state": "closed", "role": 8}')

    async with raw_server(answer) as other:
        code, said = await ran(*words, "--url", other.url, env=environment(tmp_path), cwd=tmp_path)

    assert code == 3
    assert "is not Firstbyte" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("script", "code", "line"),
    [
        pytest.param("$FIRSTBYTE version >/dev/full", 1, "can't write the output: No space left on device", id="full"),
        pytest.param("$FIRSTBYTE version >&-", 0, "", id="closed"),
        pytest.param("set -o pipefail; mkfifo p; exec 3<>p; exec 4>p 3<&-; $FIRSTBYTE version >&4", 0, "", id="pipe"),
        pytest.param(
            f"mkfifo p; exec 3<>p; exec 4>p 3<&-; $FIRSTBYTE judge {ROOT}/tests/cases/gateways.jsonl >&4",
            0,
            "",
            id="judge",
        ),
        pytest.param(
            "mkdir x; cd x; rmdir ../x; $FIRSTBYTE check", 2, "the working folder can't be read", id="no folder"
        ),
        pytest.param("PYTHONIOENCODING=ascii $FIRSTBYTE init --config é.yaml", 0, r"wrote \xe9.yaml", id="ascii"),
    ],
)
async def test_where_the_shell_gives_no_solid_ground_the_code_still_tells(
    script: str, code: int, line: str, tmp_path: Path
) -> None:
    env = environment(tmp_path, {"FIRSTBYTE": "firstbyte"})
    shell = f'firstbyte() {{ "{FIRSTBYTE[0]}" -c "{FIRSTBYTE[2]}" "$@"; }}; {script}'
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        shell,
        env=env,
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(120):
        said = (await process.communicate())[0].decode()

    assert (process.returncode, said.strip()) == (code, said.strip() if line else "")
    assert line.replace("\\\\", "\\") in said
    assert "Traceback" not in said


async def test_a_bad_configuration_lists_all_its_faults(tmp_path: Path) -> None:
    (tmp_path / "firstbyte.yaml").write_text("policy: {slow: 3}\nroutes: {coder: [a/b]}\n", encoding="utf-8")

    for command in ("check", "run", "probe"):
        code, said = await ran(command, env=environment(tmp_path), cwd=tmp_path)
        assert code == 2
        assert "firstbyte.yaml:1:10" in said
        assert "firstbyte.yaml:2:18" in said


async def test_init_writes_a_configuration_that_check_likes_and_never_overwrites_one(tmp_path: Path) -> None:
    env = environment(tmp_path, {"OPENROUTER_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})

    assert (await ran("init", env=env, cwd=tmp_path))[0] == 0
    code, said = await ran("check", env=env, cwd=tmp_path)
    again, refused = await ran("init", env=env, cwd=tmp_path)

    assert code == 0
    assert "tokens" in said
    assert again == 2
    assert "--force overwrites it" in refused
    assert KEY not in (tmp_path / "firstbyte.yaml").read_text(encoding="utf-8") + said


async def test_init_says_that_it_wrote_an_example_where_it_found_no_key(tmp_path: Path) -> None:
    assert "an example since no key" in (await ran("init", env=environment(tmp_path), cwd=tmp_path))[1]


async def test_init_tells_how_to_check_the_file_that_it_wrote(tmp_path: Path) -> None:
    said = await ran("init", "--config", "other name.yaml", env=environment(tmp_path), cwd=tmp_path)

    assert said[1].endswith("then: firstbyte check --config 'other name.yaml'")
    assert (tmp_path / "other name.yaml").exists()


async def test_check_reckons_what_a_day_of_probes_costs(world: tuple[Simulator, dict[str, str], Path]) -> None:
    _, env, folder = world

    code, said = await ran("check", "--json", env=env, cwd=folder)

    reckoned = json.loads(said)
    assert code == 0
    assert reckoned["store"] is None
    assert reckoned["routes"] == {"coder": ["first/m", "second/m"]}
    assert reckoned["targets"][0]["probes_per_day"] == 43_200


async def test_probe_judges_each_target_and_is_bad_where_one_is(world: tuple[Simulator, dict[str, str], Path]) -> None:
    providers, env, folder = world
    await providers.set("second/m", "empty")

    good, well = await ran("probe", "first/m", env=env, cwd=folder)
    bad, lines = await ran("probe", "--json", env=env, cwd=folder)
    none, unknown = await ran("probe", "third/m", env=env, cwd=folder)

    verdicts = {said["target"]: said["verdict"] for said in map(json.loads, lines.splitlines())}
    assert (good, bad, none) == (0, 1, 2)
    assert well.startswith("first/m  ok  first byte")
    assert verdicts == {"first/m": "ok", "second/m": "empty"}
    assert "there is no target 'third/m'; there are: first/m, second/m" in unknown


async def test_probe_says_how_far_an_exchange_came_that_never_began(tmp_path: Path) -> None:
    leaving = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = leaving.sockets[0].getsockname()[1]
    urls = {
        "gone": f"http://127.0.0.1:{free_port()}",
        "left": f"http://127.0.0.1:{port}",
        "bare": f"https://127.0.0.1:{port}",
    }
    providers = [f"  {name}: {{base_url: '{url}', wire: openai-chat, models: {{m: }}}}" for name, url in urls.items()]
    text = "\n".join(["providers:", *providers, "routes: {coder: [gone/m, left/m, bare/m]}"])
    (tmp_path / "firstbyte.yaml").write_text(text, encoding="utf-8")
    async with leaving:
        code, said = await ran("probe", env=environment(tmp_path / "data"), cwd=tmp_path)

    assert code == 1
    assert re.search(r"gone/m  connect_error  .*\(no connection; look at the host", said)
    assert re.search(r"left/m  connect_error  .*\(a connection that broke before anything came\)", said)
    assert re.search(r"bare/m  connect_error  .*\(a connection, but no TLS over it; look at the certificates", said)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_probe_that_is_ended_before_its_verdict_is_never_good(
    world: tuple[Simulator, dict[str, str], Path], number: signal.Signals
) -> None:
    """While it waits it says so."""
    providers, env, folder = world
    await providers.set("first/m", "never_answers")
    async with started("probe", "first/m", env=env, cwd=folder) as probing:
        await probing.line(r"first/m: no first byte after 3 s; waiting on")
        probing.send(number)
        assert await probing.end() == 130


async def test_the_running_service_can_be_asked_and_told(world: tuple[Simulator, dict[str, str], Path]) -> None:
    _, env, folder = world
    env["FIRSTBYTE_URL"] = f"http://127.0.0.1:{env['FIRSTBYTE_PORT']}"
    async with started("run", env=env, cwd=folder) as service:
        await service.line("listening at")
        assert await ran("route", env=env, cwd=folder) == (0, "first/m  (primary, healthy)")
        opened = await ran("open", "first/m", "--who", "ann", "--why", "deploy", "--for", "1h", env=env, cwd=folder)
        held = await ran("route", "coder", "--json", env=env, cwd=folder)
        ill = await ran("status", env=env, cwd=folder)
        released = await ran("release", "first/m", "--who", "ann", "--why", "done", env=env, cwd=folder)
        well = await ran("status", "--json", env=env, cwd=folder)
        unknown = await ran("route", "codr", env=env, cwd=folder)
        service.send(signal.SIGTERM)
        assert await service.end() == 0

    assert opened[0] == 0
    assert re.search(r"first/m  held-open  manual  (1 h|3[56]\d\d s) more", opened[1])
    assert json.loads(held[1])["target"] == "second/m"
    assert ill[0] == 1
    assert released[0] == 0
    assert (well[0], json.loads(well[1])["stale"]) == (0, False)
    assert unknown[0] == 2
    assert "there is no route 'codr'; there are: coder" in unknown[1]


async def test_a_token_that_is_missing_or_too_little_is_said_with_where_it_is_taken_from(
    world: tuple[Simulator, dict[str, str], Path],
) -> None:
    _, env, folder = world
    env["FIRSTBYTE_URL"] = f"http://127.0.0.1:{env['FIRSTBYTE_PORT']}"
    env |= {"AGENT": "agent-token-made-up", "ADMIN": "admin-token-made-up"}
    with (folder / "firstbyte.yaml").open("a", encoding="utf-8") as file:
        file.write("door: {agent_token_env: AGENT, admin_token_env: ADMIN}\n")
    words = ("open", "first/m", "--who", "ann", "--why", "deploy")
    async with started("serve", env=env, cwd=folder) as service:
        await service.line("listening at")
        missing = await ran(*words, env=env, cwd=folder)
        too_little = await ran(*words, env={**env, "FIRSTBYTE_TOKEN": env["AGENT"]}, cwd=folder)
        enough = await ran(*words, env={**env, "FIRSTBYTE_TOKEN": env["ADMIN"]}, cwd=folder)

    assert (missing[0], too_little[0], enough[0]) == (2, 2, 0)
    assert missing[1].endswith("with a valid token; the token is taken from FIRSTBYTE_TOKEN")
    assert too_little[1].endswith("needs the administrator's token; the token is taken from FIRSTBYTE_TOKEN")


async def test_door_and_probes_run_apart_over_one_store(world: tuple[Simulator, dict[str, str], Path]) -> None:
    """`monitor` shows metrics alone, `serve` probes nothing, and what one finds the other says."""
    providers, env, folder = world
    own = {**env, "FIRSTBYTE_PORT": str(free_port())}
    await providers.set("first/m", "http_error,status=500")
    async with started("serve", env=env, cwd=folder) as door, started("monitor", env=own, cwd=folder) as probes:
        url = (await door.line(r"listening at (http://\S+)"))[1]
        small = (await probes.line(r"probing; metrics alone are at (http://\S+)"))[1]
        await probes.line(r"first/m: closed -> open")
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            async with asyncio.timeout(60):
                while (said := (await client.get(f"{url}/route")).json())["role"] != "backup":  # noqa: ASYNC110 # polled
                    await asyncio.sleep(0.02)
            paths = ("/livez", "/readyz", "/metrics", "/route", "/reports", "/targets", "/")
            codes = {path: (await client.get(f"{small}{path}")).status_code for path in paths}
            metrics = (await client.get(f"{small}/metrics")).text

    assert (said["target"], said["reason"]) == ("second/m", "errors")
    assert codes == dict.fromkeys(paths[:3], 200) | dict.fromkeys(paths[3:], 404)
    assert re.search(r"^firstbyte_probes_total\{.*first.*\} [1-9]", metrics, re.MULTILINE)


async def test_a_bad_report_to_the_door_is_confirmed_by_the_probes_in_another_process(
    world: tuple[Simulator, dict[str, str], Path],
) -> None:
    """With an hour between turns, only a confirmation comes that soon."""
    providers, env, folder = world
    text = (folder / "firstbyte.yaml").read_text(encoding="utf-8").replace("interval_s: 2", "interval_s: 3600")
    (folder / "firstbyte.yaml").write_text(text, encoding="utf-8")
    own = {**env, "FIRSTBYTE_PORT": str(free_port())}
    async with started("serve", env=env, cwd=folder) as door, started("monitor", env=own, cwd=folder) as probes:
        url = (await door.line(r"listening at (http://\S+)"))[1]
        await probes.line("probing; metrics alone are at")
        first = await asyncio.wait_for(providers.until_asked("first/m", 1), 60)
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            report = {"id": "a", "target": "first/m", "ended": "complete", "status": 500, "seconds": 0.1}
            assert (await client.post(f"{url}/reports", json=report)).status_code == 202
        await asyncio.wait_for(providers.until_asked("first/m", first.count + 1), 60)


async def test_a_taken_port_is_named_with_the_remedy(world: tuple[Simulator, dict[str, str], Path]) -> None:
    _, env, folder = world
    async with started("run", env=env, cwd=folder) as service:
        await service.line("listening at")
        code, said = await ran("run", env=env, cwd=folder)

        monitor, likewise = await ran("monitor", env=env, cwd=folder)

    assert (code, monitor) == (2, 2)
    for line in (said, likewise):
        assert f"can't listen at 127.0.0.1 port {env['FIRSTBYTE_PORT']}" in line
        assert "Address already in use; does another service run there? Set FIRSTBYTE_PORT" in line


async def test_simulate_says_where_everything_is_until_interrupted(tmp_path: Path) -> None:
    async with started("simulate", "a/m", "b/m=refused", env=environment(tmp_path), cwd=tmp_path) as simulator:
        await simulator.line(r"a answers at http://127.0.0.1:\d+/v1 for m")
        url = (await simulator.line(r"behaviours are switched at (http://\S+)"))[1]
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            assert (await client.get(url)).status_code == 200
        simulator.send(signal.SIGINT)
        assert await simulator.end() == 130
