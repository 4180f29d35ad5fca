"""Who may come in."""

import httpx
import pytest
from fastapi import FastAPI

from breaker.api import Access, create_app
from breaker.api.access import Right, check, is_loopback
from breaker.api.problems import ProblemError
from breaker.switchboard import Switchboard
from tests.api.world import PRIMARY, good

GUARDED = Access(host="0.0.0.0", agent_token="agent-secret", admin_token="admin-secret")
OPEN = {"Host": "127.0.0.1:8642"}


def refused(access: Access, method: str, path: str, **headers: str) -> str | None:
    """The problem's kind; None for a request that may go on."""
    try:
        check(access, method, path, {name.lower(): value for name, value in headers.items()})
    except ProblemError as problem:
        return f"{problem.status} {problem.kind}"
    return None


@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("127.0.0.1:8642", None),
        ("localhost:8642", None),
        ("LOCALHOST", None),
        ("localhost.", None),
        ("[::1]:8642", None),
        ("127.7.7.7", None),
        ("evil.example", "403 foreign-host"),
        ("127.0.0.1.evil.example:8642", "403 foreign-host"),
        ("localhost.evil.example", "403 foreign-host"),
        ("[::2]", "403 foreign-host"),
        ("192.168.1.7:8642", "403 foreign-host"),
        ("", "403 foreign-host"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_name_that_was_pointed_at_loopback_is_refused(host: str, kind: str | None, method: str) -> None:
    assert refused(Access(), method, "/reports", Host=host) == kind


@pytest.mark.parametrize(
    ("origin", "kind"),
    [
        ("http://127.0.0.1:8642", None),
        ("http://127.0.0.1:3000", "403 foreign-origin"),
        ("http://localhost:8642", "403 foreign-origin"),
        ("https://evil.example", "403 foreign-origin"),
        ("null", "403 foreign-origin"),
        ("", "403 foreign-origin"),
    ],
)
def test_a_page_of_another_site_is_refused(origin: str, kind: str | None) -> None:
    assert refused(Access(), "POST", "/circuit/open", **OPEN, Origin=origin) == kind


@pytest.mark.parametrize(
    ("shown", "path", "kind"),
    [
        ("Bearer agent-secret", "/reports", None),
        ("Bearer admin-secret", "/reports", None),
        ("bearer admin-secret", "/circuit/open", None),
        ("Bearer agent-secret", "/circuit/open", "403 wrong-token"),
        ("Bearer agent-secret", "/anything/new", "403 wrong-token"),
        ("Bearer agent-secret", "/reports/", "403 wrong-token"),
        ("Bearer admin-secre", "/reports", "401 no-token"),
        ("Bearer ", "/reports", "401 no-token"),
        ("Basic agent-secret", "/reports", "401 no-token"),
        ("agent-secret", "/reports", "401 no-token"),
        ("Bearer ä", "/reports", "401 no-token"),
        ("", "/reports", "401 no-token"),
    ],
)
def test_a_token_allows_what_it_is_for(shown: str, path: str, kind: str | None) -> None:
    assert refused(GUARDED, "POST", path, Authorization=shown) == kind


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_all_but_reading_needs_a_token(method: str) -> None:
    assert refused(GUARDED, method, "/route") == "401 no-token"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_reading_needs_none(method: str) -> None:
    assert refused(GUARDED, method, "/route", Host="firstbyte.internal") is None


@pytest.mark.parametrize("path", ["/", "/docs", "/status.json", "/api/v2/summary.json", "/feed.atom", "/badge.svg"])
async def test_what_people_look_at_is_open_to_whoever_reaches_the_door(switchboard: Switchboard, path: str) -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=create_app(switchboard, access=GUARDED)), base_url="http://firstbyte.internal"
    ) as door:
        assert (await door.get(path)).status_code == 200
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=create_app(switchboard, access=Access())), base_url="http://elsewhere.example"
    ) as door:
        assert (await door.get(path)).status_code == 403


def test_a_right_without_a_token_of_its_own_is_nobodys() -> None:
    agents_only, admins_only = Access(agent_token="a"), Access(admin_token="b")

    assert refused(agents_only, "POST", "/circuit/open", Authorization="Bearer ") == "401 no-token"
    assert refused(agents_only, "POST", "/circuit/open", Authorization="Bearer a") == "403 wrong-token"
    assert refused(admins_only, "POST", "/reports", Authorization="Bearer ") == "401 no-token"
    assert admins_only.right("Bearer b") is Right.MOVE


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("", False)],
)
def test_only_loopback_is_this_machine_alone(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "firstbyte.internal", ""])
async def test_no_app_is_made_that_others_could_change_unasked(switchboard: Switchboard, host: str) -> None:
    with pytest.raises(ValueError, match="needs tokens"):
        create_app(switchboard, access=Access(host=host))


def test_tokens_are_not_shown() -> None:
    assert "secret" not in repr(GUARDED)


async def test_every_post_is_closed_without_a_token(switchboard: Switchboard) -> None:
    app = create_app(switchboard, access=GUARDED)
    posts = [path for path, methods in app.openapi()["paths"].items() if "post" in methods]
    assert len(posts) == 8
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://firstbyte.internal") as door:
        for path in posts:
            answer = await door.post(path, params={"target": PRIMARY.name}, json={"who": "me", "why": "x"})

            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == 'Bearer realm="firstbyte"'
            assert answer.headers["content-type"] == "application/problem+json"


async def test_a_wrong_token_is_called_invalid_and_not_said_again(switchboard: Switchboard) -> None:
    app = create_app(switchboard, access=GUARDED)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://firstbyte.internal") as door:
        answer = await door.post("/reports", json=good(), headers={"Authorization": "Bearer psst"})

    assert answer.headers["www-authenticate"] == 'Bearer realm="firstbyte", error="invalid_token"'
    assert "psst" not in answer.text


async def test_an_agents_token_opens_reports(switchboard: Switchboard) -> None:
    app = create_app(switchboard, access=GUARDED)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://firstbyte.internal") as door:
        answer = await door.post("/reports", json=good(), headers={"Authorization": "Bearer agent-secret"})

    assert answer.status_code == 202


async def test_a_refused_request_is_not_read(app: FastAPI) -> None:
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        raise AssertionError("the body was asked for")

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    headers = [(b"host", b"evil.example"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/reports", "headers": headers, "query_string": b""}
    await app(scope, receive, send)  # type: ignore[arg-type] # plain dicts are what servers hand in

    assert sent[0]["status"] == 403


async def test_a_servers_own_messages_pass(app: FastAPI) -> None:
    asked = iter(({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}))
    sent: list[str] = []

    async def receive() -> dict[str, str]:
        return next(asked)

    async def send(message: dict[str, str]) -> None:
        sent.append(message["type"])

    await app({"type": "lifespan", "state": {}}, receive, send)  # type: ignore[arg-type] # plain dicts are what servers hand in

    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
