"""Notifications on a real store, to receivers that misbehave."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from breaker.errors import StoreGoneError
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.target import Provider, Target
from monitor.cli.exits import BAD
from monitor.cli.notifying import try_out
from monitor.notify import Notifier, post
from monitor.notify.counts import Sent
from monitor.notify.message import Message
from monitor.notify.notifier import MOST_PENDING
from monitor.settings import Form, Receiver, Told
from monitor.simulator import Simulator
from tests.notify.receiver import receiver
from tests.processes import environment, ran, started
from tests.service import until

PROVIDER = Provider(name="p", base_url="http://127.0.0.1:1/v1", wire="openai-chat")
A, B = (Target(provider=PROVIDER, model=model) for model in "ab")
ROUTE = Route(name="coder", targets=(A, B))


def told(url: str, *events: Told, form: Form = Form.JSON) -> Receiver:
    return Receiver(name="ops", form=form, url=url, events=events or (Told.MOVES,))


def board_on(store: RedisStore) -> Switchboard:
    return Switchboard(store, [ROUTE], {A.name: Policy(), B.name: Policy()})


async def hold(board: Switchboard, target: str = A.name, *, opened: bool = True) -> None:
    await board.hold(target, opened=opened, who="a test", why="to be told", for_s=600)


@contextlib.asynccontextmanager
async def replica(store: RedisStore, counts: Sent, *receivers: Receiver) -> AsyncIterator[Switchboard]:
    board = board_on(store)
    await board.refresh()
    following = asyncio.create_task(board.follow())
    notifier = Notifier(board, store, counts, receivers)
    try:
        yield board
    finally:
        await notifier.stop()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "BACKOFF_S", (0.02, 0.05))
    monkeypatch.setattr(post, "LOOK_S", 0.2)


pytestmark = pytest.mark.usefixtures("quick")


async def test_a_move_is_told_once_by_three_replicas(store: RedisStore) -> None:
    counts = [Sent(), Sent(), Sent()]
    async with receiver() as hook, contextlib.AsyncExitStack() as stack:
        boards = [await stack.enter_async_context(replica(store, one, told(hook.url))) for one in counts]
        for number in range(3):
            await hold(boards[number], opened=number % 2 == 0)
        await hook.until(3)
        await until(lambda: sum(one.sent[Form.JSON] for one in counts) == 3, within_s=240, what="all is taken")
        assert await store.pending("notify:ops") == {}

    ids = [json.loads(body)["id"] for _, _, body in hook.came]
    assert len(ids) == len(set(ids)) == 3
    assert [json.loads(body)["after"] for _, _, body in hook.came] == ["held-open", "held-closed", "held-open"]


class Late:
    """A store that another replica empties and gives back just before its claim is given."""

    def __init__(self, store: RedisStore) -> None:
        self.pending, self.unclaim, self.take_out = store.pending, store.unclaim, store.take_out
        self._claim = store.claim

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        for name in await self.pending(target):
            await self.take_out(target, name)
        return await self._claim(target, holder, for_s)


class Deaf:
    """A store that doesn't hear, once, that a message was sent."""

    def __init__(self, store: RedisStore) -> None:
        self.pending, self.unclaim, self.claim = store.pending, store.unclaim, store.claim
        self._take_out = store.take_out
        self.heard: list[str] = []

    async def take_out(self, box: str, name: str) -> None:
        self.heard.append(name)
        if len(self.heard) == 1:
            raise StoreGoneError("doesn't answer in time")
        await self._take_out(box, name)


async def _filed(store: RedisStore) -> None:
    board = board_on(store)
    await board.refresh()
    move = await board.hold(A.name, opened=True, who="a test", why="to be told", for_s=600)
    message = Message.of_move(A.name, move)
    await store.file("notify:ops", message.id, message.written(), MOST_PENDING, 60)


