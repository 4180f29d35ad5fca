"""`firstbyte why`: what it says of each state and cause, and with which exit code."""

import asyncio
import json
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from breaker.answer import Ended
from breaker.api.shaping import by_target, of_move, of_standing
from breaker.circuit import Cause, Circuit, Move, due, hold, release, restored, state, until
from breaker.log import Log
from breaker.policy import Policy
from breaker.switchboard import Standing
from monitor.cli import main
from monitor.cli.explaining import MEASURES, _Known, _lines
from monitor.cli.times import Clock, span
from monitor.simulator import Simulator
from tests.api.scenes import knows
from tests.api.world import OTHER, PRIMARY, ROUTES
from tests.entries import entry, failed, good, probes, reports, silent, slow
from tests.flows.test_kill import CONFIG
from tests.probes.raw_server import Exchange, raw_server
from tests.processes import environment, ran, started

NOW = 1_796_040_000.0  # 2026-11-30 12:00 UTC
AT = NOW - 212.0
NEW = Circuit(epoch="e")
DEFAULTS = Policy()
SILENT = probes(slow(AT - 60), silent(AT))


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times are read in Madrid, in winter, at a terminal of 80 columns."""
    monkeypatch.setenv("TZ", "Europe/Madrid")
    monkeypatch.setenv("COLUMNS", "80")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def move(log: Log, at: float = AT, circuit: Circuit = NEW, policy: Policy = DEFAULTS) -> Move:
    """The move that a log makes at a moment."""
    made = due(circuit, log, policy, at)
    assert made is not None
    return made


def held(circuit: Circuit, *, opened: bool) -> Move:
    """A hold by hand that began 40 s ago and ends in 560 s."""
    return hold(circuit, NOW - 40, opened=opened, who="anna", why="new plan", until=NOW + 560)


def told(
    log: Log,
    *moves: Move,
    policy: Policy = DEFAULTS,
    now: float = NOW,
    others: int = 5,
    target: object = PRIMARY,
    circuit: Circuit | None = None,
    **about: object,
) -> str:
    """What is said at `now` of a target with this log after these moves, newest first; the lines joined by blanks."""
    lines = list(_lines(known(log, *moves, policy=policy, now=now, target=target, circuit=circuit, **about), others))
    assert [line for line in lines if len(line) > 80] == []
    return re.sub(r"\s+", " ", " ".join(lines))


def known(
    log: Log,
    *moves: Move,
    policy: Policy = DEFAULTS,
    now: float = NOW,
    target: Any = PRIMARY,
    circuit: Circuit | None = None,
    **about: object,
) -> _Known:
    found = circuit or (moves[0].circuit if moves else NEW)
    standing = Standing(
        target=target,
        policy=policy,
        circuit=found,
        state=state(found, now),
        until=until(found, now),
        log=log,
        stale=False,
    )
    said = {"stale": False, "age_s": 0.4, "self_suspect_s": None, **about}
    return _Known(
        said, of_standing(standing, by_target(ROUTES), now), [of_move(target.name, each, now) for each in moves]
    )


def test_an_open_circuit_is_told_from_what_it_is_to_what_comes_next() -> None:
    lines = "\n".join(_lines(known(SILENT, move(SILENT)), 5))

    assert lines == (
        "zai/glm-5.3-flash is open (generation 1), for 388 s more. Times are CET\n"
        "  (UTC+01:00).\n"
        "\n"
        "opened 12:56:28 because two first bytes in a row came later than 40 s: 43.0 s\n"
        "  (probe), 40.0 s and still silent (probe)\n"
        "  slow first bytes in a row: 2, limit 2\n"
        "  first byte: 43 s, limit 40 s\n"
        "  first byte: 40 s, limit 40 s\n"
        "\n"
        "The hold is over at 13:06:28. It closes then if the last 2 probes were good and\n"
        "  quick; otherwise it is tested.\n"
        "While it is tested a probe comes every 15 s: 2 good ones in a row close it, a\n"
        "  bad one opens it for another 600 s. With no telling probe for 300 s it closes\n"
        "  unverified; then one bad answer opens it again for 60 s.\n"
        "\n"
        "Its last answer: still silent, no first byte, 212 s ago (probe). Its usual first\n"
        "  byte isn't known yet."
    )


def test_a_target_that_has_never_moved_says_what_would_move_it() -> None:
    said = told(knows(probes(good(NOW - 12, first_byte_s=1.4)), usual_s=3.0))

    assert said.startswith("zai/glm-5.3-flash has never moved: it is closed, and agents may go there. Times are CET")
    for rule in (
        "It opens by itself with any of:",
        "2 first bytes in a row later than 40 s",
        "2 failed answers in a row; slow and failed ones count in one row",
        "50 % bad, of at least 10 answers within 120 s or of the last 10 probes",
        "a slump: first bytes stay about 3 times later than usual (now above",
        "a probe's 429 with Retry-After, or 3 in a row without",
        "a probe that is refused: no credit or quota, the key, the model",
    ):
        assert rule in said
    assert said.endswith("Its last answer: ok, first byte 1.4 s, 12 s ago (probe). Its usual first byte is 3 s.")


def test_rules_that_are_off_arent_named() -> None:
    said = told(Log(), policy=Policy(slump=False, probing=False, slow_row=1, errors_row=1))

    assert "1 first byte in a row later than 40 s" in said
    assert "1 failed answer in a row" in said
    assert "slump" not in said
    assert "a probe" not in said


def quota(at: float = AT, status: int = 402) -> Log:
    return probes(entry(at, status=status, first_byte_s=None))


def throttled(at: float) -> Log:
    asked = entry(at, status=429, first_byte_s=None)
    return probes(replace(asked, answer=replace(asked.answer, retry_after_s=240.0)))


HALF = [failed(AT - 60 * i) if i % 2 == 0 else good(AT - 60 * i) for i in range(9, -1, -1)]
SLUMP = knows(probes(*(good(AT - 60 * i, first_byte_s=20.0) for i in range(11, -1, -1))), usual_s=2.0)


@pytest.mark.parametrize(
    ("log", "because", "then"),
    [
        pytest.param(
            probes(failed(AT - 60), failed(AT)),
            "failed: http error 500 (probe), http error 500 (probe) bad answers in a row: 2, limit 2",
            "The hold is over at 13:06:28.",
            id="errors",
        ),
        pytest.param(
            probes(*HALF),
            "share of bad answers: 50 %, limit 50 % answers counted: 10, limit 10",
            "The hold is over at 13:06:28.",
            id="error_rate",
        ),
        pytest.param(
            SLUMP,
            "far later than this target's usual",
            "It closes then if the last 2 probes were good and quick, not above",
            id="slump",
        ),
        pytest.param(
            throttled(AT),
            "it asks to wait 240 s: rate limited 429 (probe) asked to wait: 240 s, limit 600 s",
            "It closes at 13:00:28, unless a probe is told again that too much is asked.",
            id="rate_limited",
        ),
        pytest.param(
            quota(),
            "because the account is out of credit or quota (402, probe)",
            "raise its limit. The first good probe closes it; one comes every 60 s, from 13:06:28 on every 15 s.",
            id="quota",
        ),
        pytest.param(
            quota(status=401),
            "because the key was refused (401, probe)",
            "Somebody has to act: look at the key in ZAI_API_KEY (api_key_env of zai).",
            id="auth",
        ),
        pytest.param(
            quota(status=404),
            "because the provider doesn't know this model or path (404, probe)",
            "Somebody has to act: look at the name of the model (glm-5.3-flash) and at base_url of zai.",
            id="not_found",
        ),
    ],
)
def test_each_cause_says_what_was_wrong_and_what_is_waited_for(log: Log, because: str, then: str) -> None:
    said = told(log, move(log))

    assert "opened 12:56:28 because" in said
    assert because in said
    assert then in said


@pytest.mark.parametrize(
    ("cause", "then"),
    [
        (Cause.ERRORS, "The hold is over, and agents stay away until it has recovered. While it is tested a probe"),
        (
            Cause.QUOTA,
            "top up the account of zai, or raise its limit. The first good probe closes it; one comes every 15 s.",
        ),
    ],
)
def test_a_half_open_circuit_says_how_it_is_tested(cause: Cause, then: str) -> None:
    opened = move(probes(failed(AT - 60), failed(AT)) if cause is Cause.ERRORS else quota())

    said = told(Log(), opened, now=AT + 700)

    assert said.startswith("zai/glm-5.3-flash is half-open (generation 1). Times")
    assert then in said


def test_a_target_that_nobody_probes_closes_unverified() -> None:
    policy = Policy(probing=False)
    log = reports(failed(AT - 60), failed(AT))
    opened = move(log, policy=policy)

    assert "It closes at 13:06:28, unverified, since it isn't probed; then one bad answer" in told(
        log, opened, policy=policy
    )


def test_a_half_open_circuit_that_nobody_probes_is_about_to_close() -> None:
    policy = Policy(probing=False)
    opened = move(reports(failed(AT - 60), failed(AT)), policy=policy)

    assert "It isn't probed, so it closes unverified." in told(Log(), opened, policy=policy, now=AT + 601)


def test_one_probe_that_is_enough_is_told_as_one() -> None:
    policy = Policy(recover_row=1, hold_growth=2.0)

    said = told(SILENT, move(SILENT, policy=policy), policy=policy)

    assert "It closes then if the last 1 probe was good and quick" in said
    assert "1 good one in a row closes it, a bad one opens it for another 1200 s." in said


def test_a_circuit_that_opened_again_says_so_and_what_came_before() -> None:
    first = move(SILENT)
    tested = probes(failed(AT + 610, began=AT + 608))
    again = move(tested, AT + 610, first.circuit)

    said = told(tested, again, first, now=AT + 622)

    assert "opened again 13:06:38 because an answer failed: http error 500 (probe)" in said
    assert "Other moves, newest first: 12:56:28 closed -> open slow: two first bytes in a row" in said


def test_a_closed_circuit_says_why_it_closed() -> None:
    first = move(SILENT)
    back = probes(good(AT + 540), good(AT + 595))
    closed = move(back, AT + 600, first.circuit)

    said = told(back, closed, first, now=AT + 660)

    assert said.startswith("zai/glm-5.3-flash is closed (generation 2). Times are CET (UTC+01:00).")
    assert "closed 13:06:28 because two good probes came in a row, the newest 5 s ago" in said
    assert "good probes in a row: 2, limit 2 age of the newest good probe: 5 s, limit 150 s" in said
    assert "It opens by itself with any of:" in said


@pytest.mark.parametrize(("later_s", "wary"), [(20.0, True), (70.0, False)])
def test_a_circuit_that_nobody_verified_says_until_when_it_is_wary(later_s: float, wary: bool) -> None:
    first = move(SILENT)
    closed = move(Log(), AT + 600, first.circuit)

    said = told(Log(), closed, first, now=AT + 600 + later_s)

    assert "closed 13:06:28 because no probe has told anything for 600 s" in said
    assert ("until 13:07:28 one bad answer opens it again" in said) is wary


def test_a_hold_by_hand_is_told_together_with_what_goes_on_underneath() -> None:
    opened = move(SILENT)

    said = told(SILENT, held(opened.circuit, opened=False), opened)

    assert said.startswith("zai/glm-5.3-flash is held closed by anna (generation 2), for 560 s more: new plan. Times")
    assert (
        "The automatic part goes on underneath: without the hold by hand it would be open (slow), for 388 s more."
        in said
    )
    assert "held closed 12:59:20 by hand, anna: new plan opened 12:56:28 because two first bytes" in said
    assert (
        "The hold by hand ends at 13:09:20; what goes on underneath is what remains then. The hold is over at" in said
    )


def test_what_moves_underneath_a_hold_is_told_as_that() -> None:
    hand = held(NEW, opened=False)
    underneath = move(probes(failed(NOW - 20), failed(NOW - 10)), NOW - 10, hand.circuit)

    said = told(Log(), underneath, hand)

    assert "held closed 12:59:20 by hand, anna: new plan opened underneath a hold 12:59:50 because two answers" in said


def test_a_hold_over_a_circuit_that_never_moved_says_what_would_open_it() -> None:
    said = told(Log(), held(NEW, opened=True))

    assert "without the hold by hand it would be closed." in said
    assert "It opens by itself with any of:" in said


def test_where_the_reason_is_forgotten_the_last_move_is_told() -> None:
    opened = move(SILENT)
    back = restored(opened.circuit, Circuit(epoch="f"), NOW)
    assert back is not None
    put_back = replace(opened, at=NOW, cause=Cause.RESTORED, why="the store had forgotten this circuit", circuit=back)

    assert "opened 13:00:00 because the store had forgotten this circuit" in told(Log(), put_back)


def test_only_so_many_other_moves_are_told_each_in_a_line() -> None:
    circuit = NEW
    moves: list[Move] = []
    for i in range(4):
        moves.insert(0, hold(circuit, NOW - 400 + 100 * i, opened=True, who="anna", why=f"{i} " * 60, until=NOW + 60))
        circuit = moves[0].circuit

    lines = list(_lines(known(Log(), *moves), 2))

    listed = lines[lines.index("Other moves, newest first:") + 1 :]
    assert [line[:60].rstrip() for line in listed] == [
        "  12:56:40  held-open -> held-open  manual: by hand, anna: 2",
        "  12:55:00  held-open -> held-open  manual: by hand, anna: 1",
    ]
    assert all(len(line) == 80 and line.endswith("…") for line in listed)
    assert "Other moves" not in "".join(_lines(known(Log(), *moves), 0))


def test_a_released_circuit_tells_the_release_among_other_moves() -> None:
    hand = held(NEW, opened=True)
    freed = release(hand.circuit, NOW - 5, who="anna", why="done")
    assert freed is not None

    said = told(Log(), freed, hand)

    assert said.startswith("zai/glm-5.3-flash is closed (generation 2).")
    assert "12:59:55" in said


def test_our_own_network_and_a_store_that_is_gone_are_said_first() -> None:
    said = told(SILENT, move(SILENT), self_suspect_s=41.2, stale=True)

    assert "Our own network seems to be down, for 41.2 s now: nothing moves until it is back. The service can't" in said


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"self_suspect": True}, "ok, first byte 1 s, 12 s ago, not counted, our own network was down (probe)"),
        ({"suspect_timing": True}, "ok, first byte 1 s, 12 s ago, not counted, the asker stood still (probe)"),
    ],
)
def test_an_answer_that_counts_for_nothing_says_why(facts: dict[str, bool], text: str) -> None:
    answered = good(NOW - 12)
    log = probes(replace(answered, answer=replace(answered.answer, **facts)))  # type: ignore[arg-type] # flags

    assert f"Its last answer: {text}." in told(log)


def test_a_failed_answer_is_told_with_its_status_and_who_saw_it() -> None:
    log = reports(failed(NOW - 12, status=502))

    assert "Its last answer: http error (502), no first byte, 12 s ago (agent)." in told(log)


def test_a_provider_without_a_key_is_told_to_name_one() -> None:
    log = probes(entry(AT, status=401, first_byte_s=None, ended=Ended.COMPLETE))

    assert "name the variable with the key of own in the configuration (api_key_env)" in told(
        log, move(log), target=OTHER
    )


def test_every_measure_has_a_name_of_its_own() -> None:
    source = "".join(path.read_text() for path in (Path(__file__).parents[1] / "breaker/circuit").glob("*.py"))
    compared = set(re.findall(r'Measure\(\s*"(\w+)"', source)) | {"slow_row", "errors_row"}

    assert len(compared) > 8
    assert compared == set(MEASURES)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.00 s"),
        (0.42, "0.42 s"),
        (1.4, "1.4 s"),
        (43.0, "43 s"),
        (388.2, "388 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (270_000, "3 d 3 h"),
    ],
)
def test_a_length_of_time_is_written_as(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_a_moment_of_another_day_comes_with_its_day() -> None:
    clock = Clock.of("2026-11-30T12:00:00.000Z", 60.0)

    assert (clock.at("2026-11-29T22:30:00.000Z"), clock.at("2026-11-29T23:30:00.000Z")) == (
        "29 Nov 23:30:00",
        "00:30:00",
    )
    assert (clock.ahead(3600.0), clock.ahead(86_400.0)) == ("14:01:00", "01 Dec 13:01:00")


def test_greenwich_needs_no_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    assert Clock.of(None, 0.0).zone == "UTC"


async def test_what_the_service_knows_is_told_with_the_code_that_says_whether_it_answered(tmp_path: Path) -> None:
    async with Simulator({"first/m": "healthy", "second/m": "healthy"}) as providers:
        text = CONFIG.format(first=providers.base_url("first"), second=providers.base_url("second"))
        (tmp_path / "firstbyte.yaml").write_text(text, encoding="utf-8")
        env = environment(tmp_path / "data")
        env["FIRSTBYTE_URL"] = f"http://127.0.0.1:{env['FIRSTBYTE_PORT']}"
        async with started("run", env=env, cwd=tmp_path) as service:
            url = (await service.line(r"listening at (http://\S+)"))[1]
            calm = await ran("why", "second/m", env=env, cwd=tmp_path)
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as door:
                report = {"target": "first/m", "ended": "complete", "status": 500, "seconds": 0.1}
                await door.post("/reports", json=[{**report, "id": "a"}, {**report, "id": "b"}])
            ill = await ran("why", "first/m", env=env, cwd=tmp_path)
            raw = await ran("why", "first/m", "--json", "--moves", "1", env=env, cwd=tmp_path)
            unknown = await ran("why", "third/m", env=env, cwd=tmp_path)
            many = await ran("why", "first/m", "--moves", "201", env=env, cwd=tmp_path)
            service.send(signal.SIGTERM)
            assert await service.end() == 0
        gone = await ran("why", "first/m", env=env, cwd=tmp_path)

    assert calm[0] == 0
    assert calm[1].startswith("second/m has never moved: it is closed")
    assert ill[0] == 0
    assert "two answers in a row failed: http error 500 (agent), http error" in re.sub(r"\s+", " ", ill[1])
    said = json.loads(raw[1])
    assert (said["target"]["target"], len(said["moves"]), said["stale"]) == ("first/m", 1, False)
    assert unknown[0] == 2
    assert "there is no target 'third/m'; there are: first/m, second/m" in unknown[1]
    assert many[0] == 2
    assert "--moves is 201; choose a number from 0 to 200" in many[1]
    assert gone[0] == 3
    assert "nothing answers at http://127.0.0.1:" in gone[1]


@pytest.mark.parametrize("words", [[], ["--json"]])
async def test_where_the_moves_cant_be_read_the_rest_is_told(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    stale = known(SILENT, move(SILENT), stale=True)

    async def answer(exchange: Exchange) -> None:
        if exchange.number == 1:
            await exchange.whole(json.dumps({**stale.said, "targets": [stale.target]}).encode())
        else:
            await exchange.whole(b'{"detail": "the store does not answer"}', status="503 Gone")

    async with raw_server(answer) as server:
        code = await asyncio.to_thread(main, ["why", PRIMARY.name, "--url", server.url, *words])

    said = capsys.readouterr().out
    assert code == 1
    assert json.loads(said)["moves"] is None if words else "Its moves can't be read: the store" in said


async def test_a_refusal_of_another_kind_stays_one(capsys: pytest.CaptureFixture[str]) -> None:
    calm = known(Log())

    async def answer(exchange: Exchange) -> None:
        if exchange.number == 1:
            await exchange.whole(json.dumps({**calm.said, "targets": [calm.target]}).encode())
        else:
            await exchange.whole(b'{"detail": "a fault of its own"}', status="500 No")

    async with raw_server(answer) as server:
        code = await asyncio.to_thread(main, ["why", PRIMARY.name, "--url", server.url])

    assert (code, capsys.readouterr().err) == (1, "firstbyte: a fault of its own\n")
