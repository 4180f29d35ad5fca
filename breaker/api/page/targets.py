"""Draws a target: its circuit, how quick it is, and what became of its last day."""

from collections.abc import Sequence
from html import escape

from breaker.answer import Answer, Source
from breaker.api import marks, sentences, shaping
from breaker.api.page import parts, plot, slots
from breaker.api.page.view import View
from breaker.api.spans import lasting
from breaker.history import Keep, Sample, Slot, Speed, last_slots, recent, speed
from breaker.log import Weight, weigh
from breaker.switchboard import Standing, newest
from breaker.verdict import Verdict


def card(standing: Standing, view: View, number: int) -> str:
    """A target as a card; `number` tells it from the others on the page."""
    history, policy, now = view.history(standing.target), standing.policy, view.now
    samples = recent(history, now)
    found = speed(samples, now)
    day = last_slots(history, now, Keep.of(policy, Source.PROBE).slot_s)
    return (
        f'<article class="target {standing.state.value}{parts.unknown(standing, now)}" data-part="target-{number}" '
        f'aria-labelledby="target-{number}">\n'
        f'<header><h3 id="target-{number}">{parts.name(standing.target)}</h3>\n{_circuit(standing, now)}</header>\n'
        f'<dl class="figures">\n{_figures(standing, found, now)}\n</dl>\n'
        f"{_plot(samples, found, standing, now)}\n{_day(day, number)}\n</article>"
    )


# The circuit


def _circuit(standing: Standing, now: float) -> str:
    since = shaping.since(standing)
    times = [] if since is None else [f"for {lasting(now - since)}"]
    if standing.until is not None:
        times.append(f"{lasting(standing.until - now)} left")
    held = standing.held
    by_hand = [f"{held.who}: {held.why}", sentences.underneath(standing, now)] if held else []
    besides = "".join(f'<span class="quiet">{escape(said)}</span>' for said in [*by_hand, *_to_do(standing)])
    return (
        f'<p class="state {standing.state.value}">{marks.of_state(standing.state)} '
        f"<strong>{parts.state(standing.state)}</strong>"
        f'<span class="quiet">{escape(", ".join([sentences.circuit(standing), *times]))}</span>{besides}</p>'
    )


def _to_do(standing: Standing) -> list[str]:
    """What somebody has to do, also where a hold lies over the circuit."""
    said = sentences.act(standing)
    return [said] if said else []


# Its figures


def _figures(standing: Standing, found: Speed, now: float) -> str:
    over = parts.reach(found.over_s)
    of = f"of {found.count:,}" if found.count else ""
    missing = f"{found.missing:,} without" if found.missing else of
    return "\n".join(
        [
            _figure("First byte", *_first_byte(standing, now)),
            _figure(f"p50 in {over}", _seconds(found.p50_s), parts.small(of)),
            _figure(f"p95 in {over}", _seconds(found.p95_s), parts.small(missing)),
            _figure("Last answer", *_last_answer(standing, now)),
        ]
    )


def _figure(title: str, value: str, besides: str) -> str:
    return f"<div><dt>{title}</dt><dd>{value}{besides}</dd></div>"


def _seconds(seconds: float | None) -> str:
    return parts.small("none") if seconds is None else lasting(seconds)


def _first_byte(standing: Standing, now: float) -> tuple[str, str]:
    entry = shaping.newest_first_byte(standing.log)
    if entry is None or entry.answer.first_byte_s is None:
        return parts.small("none yet"), ""
    slow = entry.answer.first_byte_s > standing.policy.slow_s
    limit = f' <span class="beside">{"over" if slow else "of"} {standing.policy.slow_s:g} s</span>'
    said = f"<span{' class=bad' if slow else ''}>{lasting(entry.answer.first_byte_s)}</span>{limit}"
    return said, parts.small(parts.ago(entry.at, now), sentences.usually(standing))


def _last_answer(standing: Standing, now: float) -> tuple[str, str]:
    entry = newest(standing.log)
    if entry is None:
        return parts.small("not asked yet"), ""
    weight = weigh(entry, standing.policy)
    slow = ", too slow" if weight is Weight.SLOW else ""
    said = "still silent" if entry.verdict is Verdict.PENDING else entry.verdict.value.replace("_", " ")
    word = f"{said}{_status(entry.answer)}{slow}"
    said = f"<span{' class=bad' if weight.bad else ''}>{escape(word)}</span>"
    return said, parts.small(entry.answer.source.value, parts.ago(entry.at, now), sentences.ignored(entry))


def _status(answer: Answer) -> str:
    return f" ({answer.status})" if answer.status not in (None, 200) else ""


# Its last hour and its last day


def _plot(samples: Sequence[Sample], found: Speed, standing: Standing, now: float) -> str:
    policy = standing.policy
    over_s = plot.reach_s(samples, policy.interval_s, now)
    drawn = plot.draw(samples, found, policy.slow_s, over_s=over_s, now=now)
    reach = parts.reach(over_s)
    below = f"<figcaption><span>{reach} ago</span><span>now</span></figcaption>"
    return f'<figure class="hour">{drawn}{below}</figure>'


def _day(day: Sequence[Slot], number: int) -> str:
    reach = parts.reach(len(day) * day[0].length_s)
    said = slots.summary(day)
    told = "\n".join(f"<li><span>{when}</span> {escape(what)}</li>" for when, what in slots.told(day))
    listed = f'<details data-keep="day-{number}"><summary>What happened</summary>\n<ol>\n{told}\n</ol></details>'
    where = f'data-first="{day[0].start:.0f}" data-length="{day[0].length_s:.0f}"'
    return (
        f'<figure class="day" tabindex="0" role="group" aria-label="The last {reach} in slots" {where}>'
        f"{slots.draw(day, said)}<figcaption><span>{reach} ago</span>"
        f"<span>{_share(day)}</span><span>now</span></figcaption></figure>\n{listed if told else ''}"
    )


def _share(day: Sequence[Slot]) -> str:
    good, bad = sum(slot.good for slot in day), sum(slot.bad for slot in day)
    if not good + bad:
        return "no answers"
    return f"{parts.share(good, good + bad)} good of {parts.count(good + bad, 'answer')}"