async def test_what_another_replica_sent_before_it_gave_its_claim_back_is_not_sent_again(store: RedisStore) -> None:
    await _filed(store)
    counts = Sent()
    async with receiver() as hook:
        one = post.Post(told(hook.url), Late(store), counts)
        await until(lambda: counts.pending.get("ops") == (Form.JSON, 0), within_s=240, what="the box is empty")
        one.stop()

    assert (hook.came, counts.sent) == ([], {})


async def test_no_other_replica_sends_what_the_store_does_not_know_to_be_sent(store: RedisStore) -> None:
    await _filed(store)
    counts = Sent()
    deaf = Deaf(store)
    async with receiver() as hook:
        one = post.Post(told(hook.url), deaf, counts)
        await until(lambda: len(deaf.heard) == 1, within_s=240, what="the store didn't hear")
        others = post.Post(told(hook.url), store, Sent())
        await until(lambda: counts.pending.get("ops") == (Form.JSON, 0), within_s=240, what="the box is empty")
        one.stop()
        others.stop()

    assert (len(hook.came), counts.sent[Form.JSON]) == (1, 1)


async def test_a_proxy_that_can_not_be_used_is_a_failure_that_is_told_and_counted(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://user:secret@127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    await _filed(store)
    counts = Sent()
    with caplog.at_level(logging.WARNING):
        one = post.Post(told("http://127.0.0.1:1/"), store, counts)
        await until(lambda: counts.failed[Form.JSON] > 0, within_s=240, what="it has failed")
        one.stop()

    assert "ops took no message, it is tried again: proxy of a kind that can't be used" in caplog.text
    assert "secret" not in caplog.text


async def test_trying_out_through_a_proxy_that_can_not_be_used_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")

    assert await try_out([told("http://127.0.0.1:1/")]) == BAD
    assert "ops (json): not taken, proxy of a kind that can't be used" in capsys.readouterr().out


@pytest.mark.parametrize("way", ["500", "503", "reset", "429;retry-after: x", "408"])
async def test_what_was_not_taken_is_sent_again(store: RedisStore, way: str) -> None:
    counts = Sent()
    async with receiver([way, way, "200"]) as hook, replica(store, counts, told(hook.url)) as board:
        await hold(board)
        await hook.until(3)
        await until(lambda: counts.sent[Form.JSON] == 1, within_s=240, what="it is taken")

    assert (counts.failed[Form.JSON], counts.dropped[Form.JSON]) == (2, 0)
    assert len({body for _, _, body in hook.came}) == 1


@pytest.mark.parametrize("way", ["503;retry-after: nan", "503;retry-after: -inf", "503"])
async def test_a_receiver_is_left_alone_whatever_it_says_and_however_long_it_is_gone(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(post, "BACKOFF_S", (30.0, 60.0))
    monkeypatch.setattr("monitor.notify.sending.LEAST_S", 30.0)
    async with receiver([way]) as hook:
        one = post.Post(told(hook.url), store, Sent())
        one._tries = 5_000  # days without an answer
        await _filed(store)
        one.nudge()
        await hook.until(1)
        with pytest.raises(TimeoutError):
            await hook.until(2, within_s=0.6)  # three looks into the box
        one.stop()


@pytest.mark.parametrize("way", ["404", "400", "302;location: http://127.0.0.1:1/", "410"])
async def test_what_is_refused_for_good_is_given_up_and_the_next_goes_on(store: RedisStore, way: str) -> None:
    counts = Sent()
    async with receiver([way, "200"]) as hook, replica(store, counts, told(hook.url)) as board:
        await hold(board)
        await hook.until(1)
        await hold(board, opened=False)
        await hook.until(2)
        await until(lambda: counts.sent[Form.JSON] == 1, within_s=240, what="the next is taken")

    assert (counts.failed[Form.JSON], counts.dropped[Form.JSON]) == (1, 1)


async def test_a_receiver_that_hangs_holds_up_nobody_else(store: RedisStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.notify.sending.LIMIT_S", 1.0)
    counts = Sent()
    async with receiver(["hang", "hang", "200"]) as slow, receiver() as quick_one:
        other = Receiver(name="other", form=Form.SLACK, url=quick_one.url)
        async with replica(store, counts, told(slow.url), other) as board:
            await hold(board)
            await quick_one.until(1)
            await slow.until(2)
            monkeypatch.setattr("monitor.notify.sending.LIMIT_S", 60.0)  # what it takes now it may take slowly
            await until(lambda: counts.sent[Form.JSON] == 1, within_s=240, what="it is taken at last")

    assert counts.failed == {Form.JSON: 2}


async def test_a_receiver_is_left_alone_for_as_long_as_it_says(store: RedisStore) -> None:
    loop = asyncio.get_running_loop()
    async with receiver(["429;retry-after: 1", "200"]) as hook, replica(store, Sent(), told(hook.url)) as board:
        await hold(board)
        await hook.until(1)
        began = loop.time()
        await hook.until(2)

    assert loop.time() - began >= 0.9


async def test_a_receiver_is_left_alone_until_the_date_that_it_says(store: RedisStore) -> None:
    loop = asyncio.get_running_loop()
    way = "503;date: Sun, 30 Nov 2025 10:53:20 GMT\r\nretry-after: Sun, 30 Nov 2025 10:53:21 GMT"
    async with receiver([way, "200"]) as hook, replica(store, Sent(), told(hook.url)) as board:
        await hold(board)
        await hook.until(1)
        began = loop.time()
        await hook.until(2)

    assert loop.time() - began >= 0.9


async def test_a_message_that_makes_its_receiver_fail_does_not_hold_up_the_later_ones(store: RedisStore) -> None:
    counts = Sent()
    async with receiver() as hook, replica(store, counts, told(hook.url)) as board:
        hook.fails_at = b'"after": "held-open"'
        for number in range(3):
            await hold(board, opened=number == 0, target=A.name if number < 2 else B.name)
        await until(lambda: counts.sent[Form.JSON] == 2, within_s=60, what="the later ones are taken")
        assert len(await store.pending("notify:ops")) == 1
        hook.fails_at = None
        await until(lambda: counts.sent[Form.JSON] == 3, within_s=60, what="the first is taken at last")

    assert counts.dropped[Form.JSON] == 0


async def test_what_nobody_could_send_is_sent_after_a_restart(store: RedisStore) -> None:
    counts = Sent()
    async with receiver(["500"]) as hook:
        async with replica(store, counts, told(hook.url)) as board:
            await hold(board)
            await hook.until(1)
        assert len(await store.pending("notify:ops")) == 1
        hook.ways[:] = ["200"]
        async with replica(store, counts, told(hook.url)):
            await until(lambda: counts.sent[Form.JSON] == 1, within_s=240, what="it is taken")
    assert await store.pending("notify:ops") == {}


async def test_a_move_whose_maker_died_at_once_is_told_by_the_next(store: RedisStore) -> None:
    await hold(board_on(store))
    async with receiver() as hook, replica(store, Sent(), told(hook.url)):
        await hook.until(1)


async def test_a_claim_whose_holder_died_lapses(store: RedisStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await store.claim("notify:ops", "somebody", 0.5)
    async with receiver() as hook, replica(store, Sent(), told(hook.url)) as board:
        await hold(board)
        await hook.until(1)


async def test_a_route_without_a_target_is_told_once(store: RedisStore) -> None:
    async with receiver() as hook, contextlib.AsyncExitStack() as stack:
        boards = [
            await stack.enter_async_context(replica(store, Sent(), told(hook.url, Told.NO_TARGET))) for _ in range(2)
        ]
        await hold(boards[0], A.name)
        await hold(boards[1], B.name)
        await hook.until(1)
        await hold(boards[0], A.name, opened=False)
        await hold(boards[0], A.name)
        await hook.until(2)
        await asyncio.sleep(0.05)

    assert [json.loads(body)["route"] for _, _, body in hook.came] == ["coder", "coder"]


async def test_no_more_wait_than_may(store: RedisStore) -> None:
    filed = [await store.file("notify:ops", f"m{n}", "x", MOST_PENDING, 60) for n in range(MOST_PENDING + 1)]

    assert filed == [True] * MOST_PENDING + [None]
    assert await store.file("notify:ops", "m1", "x", MOST_PENDING, 60) is False
    await store.take_out("notify:ops", "m1")
    assert len(await store.pending("notify:ops")) == MOST_PENDING - 1


async def test_the_address_is_nowhere(store: RedisStore, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "monitor")
    ways = ["500", "302;location: http://127.0.0.1:1/secret-token", "200"]
    async with receiver(ways) as hook, replica(store, Sent(), told(hook.url)) as board:
        await hold(board)
        await hook.until(2)
        await until(lambda: "given up" in caplog.text, within_s=240, what="it is given up")
        receivers = repr(told(hook.url))
    gone = told(hook.url.replace("127.0.0.1", "no.such.host.invalid"))
    async with replica(store, Sent(), gone) as board:
        await hold(board, opened=False)
        await until(lambda: "Error" in caplog.text, within_s=240, what="it can't be reached")

    assert "secret-token" not in caplog.text + receivers


# The command and the service

CONFIG = """\
policy: {{slow_s: 2, hold_s: 60, interval_s: 1, jitter_s: 0, confirm_s: 0.2, half_open_s: 1, silence_s: 4}}
probe: {{prompt_tokens: 300}}
providers:
  p: {{base_url: {url}, wire: openai-chat, models: {{a: }}}}
routes: {{coder: [p/a]}}
notify:
  ops: {{form: json, url_env: OPS_URL, events: [no_target]}}
  chat: {{form: slack, url_env: CHAT_URL}}
"""


async def test_two_services_tell_of_a_provider_that_dies_once(tmp_path: Path) -> None:
    async with Simulator({"p/a": "healthy"}) as simulator, receiver() as ops, receiver() as chat:
        (tmp_path / "firstbyte.yaml").write_text(CONFIG.format(url=simulator.base_url("p")))
        urls = {"OPS_URL": ops.url, "CHAT_URL": chat.url}
        envs = [environment(tmp_path / "data", urls) for _ in range(2)]
        async with started("run", env=envs[0], cwd=tmp_path) as one, started("run", env=envs[1], cwd=tmp_path) as two:
            for each in (one, two):
                await each.line("listening at", within_s=240)
            await simulator.set("p/a", "refused")
            await ops.until(1, within_s=240)
            await chat.until(1, within_s=240)
            url = f"http://127.0.0.1:{envs[0]['FIRSTBYTE_PORT']}"
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as door:
                metrics = (await door.get("/metrics")).text
            said = "\n".join([*one.said, *two.said, metrics])

    assert json.loads(ops.came[0][2])["title"] == "Route coder has no target left"
    assert [json.loads(body)["route"] for _, _, body in ops.came] == ["coder"]
    assert len({body for _, _, body in chat.came}) == len(chat.came)
    assert "firstbyte_notifications_total" in metrics
    assert "secret-token" not in said


async def test_the_command_tries_each_receiver(tmp_path: Path) -> None:
    async with receiver() as ops, receiver(["403"]) as chat:
        (tmp_path / "firstbyte.yaml").write_text(CONFIG.format(url="http://127.0.0.1:1/v1"))
        env = environment(tmp_path / "data", {"OPS_URL": ops.url, "CHAT_URL": chat.url})
        code, said = await ran("notify", env=env, cwd=tmp_path)
        checked = await ran("check", env=env, cwd=tmp_path)

    assert checked[0] == 0
    assert (
        "Notifications: ops (json) is told of no_target\nNotifications: chat (slack) is told of moves, no_target"
        in (checked[1])
    )
    assert "secret-token" not in checked[1]
    assert (code, said.splitlines()) == (1, ["ops (json): taken", "chat (slack): not taken, status 403"])
    assert "a test by" in json.loads(ops.came[0][2])["why"]
