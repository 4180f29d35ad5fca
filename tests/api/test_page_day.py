"""What the page draws of a target's last day and last hour, of costs and of others' sections."""

import re
from html.parser import HTMLParser

import pytest

from breaker.api import page
from breaker.api.notices import Aside, Line, Spent
from breaker.api.page import parts, plot, slots
from breaker.history import RANKS, SLOTS, History, Sample, Slot, last_slots, recent, speed
from breaker.log import Weight
from tests.api.scenes import NOW, scene

LENGTH_S = 960


def counts(**numbers: int) -> tuple[int, ...]:
    return tuple(numbers.get(weight.value, 0) for weight in RANKS)


def slot(ago: int, *, good: int = 16, reports: int = 0, out: int = 0, verdict: str = "", **bad: int) -> Slot:
    """A slot with good probes and reports, and some that weren't."""
    start = NOW // LENGTH_S * LENGTH_S - ago * LENGTH_S
    worst = Weight(next(iter(bad))) if bad else Weight.GOOD
    kinds = {"probes": counts(good=good, **bad), "reports": counts(good=reports)}
    return Slot(start=start, length_s=LENGTH_S, out=out, worst=worst, verdict=verdict or "ok", **kinds)


def day(*found: Slot) -> tuple[Slot, ...]:
    return last_slots(History(slots=found), NOW, LENGTH_S)


DAY = day(
    slot(0, good=3),
    slot(1, good=14, slow=2, verdict="pending", out=4),
    slot(2, good=0, failed=16, verdict="http_error", out=12),
    slot(3, good=0, nothing=2, verdict="bad_request"),
    slot(4, good=16, reports=1200),
)


