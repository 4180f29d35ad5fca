import asyncio
import gc
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from prometheus_client import Metric
from prometheus_client.exposition import choose_encoder

from breaker.answer import Answer, Ended, Source
from breaker.api.feed import Feed
from breaker.api.route.given import Given
from breaker.api.route.times import Times
from breaker.circuit import Cause, Circuit, Move, State
from breaker.errors import StoreGoneError
from breaker.log import Log
from breaker.policy import Policy
from breaker.route import Route, choose
from breaker.store.behind import servers_at
from breaker.store.contract import Reading
from breaker.store.redis import RedisStore
from breaker.switchboard import MAX_WAITING, Dropped, Judged, Switchboard
from breaker.target import Provider, Target
from breaker.verdict import Verdict, judge
from monitor.budget import Cost
from monitor.exchange.phases import Phase
from monitor.lag import LoopLag
from monitor.metrics import Metrics, Skip
from monitor.metrics.calls import Timed
from monitor.metrics.family import LINES, Family, Watched
from monitor.metrics.names import ALL
from monitor.metrics.series import Number
from monitor.metrics.table import table
from monitor.reloading import Reloading
from monitor.settings import Budget, Settings, TargetPlan
from tests.compared import Compared
from tests.probes.world import report, settings

LABELS = {"provider": "p", "model": "m"}
NOWHERE = "redis://127.0.0.1:1"


def plan(model: str = "m", **policy: object) -> TargetPlan:
    account = Provider(name="p", base_url="http://127.0.0.1/v1", wire="openai-chat")
    return TargetPlan(
        target=Target(provider=account, model=model),
        policy=Policy(**policy),  # type: ignore[arg-type] # a policy's numbers
        budget=Budget(tokens_per_day=1_000),
    )


SETTINGS = settings([plan(), plan("n", probing=False)])


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(SETTINGS)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"firstbyte_{name}", {**labels})


def good(**facts: object) -> Answer:
    told: dict[str, object] = {"id": "1", "ended": Ended.COMPLETE, "seconds": 6.0, "status": 200, "text_chars": 9}
    told |= {"target": "p/m", "source": Source.PROBE, "headers_s": 0.3, "first_byte_s": 1.5, "end_mark": True}
    return Answer(**(told | facts))  # type: ignore[arg-type] # a table of facts


def failed() -> Answer:
    return good(status=500, first_byte_s=None, end_mark=None, text_chars=None)


def ours(metrics: Metrics) -> Iterator[Metric]:
    return (family for family in metrics.registry.collect() if family.name.startswith("firstbyte_"))


# Names


def test_the_page_says_what_the_code_has() -> None:
    page = Path(__file__).parents[2] / "docs" / "metrics.md"

    assert page.read_text() == table(), "write docs/metrics.md anew: python -m monitor.metrics.table > docs/metrics.md"


async def test_every_metric_is_declared_with_its_labels_and_is_there(metrics: Metrics, store: RedisStore) -> None:
    board = Switchboard(store, SETTINGS.routes, {p.name: p.policy for p in SETTINGS.targets})
    await board.refresh()
    metrics.watch(board)
    metrics.watch_lag(LoopLag())
    metrics.probed(good())
    metrics.phases("p/m", dict.fromkeys(Phase, 0.1))
    metrics.spent("p/m", Cost(prompt_tokens=1), 0.5)
    metrics.watch_door(Given(SETTINGS.routes), Times())
    metrics.watch_events(Feed(board))
    metrics.watch_configuration(Reloading(replace(SETTINGS, source=Path("firstbyte.yaml")), {}))
    opened = Circuit(epoch="e", generation=1, cause=Cause.ERRORS, moved_at=1e9, open_until=None)
    board._snapshot.circuits["p/m"] = opened
    declared = {metric.name.removesuffix("_total"): set(metric.labels) for metric in ALL}

    found = {family.name: {n for s in family.samples for n in s.labels} - {"le"} for family in ours(metrics)}

    # A budget in dollars is the one thing that these settings don't have.
    assert found | {"firstbyte_probe_budget_usd": {"provider"}} == declared


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_a_name_says_what_it_counts(metric: object) -> None:
    kind, name, unit = metric.kind, metric.name, metric.unit  # type: ignore[attr-defined] # from the table

    assert name.startswith("firstbyte_")
    assert name.endswith("_total") == (kind == "counter")
    assert kind != "histogram" or unit == "seconds"


