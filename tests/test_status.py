"""`firstbyte status`: what stands beside its table, and when its exit code says that something is bad."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from breaker.api.shaping import by_target, of_standing
from breaker.circuit import Cause, Circuit, Held
from breaker.log import Log
from monitor.cli import main
from tests.api.scenes import NOW, circuit, entry, held, knows, scene
from tests.api.world import BACKUP, PRIMARY, ROUTES
from tests.probes.raw_server import Exchange, raw_server

CALM = {"stale": False, "age_s": 0.4, "self_suspect_s": None}
QUOTA = circuit(cause=Cause.QUOTA, moved_s=212, left_s=388)
SLOW = circuit(cause=Cause.SLOW, moved_s=212, left_s=388)
CLOSED_BY_HAND = Held(opened=False, who="anna", why="new plan", since=NOW - 60, until=NOW + 600)


async def status(*words: str, about: Mapping[str, object] = CALM, log: Log | None = None, **circuits: object) -> int:
    """Run the command against a service that knows these circuits."""
    view = scene(logs={} if log is None else {"primary": log}, **circuits)  # type: ignore[arg-type] # by short name
    said = {**about, "targets": [of_standing(standing, by_target(ROUTES), NOW) for standing in view.standings]}

    async def answer(exchange: Exchange) -> None:
        await exchange.whole(json.dumps(said).encode())

    async with raw_server(answer) as server:
        return await asyncio.to_thread(main, ["status", "--url", server.url, *words])


async def test_where_all_is_closed_the_table_says_it_all(capsys: pytest.CaptureFixture[str]) -> None:
    log = knows(Log(probes=(entry(PRIMARY, 12),)), usual_s=3.0)

    code = await status(log=log)

    lines = capsys.readouterr().out.splitlines()
    assert (code, len(lines)) == (0, 4)
    assert lines[1].endswith("1.40 s, 12 s ago, usually 3.00 s")


@pytest.mark.parametrize(
    ("about", "line"),
    [
        ({"self_suspect_s": 41.0}, "Our own network seems to be down: nothing moves until it is back."),
        ({"stale": True}, "The service can't reach its store; this is what was last known."),
    ],
)
@pytest.mark.parametrize("words", [[], ["--json"]])
async def test_a_service_that_sees_nothing_is_never_good(
    about: dict[str, object], line: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = await status(*words, about={**CALM, **about})

    assert code == 1
    assert (line in capsys.readouterr().out) is not bool(words)


async def test_of_a_store_that_answers_in_part_the_command_names_what_is_old(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = await status(about={**CALM, "stale": True}, gone={"backup": 12.0})

    line = f"The service can't reach a part of its store; of {BACKUP.name} this is what was last known."
    assert (code, line in capsys.readouterr().out) == (1, True)


@pytest.mark.parametrize(
    ("primary", "code", "line"),
    [
        pytest.param(
            QUOTA,
            1,
            "zai/glm-5.3-flash: somebody has to act: top up the account of zai, or raise its limit.",
            id="a refusal",
        ),
        pytest.param(
            replace(QUOTA, held=CLOSED_BY_HAND),
            0,
            "zai/glm-5.3-flash: somebody has to act: top up the account of zai, or raise its limit.",
            id="a refusal under a hold",
        ),
        pytest.param(
            replace(SLOW, held=CLOSED_BY_HAND),
            0,
            "zai/glm-5.3-flash: without the hold by hand it would be open (slow), for 388 s more.",
            id="held closed over an open circuit",
        ),
        pytest.param(
            held(opened=True, left_s=60),
            1,
            "zai/glm-5.3-flash: without the hold by hand it would be closed.",
            id="held open over a closed one",
        ),
    ],
)
async def test_what_a_table_has_no_place_for_stands_below_it(
    primary: Circuit, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await status(primary=primary) == code
    assert line in capsys.readouterr().out.splitlines()


async def test_a_circuit_that_is_slow_asks_nobody_to_act(capsys: pytest.CaptureFixture[str]) -> None:
    assert await status(primary=SLOW) == 1
    assert "act" not in capsys.readouterr().out
