"""The service as people ask it."""

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from breaker.client import Decision, Door, Firstbyte
from breaker.client.address import Address
from breaker.errors import DoorAddressError, DoorGoneError, DoorRefusedError
from tests.api.world import BACKUP, PRIMARY, failed, good
from tests.client.serving import answering, eventually


def test_an_agent_asks_where_to_and_tells_how_it_went(url: str) -> None:
    with Door(url) as door:
        before = door.route("coder")
        verdicts = [door.report(**failed(name)) for name in "ab"]
        after = door.route("coder")

    assert (before.target, before.role, before.reason, before.until_s) == (PRIMARY.name, "primary", "healthy", None)
    assert verdicts == ["http_error", "http_error"]
    assert (after.target, after.role, after.reason) == (BACKUP.name, "backup", "errors")
    assert after.until_s is not None
    assert 590 < after.until_s <= 600
    assert (after.base_url, after.wire, after.api_key_env) == ("https://or.example/v1", "openai-chat", "OR_API_KEY")


def test_an_id_is_made_where_none_is_given(url: str) -> None:
    facts = {name: value for name, value in failed("x").items() if name != "id"}
    with Door(url) as door:
        for _ in range(2):
            door.report(**facts)

        assert door.route("coder").role == "backup"


def test_people_look_and_act_by_hand(url: str) -> None:
    with Door(url) as door:
        door.report(**good("a"))
        opened = door.hold_open(PRIMARY.name, who="anna", why="new plan", for_s=60)
        closed = door.hold_closed(PRIMARY.name, who="anna", why="new plan")
        released = door.release(PRIMARY.name, who="anna", why="new plan")
        targets = door.targets()
        one = door.targets(PRIMARY.name)
        moves = door.moves(PRIMARY.name, limit=2)

    assert [said["state"] for said in (opened, closed, released)] == ["held-open", "held-closed", "closed"]
    assert 55 < opened["until_s"] <= 60
    assert 595 < closed["until_s"] <= 600
    assert (len(targets["targets"]), len(one["targets"])) == (5, 1)
    assert [move["why"] for move in moves] == ["released by hand, anna: new plan", "by hand, anna: new plan"]


def test_a_token_comes_from_the_caller_or_the_environment(guarded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTBYTE_URL", f"{guarded}/")
    with Door() as stranger, pytest.raises(DoorRefusedError, match="valid token") as refusal:
        stranger.report(**good("a"))
    monkeypatch.setenv("FIRSTBYTE_TOKEN", "agent-secret\n")
    with Door() as agent, Door(token="admin-secret") as admin:
        assert agent.report(**good("a")) == "ok"
        with pytest.raises(DoorRefusedError, match="an agent's token may report and judge"):
            agent.hold_open(PRIMARY.name, who="anna", why="new plan")
        assert admin.hold_open(PRIMARY.name, who="anna", why="new plan")["state"] == "held-open"

    assert refusal.value.status == 401
    assert "secret" not in repr(admin)


def test_a_problem_is_said_in_its_own_words(url: str) -> None:
    with Door(url) as door:
        with pytest.raises(DoorRefusedError) as no_route:
            door.route("codr")
        with pytest.raises(DoorRefusedError) as no_fact:
            door.report(**good("a"), text="psst")

    assert (no_route.value.status, str(no_route.value)) == (
        404,
        "there is no route 'codr'; there are: coder, reviewer, mixed",
    )
    assert str(no_fact.value).startswith("'text' is not a fact of an answer")


def test_a_door_where_nobody_answers_is_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    with Door(url) as door, pytest.raises(DoorGoneError, match=rf"^nothing answers at {url} .*FIRSTBYTE_URL"):
        door.route("coder")


def test_a_door_that_is_silent_is_gone_within_the_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Door(url, timeout_s=0.05) as door, pytest.raises(DoorGoneError, match="doesn't answer in time"):
            door.route("coder")


def test_no_error_shows_the_token_or_the_password_of_the_address(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gone = f"http://ann:psst@127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(DoorAddressError) as broken:
        Door(url, token="psst\nX: y")
    with pytest.raises(DoorAddressError) as foreign:
        Door(url, token="pssté")
    with Door(gone) as door, pytest.raises(DoorGoneError, match="nothing answers at http://127") as refused:
        door.route("coder")

    assert "psst" not in f"{broken.value} {foreign.value} {refused.value} {door!r}"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1",
        "127.0.0.1:8642",
        "bogus",
        "http://127.0.0.1:port",
        "http://a..b",
        "http://xn--/",
        "http://a:99999",
        "http://a:0",
        "http://a:-1",
    ],
)
def test_what_is_no_address_is_said_to_be_none(url: str) -> None:
    with pytest.raises(DoorAddressError, match="is not an address"):
        Door(url)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"hello", id="no JSON"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b"{}", id="other"),
        pytest.param(b"[" * 100_000, id="too deep"),
        pytest.param(b'{"targets": null, "moves": null, "state": null}', id="nothing under our names"),
    ],
)
@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda door: door.route("coder"), id="route"),
        pytest.param(lambda door: door.targets(), id="targets"),
        pytest.param(lambda door: door.moves("a/b"), id="moves"),
        pytest.param(lambda door: door.release("a/b", who="ann", why="done"), id="release"),
    ],
)
def test_another_service_at_the_address_is_told_apart(ask: Callable[[Door], object], body: bytes) -> None:
    def answer_one(listener: socket.socket) -> None:
        line, _ = listener.accept()
        with line, line.makefile("rb") as said:
            head = list(iter(said.readline, b"\r\n"))
            # To close with something unread would reset the connection, and the answer with it.
            said.read(sum(int(one.split(b":")[1]) for one in head if one.lower().startswith(b"content-length:")))
            line.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        other = threading.Thread(target=answer_one, args=(listener,))
        other.start()
        with (
            Door(f"http://127.0.0.1:{listener.getsockname()[1]}") as door,
            pytest.raises(DoorRefusedError, match=r"is not Firstbyte \(status 200\)$"),
        ):
            ask(door)
        other.join(10)