class Words(HTMLParser):
    """The words of a piece of the page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def said(html: str) -> str:
    return " ".join(Words(html).said)


def columns(found: tuple[Slot, ...]) -> list[list[str]]:
    """The kinds of what is drawn in each slot."""
    drawn = re.findall(r'<g class="slot"[^>]*>(.*?)</g>', slots.draw(found, ""))
    return [[kind for kind in re.findall(r'class="(\w+)"', one) if kind != "hit"] for one in drawn]


def test_there_is_a_column_for_each_slot_and_its_shape_says_what_came() -> None:
    drawn = columns(DAY)

    assert len(drawn) == SLOTS
    assert drawn[-6:] == [["none"], ["good"], ["unsaid"], ["failed", "out"], ["slow", "good", "out"], ["good"]]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(slot(0, good=3), "12:00 to 12:16 UTC: 3 probes, all good", id="good"),
        pytest.param(slot(0, good=1, reports=1200), "1 probe, all good, 1,200 reports, all good", id="both"),
        pytest.param(slot(0, good=14, slow=2, verdict="pending", out=1), "16 probes (2 slow); out", id="slow and out"),
        pytest.param(slot(0, good=0, refused=1, verdict="not_found"), "1 probe (1 refused); not found", id="refused"),
        pytest.param(slot(0, good=0), "no answers", id="nothing"),
    ],
)
def test_a_slot_says_what_became_of_its_answers(found: Slot, words: str) -> None:
    assert words in slots.says(found)


def test_a_short_slot_says_its_seconds() -> None:
    assert slots.says(Slot(start=NOW, length_s=16)).startswith("12:00:00 to 12:00:16 UTC: ")


def test_a_bad_probe_among_many_good_reports_is_seen() -> None:
    busy = slots.draw(day(slot(0, good=8, failed=8, reports=100_000)), "")

    (high,) = re.findall(r'class="failed" d="M0 0h8v(\d+)h', busy)
    assert int(high) >= 19


def test_one_failed_report_of_very_many_is_seen() -> None:
    found = Slot(start=NOW, length_s=LENGTH_S, reports=counts(good=100_000, failed=1), worst=Weight.FAILED)

    assert columns(day(found))[-1] == ["failed", "good"]


def test_the_day_is_told_in_a_sentence() -> None:
    assert slots.summary(DAY) == "The last 24 h: 1,253 answers, 98.6 % good. Out in 2 slots of 90."
    assert slots.summary(day()) == "The last 24 h: no answers."
    assert slots.summary(day(slot(1))) == "The last 24 h: 16 answers, 100 % good."


def test_what_happened_is_told_newest_first_and_neighbours_together() -> None:
    assert slots.told(DAY) == [("11:28 to 12:00 UTC", "32 probes (2 slow, 16 failed); http error; out")]
    apart = day(slot(9, good=15, failed=1, verdict="cut"), slot(20, throttled=2, verdict="rate_limited"))
    assert [what for _, what in slots.told(apart)] == [
        "16 probes (1 failed); cut",
        "18 probes (2 rate limited); rate limited",
    ]


def test_only_the_newest_of_what_happened_are_told() -> None:
    assert len(slots.told(day(*(slot(2 * ago, failed=1) for ago in range(20))))) == 8


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 0, "0 %"),
        (0, 9, "0 %"),
        (9, 9, "100 %"),
        (99_999, 100_000, "99.9 %"),
        (1, 100_000, "0.1 %"),
        (1, 2, "50.0 %"),
    ],
)
def test_a_share_is_all_or_nothing_only_where_it_is(part: int, whole: int, words: str) -> None:
    assert parts.share(part, whole) == words


def samples(*found: tuple[float, float | None, Weight]) -> tuple[Sample, ...]:
    made = tuple(Sample(NOW - ago_s, first_byte_s, weight) for ago_s, first_byte_s, weight in found)
    return recent(History(samples=made), NOW)


HOUR = samples((3000, 1.0, Weight.GOOD), (120, 52.0, Weight.SLOW), (60, None, Weight.FAILED), (0, 1.5, Weight.FAILED))


def test_first_bytes_are_drawn_in_shapes_of_their_own() -> None:
    drawn = plot.draw(HOUR, speed(HOUR, NOW), 40.0, over_s=3600, now=NOW)

    assert re.findall(r'<(circle|path) class="(good|slow|failed|missed)"', drawn) == [
        ("circle", "good"),
        ("circle", "slow"),
        ("path", "missed"),
        ("circle", "failed"),
    ]


def test_the_limit_is_a_line_below_what_is_slow_and_above_what_is_quick() -> None:
    drawn = plot.draw(HOUR, speed(HOUR, NOW), 40.0, over_s=3600, now=NOW)

    limit = float(re.findall(r'class="limit" d="M0 ([\d.]+)H', drawn)[0])
    quick, slow = (
        float(re.findall(rf'class="{kind}" cx="[\d.]+" cy="([\d.]+)"', drawn)[0]) for kind in ("good", "slow")
    )
    assert slow < limit < quick
    assert "40 s</text>" in drawn


@pytest.mark.parametrize(("slow_s", "lines"), [(40.0, 4), (2.0, 4), (0.5, 4), (3600.0, 4)])
def test_there_are_lines_to_read_by_whatever_the_limit(slow_s: float, lines: int) -> None:
    drawn = plot.draw((), speed((), NOW), slow_s, over_s=3600, now=NOW)

    assert 3 <= drawn.count("<text") <= lines


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param((), "No first bytes in the last hour.", id="nothing"),
        pytest.param(HOUR[2:3], "No first byte in the last hour. 1 answer had none.", id="none came"),
        pytest.param(
            HOUR,
            "half of 3 within 1.5 s, 95 in a hundred within 52 s; the limit is 40 s. 1 answer had none.",
            id="some",
        ),
    ],
)
def test_the_hour_is_told_in_a_sentence(found: tuple[Sample, ...], words: str) -> None:
    assert words in plot.summary(speed(found, NOW), 40.0)


@pytest.mark.parametrize(
    ("asked_s", "interval_s", "reach_s"),
    [(None, 60, 900), (None, 3, 56.25), (200, 3, 225), (1000, 60, 1800), (3599, 60, 3600), (9, 900, 3600)],
)
def test_the_plot_reaches_back_an_hour_or_a_part_of_it(
    asked_s: float | None, interval_s: float, reach_s: float
) -> None:
    found = () if asked_s is None else samples((asked_s, 1.0, Weight.GOOD))

    assert plot.reach_s(found, interval_s, NOW) == reach_s


def test_the_page_tells_of_the_hour_and_of_the_day() -> None:
    told = said(page.render(scene(histories={"primary": History(DAY, HOUR)})))

    for words in (
        "p50 in 1 h 1.5 s of 3",
        "p95 in 1 h 52 s 1 without",
        "24 h ago 98.6 % good of 1,251 answers now",
        "What happened",
        "Read from the store 0.4 s ago. Newest answer 12 s ago.",
    ):
        assert words in re.sub(r"\s+", " ", told)


def test_where_more_first_bytes_came_than_are_kept_it_says_of_how_long_they_are() -> None:
    many = History(samples=tuple(Sample(NOW - 3 * i, 0.5, Weight.GOOD) for i in range(255, -1, -1)))

    assert "p50 in 12 min 45 s" in said(page.render(scene(histories={"primary": many})))


def test_costs_are_told_of_each_provider() -> None:
    spent = [
        Spent(provider="zai", tokens=8_412_000, usd=4.2, share=0.84),
        Spent(provider="own", tokens=920, usd=None, share=None),
        Spent(provider="far", tokens=12_345, usd=0.0, share=1.2),
    ]

    told = re.sub(r"\s+", " ", said(page.render(scene(spent=spent))))

    assert "zai 8.41 M tokens $4.20 84% of the budget" in told
    assert "own 920 tokens no price known no budget set" in told
    assert "far 12.3 k tokens $0.00 120% of the budget" in told
    assert "Probes today" not in said(page.render(scene()))


def test_others_have_sections_of_their_own() -> None:
    line = Line(at=NOW - 60, text="a run was not done", well=False, more="two operations are missing")
    empty = Aside(title="Empty", text="There were none.")
    told = said(page.render(scene(asides=[Aside(title="Last runs", text="One of two.", lines=[line]), empty])))

    for words in (
        "Last runs",
        "One of two.",
        "11:59:00 UTC",
        "a run was not done",
        "two operations are missing",
        "Empty",
    ):
        assert words in told