def test_every_series_of_a_counter_exists_from_the_start_at_nothing(metrics: Metrics) -> None:
    counters = [family for family in ours(metrics) if family.type == "counter" and "answers_dropped" not in family.name]
    samples = [sample for family in counters for sample in family.samples]

    assert all(family.samples for family in counters)
    assert {sample.value for sample in samples} == {0.0}
    assert not [sample for sample in samples if sample.name.endswith("_created")]
    assert value(metrics, "reports_total", **LABELS, verdict="loop") == 0.0
    assert value(metrics, "probe_failures_total", **LABELS, verdict="ok") is None


# Probes


def test_a_good_probe_is_counted_and_timed(metrics: Metrics) -> None:
    metrics.probed(good())

    assert value(metrics, "probes_total", **LABELS) == 1
    assert value(metrics, "probe_first_byte_seconds_sum", **LABELS) == 1.5
    assert value(metrics, "probe_first_byte_seconds_bucket", **LABELS, le="1.0") == 0
    assert value(metrics, "probe_first_byte_seconds_bucket", **LABELS, le="2.0") == 1
    assert value(metrics, "probe_duration_seconds_sum", **LABELS) == 6.0
    assert value(metrics, "probe_last_first_byte_seconds", **LABELS) == 1.5
    assert value(metrics, "probe_last_duration_seconds", **LABELS) == 6.0
    assert value(metrics, "probe_last_headers_seconds", **LABELS) == 0.3
    assert value(metrics, "probe_slow_total", **LABELS) == 0


def test_a_failed_probe_is_counted_by_its_verdict_and_leaves_no_time(metrics: Metrics) -> None:
    metrics.probed(good())
    metrics.probed(failed())
    metrics.probed(failed())

    assert value(metrics, "probes_total", **LABELS) == 3
    assert value(metrics, "probe_failures_total", **LABELS, verdict="http_error") == 2
    assert value(metrics, "probe_duration_seconds_count", **LABELS) == 1
    assert value(metrics, "probe_last_first_byte_seconds", **LABELS) is None
    assert value(metrics, "probe_last_duration_seconds", **LABELS) is None
    assert value(metrics, "probe_last_headers_seconds", **LABELS) is None
    assert value(metrics, "probe_last_finished_timestamp_seconds", **LABELS) is not None


@pytest.mark.parametrize(
    ("answer", "slow", "suspect"),
    [
        pytest.param(good(first_byte_s=40.0), 0, 0, id="at the limit"),
        pytest.param(good(first_byte_s=40.1, seconds=50.0), 1, 0, id="beyond it"),
        pytest.param(
            good(ended=Ended.SILENCE, first_byte_s=None, seconds=120.0, text_chars=None), 1, 0, id="never within it"
        ),
        pytest.param(good(first_byte_s=None, seconds=50.0, streamed=False), 0, 0, id="a plain one"),
        pytest.param(good(first_byte_s=41.0, seconds=50.0, suspect_timing=True), 0, 1, id="our own fault"),
    ],
)
def test_slow_probes_are_counted_unless_we_were_slow_ourselves(
    metrics: Metrics, answer: Answer, slow: int, suspect: int
) -> None:
    metrics.probed(answer)

    assert value(metrics, "probe_slow_total", **LABELS) == slow
    assert value(metrics, "probe_suspect_total", **LABELS) == suspect


def test_what_the_last_probe_found_goes_when_another_process_takes_over(metrics: Metrics) -> None:
    metrics.probed(good())
    metrics.phases("p/m", dict.fromkeys(Phase, 0.1))

    metrics.lost("p/m")
    metrics.lost("p/m")

    last = [name for family in ours(metrics) for s in family.samples if "_last_" in (name := s.name)]
    assert last == ["firstbyte_probe_last_finished_timestamp_seconds"]
    assert value(metrics, "probes_total", **LABELS) == 1


