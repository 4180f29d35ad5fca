"""What an agent holds, against a real service, and while it comes and goes."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from breaker.answer import Answer
from breaker.client import (
    AsyncFirstbyte,
    Decision,
    Door,
    DoorAddressError,
    DoorGoneError,
    DoorRefusedError,
    Firstbyte,
    Source,
    Spot,
)
from breaker.errors import BadFactError
from tests.api.world import BACKUP, EYES, PRIMARY, TEXT, failed, good
from tests.client.serving import Process, Service, answering, eventually, nobody

SPOT: Spot = {"target": PRIMARY.name, "base_url": "https://zai.example/v4", "wire": "openai-chat"}
OTHER: Spot = {
    "target": "own/large",
    "base_url": "http://127.0.0.1/v1",
    "wire": "openai-chat",
    "api_key_env": "OWN_KEY",
}


def told(url: str, target: str = PRIMARY.name) -> dict[str, object] | None:
    """The target's last answer, as the service has it."""
    with Door(url, timeout_s=10.0) as door:
        last: dict[str, object] | None = door.targets(target)["targets"][0]["last_answer"]
        return last


def hold(url: str) -> None:
    """Take the primary out."""
    with Door(url, timeout_s=10.0) as door:
        door.hold_open(PRIMARY.name, who="anna", why="new plan", for_s=60)


def reached(firstbyte: Firstbyte) -> Decision:
    """The first decision, however slow this machine is."""
    found: list[Decision] = []

    def came() -> bool:
        with contextlib.suppress(DoorGoneError):
            found.append(firstbyte.route("coder"))
        return found != []

    eventually(came, "the service answers")
    return found[0]


def comes_to(firstbyte: Firstbyte, target: str, source: Source) -> Decision:
    """The first decision for a target from a source; fails where none comes."""
    found: list[Decision] = []

    def came() -> bool:
        found.append(firstbyte.route("coder"))
        return (found[-1].target, found[-1].source) == (target, source)

    eventually(came, f"{target} by {source}")
    return found[-1]