def test_a_service_behind_a_redirection_is_not_followed_and_said_to_be_elsewhere() -> None:
    def elsewhere(line: socket.socket) -> None:
        while line.recv(65_536):
            line.sendall(b"HTTP/1.1 308 Moved\r\nLocation: https://psst.example/\r\nContent-Length: 0\r\n\r\n")

    said = r"sends elsewhere \(status 308\); give the address to which that leads$"
    with answering(elsewhere) as url:
        with Door(url, timeout_s=60.0) as door, pytest.raises(DoorRefusedError, match=said):
            door.route("coder")
        with Firstbyte(url) as firstbyte:
            eventually(lambda: re.search(said, why_not(firstbyte)) is not None, "it is said to be elsewhere")


def why_not(firstbyte: Firstbyte) -> str:
    """What keeps it from knowing where to."""
    with pytest.raises(DoorGoneError) as gone:
        firstbyte.route("coder")
    return str(gone.value)


@pytest.mark.parametrize(
    ("host", "asks"),
    [
        ("127.0.0.1", False),
        ("127.0.0.53", False),
        ("LOCALHOST", False),
        ("[::1]", False),
        ("127.example", True),
        ("10.0.0.1", True),
    ],
)
def test_a_proxy_knows_nothing_of_this_machines_loopback(host: str, *, asks: bool) -> None:
    assert Address.found(f"http://{host}:8642", "x").options()["trust_env"] is asks


@pytest.mark.parametrize("token", ["agent-secret ", " agent-secret", "agent-secret\n", "\tagent-secret\r\n"])
def test_what_stands_around_a_token_is_none_of_it(guarded: str, token: str) -> None:
    """Sent as it is it would be refused on the way, by an error that shows it."""
    with Door(guarded, token=token) as door:
        assert door.report(**good("a")) == "ok"


def test_no_proxy_is_asked_for_an_address_on_this_machine(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    with Door(url) as door:
        assert door.route("coder").role == "primary"


@pytest.mark.parametrize(
    "wrong", [{"role": 8}, {"until_s": "soon"}, {"stale": 0}, {"route": None}, {"generation": True}]
)
def test_a_decision_of_other_kinds_is_none(url: str, wrong: dict[str, object]) -> None:
    said = httpx.get(f"{url}/route?route=coder", trust_env=False).json()

    with pytest.raises(TypeError):
        Decision.read({**said, **wrong})


def test_what_a_newer_service_says_besides_is_left_out(url: str) -> None:
    said = httpx.get(f"{url}/route?route=coder", trust_env=False).json()

    assert Decision.read({**said, "session": "new"}) == Decision.read(said)


def test_a_head_is_a_get_without_its_body(url: str) -> None:
    answer = httpx.head(f"{url}/route?route=coder", trust_env=False)

    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 100


def test_an_agent_needs_httpx_alone() -> None:
    """The client in a process whose imports of the service's packages fail."""
    code = (
        "import sys\n"
        "for name in ('fastapi', 'starlette', 'pydantic', 'redis', 'uvicorn', 'yaml', 'apscheduler'):\n"
        "    sys.modules[name] = None\n"
        "import breaker.client\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2], timeout=120)