def test_the_last_probe_was_good_or_was_not(metrics: Metrics) -> None:
    metrics.probed(good())
    before = value(metrics, "probe_last_good", **LABELS)
    metrics.probed(failed())

    assert (before, value(metrics, "probe_last_good", **LABELS)) == (1.0, 0.0)


async def test_openmetrics_name_the_probe_behind_a_failure_and_a_time(metrics: Metrics) -> None:
    metrics.probed(good())
    metrics.probed(failed())

    text = (await scraped(metrics, "application/openmetrics-text;version=1.0.0")).text

    assert re.search(r'probe_failures_total\{[^}]*"http_error"\} 1\.0 # \{probe_id="1"\} 1\.0', text)
    assert re.search(r'probe_first_byte_seconds_bucket\{le="2\.0"[^}]*\} 1\.0 # \{probe_id="1"\} 1\.5', text)
    assert re.search(r'probe_duration_seconds_bucket\{le="40\.0"[^}]*\} 1\.0\n', text)
    assert "probe_id" not in (await scraped(metrics, "text/plain")).text


def test_only_phases_that_were_reached_have_a_time(metrics: Metrics) -> None:
    metrics.phases("p/m", {Phase.CONNECT: 0.01, Phase.TLS: 0.02, Phase.SEND: 0.03, Phase.WAIT: 0.04})
    metrics.phases("p/m", {Phase.CONNECT: 0.05})

    assert value(metrics, "probe_last_phase_seconds", **LABELS, phase="connect") == 0.05
    assert value(metrics, "probe_last_phase_seconds", **LABELS, phase="tls") is None


def test_starts_skips_and_crashes_are_counted(metrics: Metrics) -> None:
    metrics.started("p/m", 0.02)
    metrics.started("p/m", 0.2)
    metrics.stopped()
    metrics.skipped(Skip.FRESH)
    metrics.crashed()

    assert value(metrics, "probe_start_delay_seconds_bucket", **LABELS, le="0.025") == 1
    assert value(metrics, "probes_in_flight") == 1
    assert value(metrics, "probes_skipped_total", cause="fresh") == 1
    assert value(metrics, "probe_crashes_total") == 1


def test_what_probes_cost_is_counted_beside_the_budget(metrics: Metrics) -> None:
    metrics.spent("p/m", Cost(prompt_tokens=700, completion_tokens=50, usd=0.5), 0.75)
    metrics.spent("p/m", Cost(prompt_tokens=0, completion_tokens=0), None)

    assert value(metrics, "probe_tokens_total", **LABELS, token_type="prompt") == 700
    assert value(metrics, "probe_tokens_total", **LABELS, token_type="completion") == 50
    assert value(metrics, "probe_cost_usd_total", **LABELS) == 0.5
    assert value(metrics, "probe_budget_used_ratio", provider="p") == 0.75
    assert value(metrics, "probe_budget_tokens", provider="p") == 1_000


def test_the_limits_stand_beside_the_measures(metrics: Metrics) -> None:
    assert value(metrics, "probe_slow_limit_seconds", **LABELS) == 40.0
    assert value(metrics, "probe_interval_seconds", **LABELS) == 60.0
    assert value(metrics, "probe_interval_seconds", provider="p", model="n") is None


# What a switchboard tells


def judged(answer: Answer) -> Judged:
    reading = Reading(circuit=Circuit(), log=Log(), now=1.0)
    return Judged(answer=answer, judgement=judge(answer), reading=reading, move=None)


def test_reports_are_counted_by_verdict_and_probes_are_none(metrics: Metrics) -> None:
    for answer in (report("p/m", good=True), report("p/m", good=False), good()):
        metrics.judged(judged(answer))

    assert value(metrics, "reports_total", **LABELS, verdict="ok") == 1
    assert value(metrics, "reports_total", **LABELS, verdict="http_error") == 1


def test_moves_are_counted_by_cause(metrics: Metrics) -> None:
    move = Move(at=1.0, before=State.CLOSED, after=State.OPEN, cause=Cause.SLOW, why="", circuit=Circuit())
    metrics.moved("p/m", move)

    assert value(metrics, "circuit_moves_total", **LABELS, cause="slow") == 1
    assert value(metrics, "circuit_moves_total", **LABELS, cause="errors") == 0


