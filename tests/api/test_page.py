"""GET /: the page that a person understands at a glance."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser

import httpx
import pytest
import redis

from breaker.api import Access, Besides, Level, Notice, create_app, page
from breaker.api.notices import Aside, Line, Spent
from breaker.api.page import View
from breaker.api.recent import Recent
from breaker.circuit import Cause, Circuit, Move, State
from breaker.errors import StoreGoneError
from breaker.log import Log
from breaker.policy import Policy
from breaker.store.redis import RedisStore
from breaker.switchboard import Standing, Switchboard
from tests.api.scenes import NOW, circuit, entry, held, knows, scene
from tests.api.world import BACKUP, PRIMARY, ROUTES, URL, failed, good
from tests.reporting import report
from tests.store_server import StoreServer

HOSTILE = "<script>alert(1)</script>\"'&$style"
OPEN = circuit(cause=Cause.SLOW, moved_s=212, left_s=388)
VOID = {"meta", "link", "wbr", "input"}


class Reader(HTMLParser):
    """Reads a page strictly: what it opens it must close; keeps its elements and its words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open):
            self.words += data


def moved(
    cause: Cause = Cause.SLOW, *, at: float = NOW - 212, why: str = "2 in a row", after: State = State.OPEN
) -> Move:
    return Move(at=at, before=State.CLOSED, after=after, cause=cause, why=why, circuit=OPEN)


FULL = scene(
    primary=OPEN,
    backup=circuit(cause=Cause.ERRORS, moved_s=620, left_s=-20),
    other=held(opened=True, left_s=90_000),
    logs={
        "primary": Log(
            probes=(
                entry(PRIMARY, 300),
                entry(PRIMARY, 240, first_byte_s=43.0),
                entry(PRIMARY, 180, first_byte_s=None, status=500),
                entry(PRIMARY, 120, first_byte_s=None, status=400),
                entry(PRIMARY, 60, first_byte_s=52.0),
            )
        )
    },
    moves=[(PRIMARY.name, moved()), (PRIMARY.name, moved(Cause.RECOVERED, at=NOW - 100_000, after=State.CLOSED))],
    notices=[Notice("one second stands for twenty"), Notice("80 % of a budget is spent", Level.WARNING)],
)


@pytest.mark.parametrize(
    ("circuits", "words"),
    [
        pytest.param(
            {}, ["All is well: 2 routes on their primaries.", "takes requests", "No circuit has moved"], id="well"
        ),
        pytest.param(
            {"primary": OPEN},
            ["coder is on its backup", "on a backup", "out: slow, for 3 min 32 s, 6 min 28 s left"],
            id="on the backup",
        ),
        pytest.param(
            {"primary": OPEN, "backup": OPEN},
            ["as a last resort", "last resort", "No target of this route works"],
            id="last resort",
        ),
        pytest.param(
            {"primary": held(opened=True, left_s=600)},
            ["held open", "out: by hand", "Anna: new plan", "10 min left"],
            id="held open",
        ),
        pytest.param(
            {"primary": held(opened=False, left_s=600)},
            [
                "held closed",
                "takes requests: by hand",
                "The primary, held closed by Anna.",
                "without the hold: takes requests",
            ],
            id="held closed",
        ),
        pytest.param(
            {"primary": replace(OPEN, held=held(opened=False, left_s=600).held)},
            [
                "The primary, held closed by Anna, although it would be out by itself.",
                "without the hold: out: slow",
            ],
            id="held closed over an open circuit",
        ),
        pytest.param(
            {"primary": circuit(cause=Cause.QUOTA, moved_s=212, left_s=388)},
            [
                "out: no credit or quota, for 3 min 32 s, 6 min 28 s left",
                "Somebody has to act: top up the account of zai, or raise its limit.",
            ],
            id="a refusal",
        ),
        pytest.param(
            {"self_suspect_s": 40.0},
            ["Our own network seems to be down: nothing moves until it is back.", "for about 40 s"],
            id="our own network",
        ),
        pytest.param(
            {"logs": {"primary": knows(Log(probes=(entry(PRIMARY, 12, first_byte_s=12.0),)), usual_s=3.0)}},
            ["12 s ago, usually 3.0 s"],
            id="its usual speed",
        ),
        pytest.param(
            {"logs": {"primary": Log(probes=(entry(PRIMARY, 12, self_suspect=True),))}},
            ["not counted: our own network was down"],
            id="an answer that was our own fault",
        ),
        pytest.param(
            {"logs": {"primary": Log(probes=(entry(PRIMARY, 12, suspect_timing=True),))}},
            ["not counted: we stood still ourselves"],
            id="an answer while we stalled",
        ),
        pytest.param(
            {"primary": circuit(cause=Cause.UNVERIFIED, moved_s=30, left_s=None)},
            ["takes requests again, unverified, for 30 s"],
            id="unverified",
        ),
        pytest.param({"heard_s": {"backup": None}}, ["none yet", "not asked yet"], id="never asked"),
        pytest.param({"age_s": 12.0}, ["The store hasn't answered for 12 s"], id="stale"),
    ],
)
def test_the_page_says_how_things_stand(circuits: dict[str, Circuit], words: list[str]) -> None:
    said = Reader(page.render(scene(**circuits))).words  # type: ignore[arg-type] # circuits by the target's short name

    for part in words:
        assert part in said


