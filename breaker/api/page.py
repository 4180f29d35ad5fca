"""Draws the page that a person understands at a glance; every word in it is escaped here."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from string import Template

import breaker
from breaker.answer import Answer
from breaker.api import marks, shapes, words
from breaker.api.notices import Notice
from breaker.api.words import Headline
from breaker.circuit import Move
from breaker.log import Entry, weigh
from breaker.route import Decision, Role
from breaker.switchboard import Standing, newest
from breaker.target import Target

_TEMPLATE = Template(files("breaker.api").joinpath("page.html").read_text())
_STYLE = files("breaker.api").joinpath("page.css").read_text()
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}

_ROLES = {Role.PRIMARY: "on its primary", Role.BACKUP: "on a backup", Role.LAST_RESORT: "last resort"}


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """All that the page shows, as it was at `now` (the store's time)."""

    decisions: Sequence[Decision]
    standings: Sequence[Standing]
    moves: Sequence[tuple[str, Move]]
    notices: Sequence[Notice]
    now: float
    age_s: float | None
    stale: bool
    metrics: bool = False


def render(view: View) -> str:
    """The page's HTML."""
    told = words.headline(view.decisions, view.standings, view.now, age_s=view.age_s, stale=view.stale)
    return _TEMPLATE.substitute(
        title=escape(f"{told.text.rstrip('.')} · Firstbyte"),
        icon=escape(marks.icon(told.mood)),
        style=_STYLE,
        clock=_time(view.now),
        mood=told.mood.value,
        mark=marks.of_mood(told.mood),
        headline=escape(told.text),
        more=_more(told),
        notices=_notices(view.notices),
        routes="\n".join(_route(decision, view) for decision in view.decisions),
        targets="\n".join(_target(standing, view.now) for standing in view.standings),
        moves=_moves(view),
        metrics=' <a href="/metrics">/metrics</a>' if view.metrics else "",
        version=escape(breaker.__version__),
    )


def _more(told: Headline) -> str:
    return "\n".join(f"<p>{escape(sentence)}</p>" for sentence in told.more)


def _notices(notices: Sequence[Notice]) -> str:
    if not notices:
        return ""
    items = "\n".join(f'<li class="{notice.level.value}">{escape(notice.text)}</li>' for notice in notices)
    return f'<ul class="notices">\n{items}\n</ul>'


def _route(decision: Decision, view: View) -> str:
    standings = {standing.target.name: standing for standing in view.standings}
    primary = standings[decision.route.targets[0].name]
    steps = "\n".join(
        _step(standings[target.name], chosen=target == decision.target) for target in decision.route.targets
    )
    return (
        f'<article class="card"><header><h3>{escape(decision.route.name)}</h3>'
        f'<span class="role {decision.role.value}">{_ROLES[decision.role]}</span></header>\n<ol>\n{steps}\n</ol>\n'
        f'<p class="quiet">{escape(words.of_decision(decision, primary, view.now))}</p></article>'
    )


def _step(standing: Standing, *, chosen: bool) -> str:
    """A target in a route's order of preference."""
    word = f"{standing.state.value.replace('-', ' ')}{', in use' if chosen else ''}"
    return (
        f"<li{' class=chosen' if chosen else ''}>{marks.of_state(standing.state)}"
        f'<span>{_name(standing.target)}</span><span class="word">{word}</span></li>'
    )


def _target(standing: Standing, now: float) -> str:
    return (
        f'<tr><th scope="row">{_name(standing.target)}</th>\n'
        f'<td data-label="Circuit">{_circuit(standing, now)}</td>\n'
        f'<td data-label="First byte">{_first_byte(standing, now)}</td>\n'
        f'<td data-label="Last answer">{_last_answer(standing, now)}</td></tr>'
    )


def _circuit(standing: Standing, now: float) -> str:
    since = shapes.since(standing)
    times = [] if since is None else [f"for {words.lasting(now - since)}"]
    if standing.until is not None:
        times.append(f"{words.lasting(standing.until - now)} left")
    held = standing.circuit.held if standing.state.value.startswith("held") else None
    by_hand = f'<span class="quiet">{escape(f"{held.who}: {held.why}")}</span>' if held else ""
    return (
        f'<span class="state">{marks.of_state(standing.state)} {standing.state.value.replace("-", " ")}</span>'
        f'<span class="quiet">{escape(", ".join([words.circuit(standing), *times]))}</span>{by_hand}'
    )


def _first_byte(standing: Standing, now: float) -> str:
    drawn = marks.bars(standing.log.probes, standing.policy) if standing.log.probes else ""
    entry = shapes.newest_first_byte(standing.log)
    if entry is None or entry.answer.first_byte_s is None:
        return f'{drawn}<span class="quiet">none yet</span>'
    slow = entry.answer.first_byte_s > standing.policy.slow_s
    said = f"{words.lasting(entry.answer.first_byte_s)}{', too slow' if slow else ''}"
    return f'{drawn}<span{" class=bad" if slow else ""}>{said}</span> <span class="quiet">{_ago(entry, now)}</span>'


def _last_answer(standing: Standing, now: float) -> str:
    entry = newest(standing.log)
    if entry is None:
        return '<span class="quiet">not asked yet</span>'
    bad = weigh(entry, standing.policy).bad
    word = f"{entry.verdict.value.replace('_', ' ')}{_status(entry.answer)}"
    return (
        f"<span{' class=bad' if bad else ''}>{escape(word)}</span>"
        f'<span class="quiet">{entry.answer.source.value}, {_ago(entry, now)}</span>'
    )


def _status(answer: Answer) -> str:
    return f" ({answer.status})" if answer.status not in (None, 200) else ""


def _moves(view: View) -> str:
    if not view.moves:
        return '<p class="none">No circuit has moved yet.</p>'
    items = "\n".join(_move(target, move, view.now) for target, move in view.moves)
    return f'<ol class="moves">\n{items}\n</ol>'


def _move(target: str, move: Move, now: float) -> str:
    return (
        f"<li>{_time(move.at)}<span>{marks.of_state(move.after)} <strong>{escape(target)}</strong> "
        f'{escape(words.move(move))}</span><span class="quiet why">{escape(move.why)}</span></li>'
    )


def _name(target: Target) -> str:
    return f'<span class="provider">{escape(target.provider.name)}/</span>{escape(target.model)}'


def _ago(entry: Entry, now: float) -> str:
    return f"{words.lasting(now - entry.at)} ago"


def _time(at: float) -> str:
    """A moment to the second, in UTC, since the reader's own zone isn't known without a script."""
    moment = datetime.fromtimestamp(at, UTC)
    return f'<time class="quiet" datetime="{shapes.clock(at)}">{moment:%H:%M:%S} UTC</time>'
