"""What a configuration becomes, and what is said about a bad one."""

from dataclasses import Field, fields
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breaker.policy import Policy
from breaker.target import Ability
from monitor.cli.reckoning import Reckoning
from monitor.config import ConfigError, data_folder, find, load
from monitor.config.faults import Faults, Place
from monitor.config.source import MAX_BYTES
from monitor.settings import Budget, Price, ProbeShape, Settings
from tests.config_cases import BAD, FOLDER, GOOD, environment, message

_SMALL = (FOLDER / "good-smallest.yaml").read_text()


@pytest.fixture
def _in_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


def _good(name: str) -> Settings:
    return load(FOLDER / f"good-{name}.yaml", environment(f"good-{name}.yaml"))


def _faults(path: Path, text: str | bytes, environ: dict[str, str] | None = None) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        load(path, environ or {})
    return str(caught.value).replace(f"{path}", "F")


# Bad ones


@pytest.mark.usefixtures("_in_folder")
@pytest.mark.parametrize("name", BAD)
def test_bad_file_gives_its_exact_message(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(Path(name), environment(name))
    assert str(caught.value) == message(name)


def test_there_are_bad_files_and_each_has_a_message() -> None:
    assert len(BAD) >= 25
    assert {Path(name).stem for name in BAD} == {path.stem for path in FOLDER.glob("*.txt")}


@pytest.mark.parametrize("name", BAD)
def test_no_message_shows_a_secret(name: str) -> None:
    assert "hunter2" not in message(name).lower()


def test_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: there is no such file\n    `firstbyte init` writes one"):
        load(tmp_path / "nowhere.yaml", {})


def test_folder_is_told_from_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is a folder, not a file\n    did you mean .*/firstbyte\.yaml\?"):
        load(tmp_path, {})


def test_path_that_no_system_takes_is_a_fault() -> None:
    with pytest.raises(ConfigError, match="can't be read: embedded null byte"):
        load(Path("a\0b"), {})


def test_huge_file_is_refused_unread(tmp_path: Path) -> None:
    assert "larger than 128 KiB" in _faults(tmp_path / "f.yaml", b"a" * 10_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "[" * MAX_BYTES,
        "{" * MAX_BYTES,
        "- " * (MAX_BYTES // 2),
        "? " * (MAX_BYTES // 2),
        "a: [" + "x," * (MAX_BYTES // 2 - 4) + "]",
        "\n" * MAX_BYTES,
        "".join(f"a{n}: 1\n" for n in range(13_000)),
        "policy:\n" + "".join(f" slow{n}: 1\n" for n in range(9_000)),
        "a" * MAX_BYTES,
        "&a " * (MAX_BYTES // 3),
    ],
    ids=["brackets", "braces", "dashes", "marks", "items", "lines", "keys", "near-keys", "word", "anchors"],
)
def test_file_of_the_largest_size_is_judged_whatever_is_in_it(tmp_path: Path, text: str) -> None:
    assert len(text) <= MAX_BYTES
    assert _faults(tmp_path / "f.yaml", text).startswith("F")


@pytest.mark.parametrize("sign", ["a", "1", "_1", ":1", ",1", "a1", "A1", "-", ".", "@"])
@pytest.mark.parametrize(
    "before",
    [
        "policy:\n slow_s: ",
        "policy:\n slow_row: ",
        "door:\n host: ",
        "door:\n agent_token_env: ",
        "store: redis://",
        "x: *",
    ],
    ids=["number", "whole", "host", "variable", "store", "alias"],
)
def test_value_of_the_largest_size_is_judged_whatever_is_in_it(tmp_path: Path, before: str, sign: str) -> None:
    said = _faults(tmp_path / "f.yaml", before + sign * ((MAX_BYTES - 100) // len(sign)))
    assert len(said) < 1_000


def test_a_thousand_wrong_targets_are_counted_to_the_last(tmp_path: Path) -> None:
    names = ", ".join(f"zai/m{n}" for n in range(3_000))
    said = _faults(tmp_path / "f.yaml", _SMALL.replace("[zai/glm-5.3-flash]", f"[{names}]"))
    assert said.endswith("… and 2951 more")


def test_faults_come_in_the_order_of_the_file_and_the_environment_last(tmp_path: Path) -> None:
    said = _faults(tmp_path / "f.yaml", "stor: x\n" + _SMALL.replace("openai-chat", "x"), {"FIRSTBYTE_PORT": "x"})
    assert [line.split(" ")[0] for line in said.splitlines()[::2]] == ["F:1:1:", "F:5:11:", "FIRSTBYTE_PORT:"]


def test_the_same_fault_by_an_alias_is_told_once(tmp_path: Path) -> None:
    text = "x-p: &p {slow_s: 400}\n" + _SMALL.replace("glm-5.3-flash:\n", "a: {policy: *p}\n      b: {policy: *p}\n")
    said = _faults(tmp_path / "f.yaml", text.replace("[zai/glm-5.3-flash]", "[zai/a, zai/b]"))
    assert said.count("could never trip: silence") == 2  # once for each model, since each names its own section


def test_flaw_is_put_where_the_nearest_cause_is(tmp_path: Path) -> None:
    text = "policy: {slow_s: 100, row_gap_intervals: 10}\n" + _SMALL.replace(
        "    models", "    policy: {silence_s: 90}\n    models"
    )
    assert _faults(tmp_path / "f.yaml", text).startswith("F:1:18: policy: slow_s is 100 and could never trip")


def test_broken_number_causes_no_second_fault_about_what_would_hold_without_it(tmp_path: Path) -> None:
    text = "policy: {slow_s: 130, silence_s: 3m}\n" + _SMALL
    assert "could never trip: silence" not in _faults(tmp_path / "f.yaml", text)


def test_broken_number_that_a_nearer_one_replaces_hides_nothing(tmp_path: Path) -> None:
    text = "policy: {slow_s: 40s}\n" + _SMALL.replace("    models", "    policy: {slow_s: 130}\n    models")
    said = _faults(tmp_path / "f.yaml", text)
    assert "provider zai policy: slow_s is 130 and could never trip" in said


def test_misspelt_variable_of_the_file_is_no_reason_to_look_up_a_store_that_the_environment_names() -> None:
    assert _good("environment").store_url == "rediss://:hunter2@store:6380/1"


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), st.binary(max_size=200)))
def test_nothing_but_config_error_comes_of_any_file(
    tmp_path_factory: pytest.TempPathFactory, content: str | bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"))
    with pytest.raises(ConfigError) as caught:
        load(path, {})
    str(caught.value).encode()


_LINES = (FOLDER / "good-full.yaml").read_text().splitlines()
_PIECES = st.sampled_from(
    [
        "",
        "~",
        "*a",
        "&a x",
        "!!x y",
        "[",
        "]",
        "{",
        "}",
        ": ",
        "- ",
        "\t",
        '"\\ud800"',
        "'",
        '"',
        "|",
        "%",
        "0x1",
        "é",
        "<<: 1",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(_LINES) - 1), st.integers(0, 60), st.integers(0, 10), _PIECES)
def test_a_good_file_with_one_piece_broken_loads_or_gives_config_error(
    tmp_path_factory: pytest.TempPathFactory, line: int, start: int, length: int, piece: str
) -> None:
    lines = list(_LINES)
    lines[line] = lines[line][:start] + piece + lines[line][start + length :]
    path = tmp_path_factory.getbasetemp() / "broken.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        load(path, environment("good-full.yaml"))
    except ConfigError as error:
        str(error).encode()


# Good ones


@pytest.mark.parametrize("name", GOOD)
def test_good_file_loads(name: str) -> None:
    found = load(FOLDER / name, environment(name))
    assert found.targets
    assert found.routes
    assert found.source == FOLDER / name


def test_smallest_file_has_every_default() -> None:
    found = _good("smallest")
    assert found.plans["zai/glm-5.3-flash"].policy == Policy()
    assert found.plans["zai/glm-5.3-flash"].probe == ProbeShape()
    assert (found.store_url, found.door.host, found.door.port) == (None, "127.0.0.1", 8642)
    assert found.data == Path("/home/someone/.local/state/firstbyte") or found.data.name == "firstbyte"


def test_sections_left_empty_are_as_good_as_left_out() -> None:
    empty, smallest = _good("defaults-left-empty"), _good("smallest")
    assert (empty.targets, empty.routes, empty.door) == (smallest.targets, smallest.routes, smallest.door)


def test_file_with_a_byte_order_mark_and_line_ends_of_windows_is_the_same_file() -> None:
    assert _good("byte-order-mark").targets == _good("smallest").targets


def test_nearest_number_wins() -> None:
    plans = _good("full").plans
    assert {name: (p.policy.slow_s, p.policy.hold_s, p.policy.jitter_s) for name, p in plans.items()} == {
        "zai/glm-5.3-flash": (10, 300, 0),
        "zai/glm-5.3": (20, 300, 0),
        "claude/claude-haiku-4-5": (30, 300, 3),
    }
    assert {name: (p.probe.prompt_tokens, p.probe.stable_prefix) for name, p in plans.items()} == {
        "zai/glm-5.3-flash": (15_000, True),
        "zai/glm-5.3": (12_000, True),
        "claude/claude-haiku-4-5": (12_000, False),
    }


def test_full_file_says_all_of_it() -> None:
    found = _good("full")
    plan = found.plans["zai/glm-5.3-flash"]
    assert plan.target.provider.base_url == "https://api.z.ai/api/paas/v4"
    assert plan.price == Price(input_usd=0.1, output_usd=0.4)
    assert plan.budget == Budget(tokens_per_day=5_000_000, usd_per_day=2.0)
    assert (found.door.host, found.door.port) == ("0.0.0.0", 9000)
    assert (found.door.agent_token, found.door.admin_token) == ("agent-test", "admin-test")
    assert found.store_url == "redis://localhost:6379/0"
    assert [(r.name, [target.name for target in r.targets], r.max_open_share) for r in found.routes] == [
        ("coder", ["zai/glm-5.3-flash", "claude/claude-haiku-4-5"], 1.0),
        ("default", ["zai/glm-5.3", "zai/glm-5.3-flash"], 1.0),
        ("crowd", ["zai/glm-5.3", "zai/glm-5.3-flash", "claude/claude-haiku-4-5"], 0.5),
    ]


def test_what_a_model_can_is_its_list_and_what_is_not_said_is_not_known() -> None:
    targets = {name: plan.target for name, plan in _good("full").plans.items()}

    assert {name: (target.can, target.max_input_tokens) for name, target in targets.items()} == {
        "zai/glm-5.3-flash": (None, None),
        "zai/glm-5.3": ((Ability.TOOLS, Ability.VISION), 200_000),
        "claude/claude-haiku-4-5": ((), None),
    }


def test_the_reckoning_says_what_targets_take_where_it_is_said() -> None:
    found = Reckoning(settings=_good("full"))

    assert "  zai/glm-5.3 takes tools, vision; at most 200,000 tokens\n" in found.as_text()
    assert "  claude/claude-haiku-4-5 takes text alone\n" in found.as_text()
    assert found.as_text().count(" takes ") == 2
    assert [(each["can"], each["max_input_tokens"]) for each in found.as_json()["targets"]] == [
        (None, None),
        (["tools", "vision"], 200_000),
        ([], None),
    ]


def test_the_reckoning_adds_up_what_all_probes_of_a_day_cost() -> None:
    assert "\n  together: 4,320 probes, " in Reckoning(settings=_good("full")).as_text()
    assert "together" not in Reckoning(settings=_good("smallest")).as_text()


def test_the_reckoning_says_how_many_targets_of_a_route_stay_out_at_a_time() -> None:
    said = Reckoning(settings=_good("full")).as_text()

    crowd = "crowd: zai/glm-5.3, then zai/glm-5.3-flash, claude/claude-haiku-4-5"
    assert f"  {crowd}; no more than 1 stay out at a time\n" in said
    assert said.count("stay out at a time") == 1


def test_own_keys_win_over_merged_ones_and_the_first_merged_wins() -> None:
    plans = _good("anchors").plans
    assert (plans["a/m"].policy.slow_s, plans["a/m"].policy.hold_s) == (10, 60)
    assert (plans["b/m"].policy.slow_s, plans["b/m"].policy.hold_s) == (5, 300)


def test_names_are_taken_as_they_are_written() -> None:
    found = _good("odd-names")
    assert list(found.plans) == ["1/4.5", "1/no", "1/2024-10-22", "1/null", "1/010", "on/a/b:free", "on/1:30"]
    assert found.routes[0].name == "yes"


def test_environment_stands_above_the_file() -> None:
    found = _good("environment")
    assert (found.door.host, found.door.port) == ("::1", 9001)
    assert found.data == Path("/var/lib/firstbyte")


def test_empty_variable_is_as_good_as_none(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(_SMALL)
    environ = dict.fromkeys(["FIRSTBYTE_HOST", "FIRSTBYTE_PORT", "FIRSTBYTE_STORE", "FIRSTBYTE_DATA"], "")
    assert load(path, environ).door.port == 8642


@pytest.mark.parametrize(
    "url",
    [
        "redis://h",
        "redis://h:1/3",
        "rediss://user@h:6380/0",
        "unix:///run/redis.sock",
        "rediss://h/0?ssl_cert_reqs=none",
        "redis+sentinel://ann@h:1,h:2/main/3",
        "rediss+sentinel://h,[::1]/main?ssl_cert_reqs=none",
        "redis+cluster://h:1,h:2,[::1]:3?socket_keepalive=yes",
    ],
)
def test_store_address_is_taken_as_it_is(tmp_path: Path, url: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"store: {url}\n{_SMALL}")
    assert load(path, {}).store_url == url


def test_store_with_a_password_comes_from_the_variable_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"store_env: STORE_URL\n{_SMALL}")
    found = load(path, environment("bad-port.yaml"))
    assert found.store_url == "redis://:hunter2@localhost:6379/0"
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("keys", "url"),
    [
        ("{sentinels: [h:1], service: main}", "redis+sentinel://h:1/main/0"),
        (
            "{sentinels: [h, '[::1]:2'], service: m, database: 4, tls: true, username: a@b, password_env: STORE_URL}",
            "rediss+sentinel://a%40b:redis%3A%2F%2F%3Ahunter2%40localhost%3A6379%2F0@h,[::1]:2/m/4",
        ),
        (
            "{sentinels: [h], service: m, sentinel_username: s, sentinel_password_env: AGENT_TOKEN}",
            "redis+sentinel://h/m/0?sentinel_username=s&sentinel_password=agent-test",
        ),
        ("{cluster: [h:1, h:2], password_env: AGENT_TOKEN}", "redis+cluster://:agent-test@h:1,h:2"),
        ("{cluster: [h], username: ann, tls: false}", "redis+cluster://ann:@h"),
    ],
    ids=["sentinels", "all", "sentinels' password", "cluster", "no password"],
)
def test_store_is_written_as_keys_too(tmp_path: Path, keys: str, url: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"store: {keys}\n{_SMALL}")
    found = load(path, environment("bad-port.yaml"))
    assert found.store_url == url
    assert "hunter2" not in repr(found)


def test_keys_of_a_store_need_no_password_where_the_environment_names_another(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"store: {{cluster: [h], password_env: NOT_THERE}}\n{_SMALL}")
    assert load(path, {"FIRSTBYTE_STORE": "redis://other"}).store_url == "redis://other"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (None, "Store: a server of its own, with its data in /home/someone/.local/state/firstbyte\n"),
        ("redis://ann:hunter2@h/3?client_name=hunter2", "Store: redis://h:6379\n"),
        ("redis+sentinel://:hunter2@h/main?sentinel_password=hunter2", "Store: redis+sentinel://h:26379/main\n"),
    ],
    ids=["embedded", "one", "sentinels"],
)
def test_the_reckoning_says_where_the_store_is_without_its_secrets(tmp_path: Path, url: str | None, said: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(_SMALL)
    reckoned = Reckoning(settings=load(path, {"HOME": "/home/someone", "FIRSTBYTE_STORE": url or ""}))
    assert said in reckoned.as_text()
    assert "hunter2" not in f"{reckoned.as_text()}{reckoned.as_json()}"


@pytest.mark.parametrize(
    "url",
    [
        "unix://run.sock",
        "redis://h:0/0",
        "redis://h:1/a",
        "redis:///0",
        "unix:a@b",
        "://",
        "redis://h?timeot=5",
        "redis://h?db=x",
        "unix:///s?x=1",
        "rediss://h?ssl_cert_reqs=no",
        "redis+sentinel://h",
        "redis+sentinel://h/main/x",
        "redis+sentinel://h/main?retry=x",
        "redis+cluster://h/3",
        "redis+cluster://h,,h",
        "redis+cluster://h?hunter2=x",
        "redis+hunter2://h",
        "valkeys://h",
        "sentinel://h",
    ],
)
def test_store_address_that_leads_nowhere_is_a_fault(tmp_path: Path, url: str) -> None:
    assert _faults(tmp_path / "f.yaml", f"store: '{url}'\n{_SMALL}").startswith("F:1:8: store ")


@pytest.mark.parametrize(
    "url", ["http://a..b", "http://xn--/", "http://[v1.x]/", "http://256.1.1.1", "http://h|x/", "http://-x"]
)
def test_provider_at_a_host_that_cant_be_is_a_fault(tmp_path: Path, url: str) -> None:
    text = f"providers: {{a: {{base_url: '{url}', wire: openai-chat, models: {{m: }}}}}}\nroutes: {{r: [a/m]}}"

    assert "and no host can have that name" in _faults(tmp_path / "f.yaml", text)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.9.9.9", "::1"])
def test_no_token_is_asked_for_on_loopback(tmp_path: Path, host: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"door: {{host: '{host}'}}\n{_SMALL}")
    assert load(path, {}).door.host == host


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("30", 30),
        ("30.5", 30.5),
        (".5", 0.5),
        ("3e1", 30),
        ("+30", 30),
        ("1_00", None),
        ("e5", None),
        ("-", None),
        ("1.2.3s", None),
    ],
)
def test_number_is_read_as_people_mean_it(tmp_path: Path, text: str, value: float | None) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"policy: {{slow_s: {text}}}\n{_SMALL}")
    if value is None:
        assert "slow_s is" in _faults(path, path.read_text())
    else:
        assert load(path, {}).targets[0].policy.slow_s == value