def test_a_full_page_says_all_of_it() -> None:
    said = Reader(page.render(FULL)).words

    for part in (
        "one second stands for twenty",
        "80 % of a budget is spent",
        "out: failing, being tested, in use",
        "52 s over 40 s",
        "ok, too slow",
        "zai/glm-5.3-flash was taken out, slow",
        "2 in a row",
    ):
        assert part in said
    assert "11:56:28 UTC" in said
    assert "29 Nov 08:13 UTC" in said


class Passed(list[Standing]):
    """Standings that count how often somebody goes through them."""

    times = 0

    def __iter__(self) -> Iterator[Standing]:
        self.times += 1
        return super().__iter__()


def test_however_many_routes_there_are_all_targets_are_gone_through_as_often() -> None:
    def passed(view: View) -> int:
        standings = Passed(view.standings)
        page.render(replace(view, standings=standings))
        return standings.times

    view = scene()

    assert passed(replace(view, decisions=[*view.decisions] * 20)) == passed(view) > 0


def test_the_page_is_drawn_in_a_piece_for_each_target_and_each_route_at_least() -> None:
    view = scene()

    assert len(list(page.drawn(replace(view, decisions=[*view.decisions] * 20)))) > 20 * len(view.decisions)


def test_a_state_is_told_without_its_colour() -> None:
    states = [circuit(cause=Cause.ERRORS, moved_s=620, left_s=-20), OPEN, held(opened=True, left_s=9), Circuit()]
    pages = [page.render(scene(other=found)) for found in (*states, held(opened=False, left_s=9))]

    drawn = [
        re.findall(r'<svg class="mark [a-z-]+" viewBox="0 0 24 24" aria-hidden="true">(.*?)</svg>', p)[-1]
        for p in pages
    ]
    assert len(set(drawn)) == 5


@pytest.mark.parametrize("age_s", [12.0, None])
def test_old_data_has_no_colour(age_s: float | None) -> None:
    assert '<main class="stale">' in page.render(scene(age_s=age_s))
    assert '<main class="fresh">' in page.render(scene())


def test_only_what_is_in_a_part_of_the_store_that_is_gone_has_no_colour() -> None:
    drawn = page.render(scene(gone={"other": 12.0}))

    classes = [attrs.get("class") or "" for tag, attrs in Reader(drawn).elements if tag in ("article", "main")]
    assert [one.split()[-1] for one in classes if one.startswith(("target", "fresh", "stale"))] == [
        "fresh",
        "closed",
        "closed",
        "stale",
    ]
    assert re.findall(r'class="role ([a-z ]+)"', drawn) == ["primary", "primary stale"]
    assert "Read from the store 0.4 s ago." in drawn


def test_a_target_that_is_not_heard_of_has_no_colour() -> None:
    elements = Reader(page.render(scene(heard_s={"backup": None}))).elements

    cards = [attrs["class"] or "" for tag, attrs in elements if tag == "article"]
    assert [card.split()[-1] for card in cards if card.startswith("target")] == ["closed", "unheard", "closed"]


def test_nothing_from_outside_becomes_part_of_the_page() -> None:
    hostile = scene(
        primary=held(opened=True, left_s=60, who=HOSTILE, why=HOSTILE),
        moves=[(HOSTILE, moved(why=HOSTILE))],
        notices=[Notice(HOSTILE)],
        spent=[Spent(provider=HOSTILE, tokens=1, usd=None, share=None)],
        asides=[Aside(title=HOSTILE, text=HOSTILE, lines=[Line(at=NOW, text=HOSTILE, well=True, more=HOSTILE)])],
    )

    elements = Reader(page.render(hostile)).elements

    assert [tag for tag, _ in elements].count("script") == 1
    assert page.render(hostile).count("&lt;script&gt;") == 13


def test_the_page_loads_nothing_and_runs_its_own_script_alone() -> None:
    for tag, attrs in Reader(page.render(FULL)).elements:
        assert tag not in {"img", "iframe", "form", "object", "embed"}
        assert "style" not in attrs, tag
        assert not [name for name in attrs if name.startswith("on")]
        assert "src" not in attrs
        assert re.match(r"[a-z]+(\.[a-z]+)?$|data:image/svg\+xml,", attrs.get("href") or "docs")