async def test_circuits_routes_and_store_are_those_of_the_scrape(metrics: Metrics, store: RedisStore) -> None:
    board = Switchboard(store, SETTINGS.routes, {p.name: p.policy for p in SETTINGS.targets})
    metrics.watch(board)
    before = value(metrics, "store_up"), value(metrics, "store_snapshot_age_seconds")
    await board.refresh()
    await board.hold("p/m", opened=True, who="me", why="a test", for_s=60)

    states = {state: value(metrics, "circuit_state", **LABELS, state=state.value) for state in State}

    assert before == (0.0, None)
    assert states == {state: float(state is State.HELD_OPEN) for state in State}
    assert value(metrics, "route_target", route="coder", **LABELS) == 0.0
    assert value(metrics, "route_target", route="coder", provider="p", model="n") == 1.0
    assert value(metrics, "store_up") == 1.0
    assert (value(metrics, "store_answers_waiting"), value(metrics, "store_answers_oldest_seconds")) == (0.0, 0.0)
    assert value(metrics, "store_answers_waiting_most") == MAX_WAITING
    assert {cause: value(metrics, "store_answers_dropped_total", cause=cause) for cause in Dropped} == dict.fromkeys(
        Dropped, 0.0
    )


def test_without_a_switchboard_there_is_nothing_of_circuits(metrics: Metrics) -> None:
    assert value(metrics, "circuit_state", **LABELS, state="closed") is None
    assert value(metrics, "event_loop_lag_seconds") is None


async def test_times_and_failures_of_calls_to_the_store_are_counted(metrics: Metrics, store_url: str) -> None:
    well, gone = (RedisStore(Timed(servers_at(url, 2.0), metrics.store_called), 2.0) for url in (store_url, NOWHERE))
    await well.circuits(["p/m"])
    with pytest.raises(StoreGoneError):
        await gone.circuits(["p/m"])
    await well.ping()
    await well.close()
    await gone.close()

    assert value(metrics, "store_call_seconds_count") == 1
    assert value(metrics, "store_call_failures_total") == 1


async def test_a_route_has_the_targets_whose_circuits_pass(metrics: Metrics, store: RedisStore) -> None:
    board = Switchboard(store, SETTINGS.routes, {p.name: p.policy for p in SETTINGS.targets})
    metrics.watch(board)
    await board.hold("p/m", opened=True, who="me", why="a test", for_s=60)

    assert value(metrics, "route_targets", route="coder") == 2
    assert value(metrics, "route_targets_available", route="coder") == 1
    assert value(metrics, "circuit_last_move_timestamp_seconds", **LABELS) is None


def test_answers_to_agents_are_counted_by_target_and_role(metrics: Metrics) -> None:
    given = Given(SETTINGS.routes)
    metrics.watch_door(given, Times())
    (route,) = SETTINGS.routes
    for stale in (False, True, True):
        given.of(choose(route, {}, 1.0, stale=stale)).times += 1

    requests = {tuple(s.labels.values()): s.value for f in ours(metrics) for s in f.samples if "requests" in s.name}

    assert requests == {
        ("coder", "p", "m", "primary"): 3.0,
        ("coder", "p", "m", "last_resort"): 0.0,
        ("coder", "p", "n", "backup"): 0.0,
        ("coder", "p", "n", "last_resort"): 0.0,
    }
    assert value(metrics, "route_stale_answers_total", route="coder") == 2


# Scrapes


async def scraped(metrics: Metrics, accept: str) -> httpx.Response:
    transport = httpx.ASGITransport(metrics.asgi())
    async with httpx.AsyncClient(transport=transport, base_url="http://firstbyte") as client:
        return await client.get("/metrics", headers={"accept": accept})