@pytest.mark.parametrize("field", [field for field in fields(Policy) if field.type is not bool], ids=lambda f: f.name)
def test_every_number_of_the_policy_can_be_set(tmp_path: Path, field: Field[object]) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"policy: {{{field.name}: {field.default}}}\n{_SMALL}")
    assert getattr(load(path, {}).targets[0].policy, field.name) == field.default


# Where things are


def test_the_file_asked_for_comes_first_then_the_variable_then_the_folder(tmp_path: Path) -> None:
    environ = {"FIRSTBYTE_CONFIG": "named.yaml"}
    assert find(None, {}, tmp_path) is None
    (tmp_path / "firstbyte.yml").touch()
    assert find(None, {}, tmp_path) == tmp_path / "firstbyte.yml"
    (tmp_path / "firstbyte.yaml").touch()
    assert find(None, {}, tmp_path) == tmp_path / "firstbyte.yaml"
    assert find(None, environ, tmp_path) == Path("named.yaml")
    assert find(Path("asked.yaml"), environ, tmp_path) == Path("asked.yaml")


def test_link_to_nowhere_is_found_so_that_loading_can_say_so(tmp_path: Path) -> None:
    (tmp_path / "firstbyte.yaml").symlink_to(tmp_path / "gone")
    assert find(None, {}, tmp_path) == tmp_path / "firstbyte.yaml"