@pytest.mark.parametrize("kind", ["style", "script"])
def test_the_policy_of_content_allows_the_pages_own_text_alone(kind: str) -> None:
    (text,) = re.findall(f"<{kind}>(.*?)</{kind}>", page.render(FULL), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    policy = page.HEADERS["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; ")
    assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


async def test_the_page_is_served_with_all_that_protects_it(door: httpx.AsyncClient) -> None:
    answer = await door.get("/")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == page.HEADERS["Content-Security-Policy"]
    assert '<meta http-equiv="refresh" content="5">' in answer.text


async def test_the_page_is_packed_for_whoever_can_unpack_it(door: httpx.AsyncClient) -> None:
    packed = await door.get("/")
    plain = await door.get("/", headers={"Accept-Encoding": "identity"})

    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert plain.text == packed.text
    assert int(packed.headers["content-length"]) * 4 < len(plain.content)


async def test_another_process_on_the_same_store_shows_the_same_day(door: httpx.AsyncClient, store: RedisStore) -> None:
    await report(door, [good("a"), good("b"), failed("c")])
    policies = {target.name: Policy() for route in ROUTES for target in route.targets}
    another = Switchboard(store, ROUTES, policies)
    await another.refresh()
    transport = httpx.ASGITransport(app=create_app(another, access=Access()))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as other:
        said = Reader((await other.get("/")).text).words

    assert "66.7 % good of 3 answers" in said
    assert "3 reports (1 failed); http error" in said


async def test_who_looks_at_the_same_time_sees_the_same_and_a_move_at_once(
    door: httpx.AsyncClient, switchboard: Switchboard
) -> None:
    first, second = [(await door.get("/")).text for _ in range(2)]
    await switchboard.hold(PRIMARY.name, opened=True, who="anna", why="a try", for_s=60)

    assert first == second
    assert "by hand, anna: a try" in (await door.get("/")).text


async def test_the_page_shows_what_was_reported(door: httpx.AsyncClient) -> None:
    await report(door, [good("a"), failed("b"), failed("c")])

    said = Reader((await door.get("/")).text).words

    assert f"coder is on its backup: {PRIMARY.name} fails; it may be back in about 10 min." in said
    assert f"{PRIMARY.name} was taken out, failing" in said
    assert "http error (500)" in said


async def test_the_page_stays_while_the_store_is_gone(door: httpx.AsyncClient, server: StoreServer) -> None:
    await report(door, [failed("b"), failed("c")])
    before = await door.get("/")
    server.kill()

    after = await door.get("/")

    assert (before.status_code, after.status_code) == (200, 200)
    assert "was taken out, failing" in after.text


async def test_moves_that_were_read_stay_while_the_store_is_gone(
    door: httpx.AsyncClient, server: StoreServer, switchboard: Switchboard
) -> None:
    await report(door, [failed("b"), failed("c")])
    recent = Recent(switchboard)
    before = await recent.last_known()
    server.kill()
    recent.forget()

    assert await recent.last_known() == before != []
    with pytest.raises(StoreGoneError):
        await recent.moves(1)


async def test_a_damaged_ledger_takes_no_other_targets_moves_from_the_page(
    door: httpx.AsyncClient, server: StoreServer, switchboard: Switchboard
) -> None:
    for target in (PRIMARY, BACKUP):
        await switchboard.hold(target.name, opened=True, who="anna", why="a", for_s=60)
    with redis.Redis.from_url(server.url) as raw:
        raw.set(f"firstbyte:{{{PRIMARY.name}}}:moves", "mine")

    page_, told = await door.get("/"), await door.get("/moves")

    assert (page_.status_code, told.status_code) == (200, 503)
    assert [name for name, _ in await Recent(switchboard).last_known()] == [BACKUP.name]


async def test_the_newest_moves_of_all_targets_come_first_and_few(
    door: httpx.AsyncClient, switchboard: Switchboard
) -> None:
    for i in range(8):
        await switchboard.hold(PRIMARY.name, opened=True, who="anna", why=f"a{i}", for_s=60)
        await switchboard.hold(BACKUP.name, opened=True, who="anna", why=f"b{i}", for_s=60)

    told = re.findall(r"by hand, anna: ([ab]\d)</span></p></li>", (await door.get("/")).text)

    assert told == [f"{target}{i}" for i in range(7, 1, -1) for target in "ba"]


async def test_notices_are_shown(switchboard: Switchboard) -> None:
    besides = Besides(notices=lambda: [Notice("80 % is spent", Level.WARNING)])
    app = create_app(switchboard, access=Access(), besides=besides)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=URL) as door:
        assert '<li class="warning">80 % is spent</li>' in (await door.get("/")).text