def test_an_agent_asks_where_to(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        to = reached(firstbyte)

    assert (to.target, to.role, to.reason, to.until_s) == (PRIMARY.name, "primary", "healthy", None)
    assert (to.base_url, to.wire, to.api_key_env) == ("https://zai.example/v4", "openai-chat", "ZAI_API_KEY")
    assert (to.source, to.switched, to.stale, to.valid_for_s) == (Source.SERVICE, False, False, 5.0)


def test_the_limits_of_a_target_come_with_it(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        eventually(lambda: firstbyte.route("coder").slow_s == 20.0, "the limits are known")

        assert firstbyte.route("coder").silence_s == 90.0


def test_a_decision_is_kept_and_is_the_same_for_all_steps(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        first = reached(firstbyte)
        same = [firstbyte.route("coder") is first for _ in range(1000)]

    assert sum(same) > 990  # renewed meanwhile on a slow machine


def test_an_agent_hears_of_a_move_without_asking_and_once_of_the_switch(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        reached(firstbyte)
        hold(url)
        moved = comes_to(firstbyte, BACKUP.name, Source.SERVICE)
        later = [firstbyte.route("coder").switched for _ in range(10)]

    assert (moved.role, moved.reason, moved.switched) == ("backup", "manual", True)
    assert not any(later)


def test_seconds_run_on_while_a_decision_is_kept(url: str) -> None:
    hold(url)
    with Firstbyte(url) as firstbyte:
        first = reached(firstbyte)
        assert first.until_s is not None
        before_s: float = first.until_s
        eventually(lambda: (firstbyte.route("coder").until_s or 0.0) < before_s - 3.0, "the seconds are renewed")


def test_what_a_report_was_is_said_at_once_and_counts_at_the_service(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        verdicts = [firstbyte.report(**failed(name)) for name in "ab"]
        verdicts.append(firstbyte.report(Answer.from_facts(good("c"))))
        comes_to(firstbyte, BACKUP.name, Source.SERVICE)

    assert verdicts == ["http_error", "http_error", "ok"]
    assert (firstbyte.waiting, firstbyte.dropped, firstbyte.refused) == (0, 0, 0)


def test_an_id_is_made_where_none_is_given(url: str) -> None:
    facts = {name: value for name, value in failed("x").items() if name != "id"}
    with Firstbyte(url) as firstbyte:
        for _ in range(2):
            firstbyte.report(**facts)

        comes_to(firstbyte, BACKUP.name, Source.SERVICE)


def test_what_is_no_report_is_counted_and_raises_only_where_that_is_asked_for(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        none = [firstbyte.report(target="zai/x"), firstbyte.report(**good("a"), text="psst")]
        firstbyte.report(**{**good("b"), "target": "no/such"})
        eventually(lambda: firstbyte.refused == 3, "the service's refusal is counted")
    with Firstbyte(url, strict=True) as strict, pytest.raises(BadFactError, match="'text' is not a fact"):
        strict.report(**good("a"), text="psst")

    assert none == [None, None]


def test_reports_are_sent_when_the_client_is_closed(url: str) -> None:
    """They have a second for it, which a busy machine may take away: then another client shows it."""
    for turn in range(5):
        with Firstbyte(url) as firstbyte:
            reached(firstbyte)
            firstbyte.report(**good(f"last-words-{turn}"))

        assert firstbyte.waiting == 0
        if firstbyte.dropped == 0:
            break

    assert firstbyte.dropped == 0
    eventually(lambda: (told(url) or {}).get("id") == f"last-words-{turn}", "the report counts")


def test_reports_outlive_a_restart_of_the_service_and_tell_their_true_age(
    server: object, service: Service, start: Callable[[int], Process]
) -> None:
    with Firstbyte(service.url) as firstbyte:
        reached(firstbyte)
        service.__exit__(None, None, None)
        began = time.monotonic()
        firstbyte.report(**good("waits"))
        eventually(lambda: time.monotonic() > began + 0.5 and firstbyte.waiting == 1, "it waits")
        start(service.port)
        eventually(lambda: firstbyte.waiting == 0, "it was sent")
        eventually(lambda: (told(service.url) or {}).get("id") == "waits", "it counts")
        last = told(service.url)

    assert last is not None
    assert 0.5 <= float(str(last["ago_s"])) <= time.monotonic() - began + 1.0
    assert firstbyte.dropped == 0


def test_a_route_that_is_none_is_said_to_be_none(url: str) -> None:
    with Firstbyte(url) as firstbyte, pytest.raises(DoorRefusedError, match="there is no route 'codr'") as refused:
        firstbyte.route("codr")

    assert refused.value.status == 404


def test_without_a_service_ever_the_fallback_is_the_primary() -> None:
    with Firstbyte(nobody(), fallback=[OTHER, SPOT]) as firstbyte:
        to = firstbyte.route("coder")

    assert (to.route, to.target, to.provider, to.model) == ("coder", "own/large", "own", "large")
    assert (to.base_url, to.wire, to.api_key_env) == ("http://127.0.0.1/v1", "openai-chat", "OWN_KEY")
    assert (to.role, to.source, to.stale, to.switched) == ("primary", Source.PRIMARY, True, False)


def test_without_a_service_ever_own_failures_lead_from_one_fallback_to_the_next() -> None:
    with Firstbyte(nobody(), fallback={"coder": [SPOT, OTHER]}) as firstbyte:
        assert firstbyte.route("coder").target == PRIMARY.name
        eventually(lambda: firstbyte.besides([PRIMARY.name], "coder") is not None, "the rules are loaded")
        for name in "ab":
            firstbyte.report(**failed(name))
        to = comes_to(firstbyte, "own/large", Source.LOCAL)

        assert (to.role, to.reason, to.switched) == ("backup", "errors", True)
        with pytest.raises(DoorGoneError):
            firstbyte.route("reviewer")


def test_where_nothing_is_known_the_first_step_is_told_so() -> None:
    url = nobody()
    with Firstbyte(url) as firstbyte:
        assert firstbyte.known("coder") is None
        with pytest.raises(DoorGoneError, match=f"^nothing answers at {url}"):
            firstbyte.route("coder")


def test_strictly_nothing_but_the_services_word_is_told(url: str) -> None:
    with Firstbyte(nobody(), fallback=[SPOT], strict=True) as firstbyte, pytest.raises(DoorGoneError):
        firstbyte.route("coder")
    with Firstbyte(url, fallback=[SPOT], strict=True) as firstbyte:
        assert reached(firstbyte).source is Source.SERVICE


def test_the_last_decision_goes_on_without_the_service(service: Service) -> None:
    hold(service.url)
    with Firstbyte(service.url) as firstbyte:
        reached(firstbyte)
        service.__exit__(None, None, None)
        to = comes_to(firstbyte, BACKUP.name, Source.KEPT)

    assert (to.role, to.stale, to.switched, to.base_url) == ("backup", True, False, "https://or.example/v1")


def test_own_failures_open_a_breaker_while_the_service_is_away_and_it_closes_when_that_is_back(
    service: Service, start: Callable[[int], Process]
) -> None:
    with Firstbyte(service.url) as firstbyte:
        reached(firstbyte)
        eventually(lambda: firstbyte.besides([PRIMARY.name], "coder") is not None, "the plan is known")
        service.__exit__(None, None, None)
        comes_to(firstbyte, PRIMARY.name, Source.KEPT)
        for name in "ab":
            firstbyte.report(**{**failed(name), "target": PRIMARY.name, "age_s": 0.0})
        away = comes_to(firstbyte, BACKUP.name, Source.LOCAL)
        instead = firstbyte.besides([BACKUP.name], "coder")
        start(service.port)
        back = comes_to(firstbyte, BACKUP.name, Source.SERVICE)  # it has heard of the failures by now

    assert (away.role, away.reason, away.switched) == ("backup", "errors", True)
    assert instead is not None
    assert (instead.target, instead.role) == (PRIMARY.name, "last_resort")
    assert (back.reason, back.switched) == ("errors", False)


def test_besides_what_was_tried_comes_the_next_in_order(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        reached(firstbyte)
        eventually(lambda: firstbyte.besides([PRIMARY.name], "coder") is not None, "the plan is known")
        other = firstbyte.besides([PRIMARY.name], "coder")

        assert other is not None
        assert (other.target, other.role, other.primary) == (BACKUP.name, "backup", PRIMARY.name)
        assert firstbyte.besides([PRIMARY.name, BACKUP.name], "coder") is None
        assert firstbyte.besides([], "codr") is None


@pytest.mark.parametrize(
    "spot",
    [
        {"base_url": "http://a", "wire": "openai-chat"},
        {"target": "a", "base_url": "http://a", "wire": "openai-chat"},
        {"target": "a/b", "wire": "openai-chat"},
    ],
)
def test_a_fallback_that_is_none_is_told_at_once(spot: Spot) -> None:
    with pytest.raises(ValueError, match="needs target"):
        Firstbyte(fallback=[spot])


def test_a_client_that_was_closed_still_answers_and_drops_what_comes() -> None:
    firstbyte = Firstbyte(nobody(), fallback=[SPOT])
    firstbyte.close()
    firstbyte.close()

    assert firstbyte.route("coder").target == PRIMARY.name
    assert firstbyte.report(**good("a")) == "ok"
    assert (firstbyte.waiting, firstbyte.dropped) == (0, 1)


def test_many_threads_share_one_thread_of_the_clients(url: str) -> None:
    def step(i: int) -> str:
        firstbyte.report(**good(f"s{i}"))
        return firstbyte.route("coder").target

    with Firstbyte(url) as firstbyte, ThreadPoolExecutor(40) as pool:
        targets = set(pool.map(step, range(1000)))
        threads = [thread.name for thread in threading.enumerate() if thread.name == "firstbyte"]
        eventually(lambda: firstbyte.waiting == 0, "all were sent")

    assert targets == {PRIMARY.name}
    assert len(threads) == 1
    assert (firstbyte.dropped, firstbyte.refused) == (0, 0)


async def test_an_agent_in_a_loop_asks_and_reports_too(url: str) -> None:
    async with AsyncFirstbyte(url) as firstbyte:
        first = await firstbyte.route("coder")
        assert [firstbyte.report(**failed(name)) for name in "ab"] == ["http_error", "http_error"]
        async with asyncio.timeout(120):
            while (to := await firstbyte.route("coder")).role != "backup":  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.01)

    assert (first.target, to.target, to.switched) == (PRIMARY.name, BACKUP.name, True)


def test_one_client_outlives_the_loops_that_use_it(url: str) -> None:
    firstbyte = AsyncFirstbyte(url)

    async def step() -> str:
        firstbyte.report(**good("a"))
        return (await firstbyte.route("coder")).target

    try:
        assert [asyncio.run(step()) for _ in range(3)] == [PRIMARY.name] * 3
    finally:
        asyncio.run(firstbyte.aclose())


async def test_a_loop_is_told_where_nothing_is_known() -> None:
    async with AsyncFirstbyte(nobody()) as firstbyte:
        assert await firstbyte.known("coder") is None
        with pytest.raises(DoorGoneError):
            await firstbyte.route("coder")


def test_a_token_goes_with_the_reports(guarded: str) -> None:
    with Firstbyte(guarded, token="agent-secret") as agent:
        agent.report(**good("a"))
        eventually(lambda: agent.waiting == 0, "it was sent")
    with Firstbyte(guarded) as stranger:
        stranger.report(**good("a"))
        eventually(lambda: stranger.refused == 1, "it was refused")

    assert agent.refused == 0
    assert "secret" not in repr(agent)


def test_an_address_that_is_none_is_told_at_once() -> None:
    with pytest.raises(DoorAddressError):
        Firstbyte("bogus")


def test_the_client_speaks_through_the_library_that_is_loaded_already() -> None:
    from breaker.client.http import httpx as chosen

    assert chosen is httpx


def test_a_step_goes_to_a_target_that_can_take_it(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        eventually(lambda: firstbyte.known("mixed") is not None, "the service answers")
        eventually(lambda: firstbyte.besides([TEXT.name], "mixed") is not None, "the plan is known")
        plain = firstbyte.route("mixed", input_tokens=1000)
        seeing = firstbyte.route("mixed", needs=["vision"], input_tokens=1000)
        again = firstbyte.route("mixed", needs=["what is not known here"])
        long = firstbyte.route("mixed", needs=["vision"], input_tokens=100_000)

    assert (plain.target, plain.switched, plain.able) == (TEXT.name, False, True)
    assert (seeing.target, seeing.role, seeing.reason, seeing.switched) == (EYES.name, "backup", "unable", True)
    assert (again.target, again.switched) == (TEXT.name, True)
    assert (long.role, long.able) == ("last_resort", False)


@pytest.mark.parametrize("session", ["", "x" * 129])
def test_what_can_be_no_session_is_told_at_once(session: str) -> None:
    with pytest.raises(ValueError, match="1 to 128 characters"):
        Firstbyte(session=session)


def test_a_client_says_whose_steps_it_asks_for() -> None:
    asked = list[bytes]()
    with answering(lambda line: asked.append(line.recv(65_536))) as url:
        clients = [Firstbyte(url, session=session, fallback=[SPOT]) for session in ("anna's run", None, None)]
        for client in clients:
            client.known("coder")
        eventually(lambda: len(sessions(asked)) == 3, "all three have asked")
        for client in clients:
            client.close()

    assert b"anna%27s+run" in sessions(asked)


def sessions(asked: list[bytes]) -> set[bytes]:
    """Those that were named in questions for a route."""
    return {line.split()[1].partition(b"session=")[2] for line in asked if line.startswith(b"GET /route?")}