@pytest.mark.parametrize(
    ("environ", "platform", "folder"),
    [
        ({"HOME": "/h"}, "linux", "/h/.local/state/firstbyte"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "linux", "/s/firstbyte"),
        ({"HOME": "/h", "XDG_STATE_HOME": "s"}, "linux", "/h/.local/state/firstbyte"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "darwin", "/h/Library/Application Support/firstbyte"),
        ({"HOME": "/h", "FIRSTBYTE_DATA": "/d"}, "darwin", "/d"),
        ({"HOME": "/h", "FIRSTBYTE_DATA": "~/d"}, "linux", "/h/d"),
        ({"HOME": "/h", "FIRSTBYTE_DATA": "~"}, "linux", "/h"),
    ],
)
def test_state_goes_where_the_system_keeps_it(environ: dict[str, str], platform: str, folder: str) -> None:
    assert data_folder(environ, platform) == Path(folder)


def test_relative_data_folder_is_fixed_at_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_folder({"FIRSTBYTE_DATA": "d"}) == tmp_path / "d"


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pathlib.Path.home", _homeless)

    assert (
        _faults(tmp_path / "f.yaml", _SMALL, {}) == "HOME: there is no home folder\n    set FIRSTBYTE_DATA to a folder"
    )
    assert data_folder({"FIRSTBYTE_DATA": "/d"}) == Path("/d")


def _homeless() -> NoReturn:
    """What the library does for a user that the system doesn't know."""
    raise RuntimeError("no home")


def test_data_folder_that_no_system_takes_is_a_fault(tmp_path: Path) -> None:
    assert _faults(tmp_path / "f.yaml", _SMALL, {"FIRSTBYTE_DATA": "/" + "a" * 5_000}).startswith("FIRSTBYTE_DATA:")


# Faults


def test_beyond_a_hundred_faults_nobody_looks_for_likely_names() -> None:
    faults = Faults()
    assert faults.near("slows_s", ["slow_s"]) == "slow_s"
    for line in range(100):
        faults.add(Place("f", line + 1, 1), "wrong", "hint")
    assert faults.near("slows_s", ["slow_s"]) is None


def test_beyond_a_thousand_faults_are_only_counted() -> None:
    faults = Faults()
    for line in range(1_100):
        faults.add(Place("f", line + 1, 1), "wrong", "hint")
    with pytest.raises(ConfigError) as caught:
        faults.check()
    assert (len(caught.value.faults), caught.value.more) == (1_000, 100)
    assert str(caught.value).endswith("… and 1050 more")