@pytest.mark.parametrize(
    ("accept", "kind", "end"),
    [
        ("text/plain;version=0.0.4", "text/plain; version=0.0.4", ""),
        ("application/openmetrics-text;version=1.0.0", "application/openmetrics-text; version=1.0.0", "# EOF\n"),
    ],
    ids=["text", "openmetrics"],
)
async def test_a_scrape_gets_the_format_that_it_asks_for(metrics: Metrics, accept: str, kind: str, end: str) -> None:
    answer = await scraped(metrics, accept)

    assert answer.headers["content-type"].startswith(kind)
    assert answer.text.endswith(end)
    assert 'firstbyte_probes_total{model="m",provider="p"} 0.0' in answer.text
    assert "process_cpu_seconds_total" in answer.text
    assert "python_gc_objects_collected_total" in answer.text
    assert "_created" not in answer.text


def test_two_of_them_can_stand_in_one_process() -> None:
    first, second = Metrics(SETTINGS), Metrics(SETTINGS)
    first.crashed()

    assert value(second, "probe_crashes_total") == 0.0


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_can_be_reported(metrics: Metrics, verdict: Verdict) -> None:
    assert value(metrics, "reports_total", **LABELS, verdict=verdict.value) == 0.0


def test_settings_without_targets_have_metrics_too() -> None:
    assert list(ours(Metrics(Settings(targets=(), routes=(), data=Path("/nowhere")))))


FORMATS = ("text/plain;version=0.0.4", "application/openmetrics-text;version=1.0.0")


@pytest.mark.parametrize("accept", FORMATS, ids=["text", "openmetrics"])
async def test_what_is_scraped_is_what_the_python_client_writes(accept: str, store: RedisStore) -> None:
    """At each of several moments, so that a line that is remembered too long is found."""
    metrics = Metrics(SETTINGS)
    encode, kind = choose_encoder(accept)

    async def both() -> tuple[str, str]:
        answer = await scraped(metrics, accept)
        assert answer.headers["content-type"] == kind
        return _ours_alone(answer.text), _ours_alone(encode(metrics.registry).decode())

    changes: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: metrics.probed(good()),
        lambda: metrics.probed(replace(good(), first_byte_s=1e7 + 0.5, seconds=2e8)),
        lambda: metrics.probed(failed()),
        lambda: metrics.lost("p/m"),
        lambda: metrics.watch(Switchboard(store, SETTINGS.routes, {p.name: p.policy for p in SETTINGS.targets})),
        lambda: metrics.watch_door(Given(SETTINGS.routes), Times()),
        lambda: metrics.started("p/m", 0.2),
        lambda: metrics.spent("p/m", Cost(prompt_tokens=9_000, completion_tokens=70, usd=0.001), 0.25),
        lambda: metrics.renew(settings([plan("n"), plan('a "quoted" \\ name\n')])),
    )
    for change in changes:
        change()
        ours_now, theirs_now = await both()

        assert ours_now == theirs_now


def _ours_alone(text: str) -> str:
    """Without what is another at each look, and without what a process is."""
    other = ("process_", "python_", "firstbyte_store_snapshot_age", "firstbyte_store_answers_oldest")
    return "\n".join(line for line in text.splitlines() if not line.removeprefix("# HELP ").startswith(other))


def test_a_scrape_shows_one_moment_and_what_changes_meanwhile_is_in_the_next() -> None:
    family = Family("firstbyte_n", "gauge", "Numbers.", ("n",), make=Number)
    for n in range(LINES + 1):
        family.labels(str(n)).set(1.0)
    family.take()
    family.labels("new").set(2.0)
    pieces = family.pieces(openmetrics=True)
    first = next(pieces)
    family.labels("0").set(2.0)
    family.labels(str(LINES)).set(2.0)

    whole = first + b"".join(pieces)
    family.take()
    then = b"".join(family.pieces(openmetrics=True))

    assert whole.count(b" 1.0\n") == LINES + 1
    assert b" 0.0\n" not in whole
    assert then.count(b" 2.0\n") == 3


def test_what_is_not_told_any_more_is_not_shown_any_more() -> None:
    told = {("a",): 1.0, ("b",): 2.0}
    family = Watched("firstbyte_n", "gauge", "Numbers.", ("n",), lambda: told.items())
    before = b"".join(family.pieces(openmetrics=False))
    told = {("b",): 3.0}

    after = b"".join(family.pieces(openmetrics=False))

    assert before.endswith(b'{n="a"} 1.0\nfirstbyte_n{n="b"} 2.0\n')
    assert after == b'# HELP firstbyte_n Numbers.\n# TYPE firstbyte_n gauge\nfirstbyte_n{n="b"} 3.0\n'


@pytest.mark.parametrize("end", [lambda family: family.remove("a"), Family.clear], ids=["removed", "cleared"])
def test_what_went_is_not_kept_where_nobody_scrapes(end: Callable[[Family[Number]], None]) -> None:
    family = Family("firstbyte_n", "gauge", "Numbers.", ("n",), make=Number)
    there = alive(Number)

    for number in range(100):
        family.labels("a").set(float(number))
        end(family)

    assert alive(Number) == there


def alive(kind: type) -> int:
    """How many of a kind there are in this process."""
    gc.collect()
    return sum(type(one) is kind for one in gc.get_objects())


async def test_the_loop_goes_on_while_a_scrape_is_rendered() -> None:
    many = Metrics(settings([plan(f"m{i}") for i in range(100)]))
    scrape = asyncio.create_task(scraped(many, "text/plain"))
    turns = 0
    while not scrape.done():
        await asyncio.sleep(0)
        turns += 1

    assert turns > 20  # a few belong to the request itself
    assert scrape.result().text.count("firstbyte_probes_total{") == 100


def test_answers_to_agents_are_timed_in_buckets(metrics: Metrics) -> None:
    times = Times()
    for seconds in (0.00001, 0.00002, 0.3):
        times.add(seconds)
    metrics.watch_door(Given(SETTINGS.routes), times)

    def upto(bound: str) -> float | None:
        return metrics.registry.get_sample_value("firstbyte_route_answer_seconds_bucket", {"le": bound})

    assert [upto(bound) for bound in ("1e-05", "2.5e-05", "0.1", "+Inf")] == [1, 2, 2, 3]
    assert metrics.registry.get_sample_value("firstbyte_route_answer_seconds_sum") == pytest.approx(0.30003)


def test_of_a_target_that_went_nothing_is_shown(metrics: Metrics) -> None:
    metrics.probed(good())
    other = Provider(name="q", base_url="http://127.0.0.1/v1", wire="openai-chat")
    plan = TargetPlan(target=Target(provider=other, model="n"), policy=Policy())
    metrics.renew(replace(SETTINGS, targets=(plan,), routes=()))
    metrics.probed(good())

    labels = {value for family in ours(metrics) for sample in family.samples for value in sample.labels.values()}
    assert "p" not in labels
    assert "q" in labels


@pytest.mark.parametrize("after", ["a", "b"], ids=["those that stay", "others"])
def test_of_many_targets_none_is_held_against_all_others(after: str) -> None:
    Compared.times = 0
    metrics = Metrics(settings([plan(Compared(f"a{i}")) for i in range(100)]))
    metrics.renew(settings([plan(Compared(f"{after}{i}")) for i in range(100)]))

    assert Compared.times < 1_000
    assert value(metrics, "probe_interval_seconds", provider="p", model=f"{after}99") == 60


async def test_a_hundred_targets_cost_at_most_150_series_each(store: RedisStore) -> None:
    """Everything that stands once counts too."""
    providers = [Provider(name=f"p{n}", base_url="http://127.0.0.1/v1", wire="openai-chat") for n in range(100)]
    targets = tuple(Target(provider=provider, model="m") for provider in providers)
    route = Route(name="all", targets=targets)
    plans = tuple(TargetPlan(target=target, policy=Policy()) for target in targets)
    metrics = Metrics(Settings(targets=plans, routes=(route,), data=Path("/nowhere")))
    metrics.watch(Switchboard(store, [route], {plan.name: plan.policy for plan in plans}))
    metrics.watch_door(Given([route]), Times())
    for plan in plans:
        metrics.probed(replace(good(), target=plan.name))
        metrics.phases(plan.name, dict.fromkeys(Phase, 0.1))

    series = sum(len(family.samples) for family in metrics.registry.collect())

    assert 100 * 80 < series <= 100 * 150
