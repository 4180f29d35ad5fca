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
from breaker.api import marks, shaping, words
from breaker.api.headline import Headline, Known, headline, of_decision
from breaker.api.notices import Notice
from breaker.api.spans import lasting
from breaker.circuit import Move, State
from breaker.log import Entry, Weight, weigh
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
    known: Known
    metrics: bool = False


def render(view: View) -> str:
    """The page's HTML."""
    told = headline(view.decisions, view.standings, view.now, known=view.known)
    return _TEMPLATE.substitute(
        title=escape(f"{told.text.rstrip('.')} · Firstbyte"),
        icon=escape(marks.icon(told.mood)),
        style=_STYLE,
        clock=_time(view.now, view.now),
        mood=told.mood.value,
        known="stale" if view.known.stale else "fresh",
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
    role = f"{decision.role.value}{_unheard(standings[decision.target.name], view.now)}"
    steps = "\n".join(_step(standings[t.name], view.now, chosen=t == decision.target) for t in decision.route.targets)
    return (
        f'<article class="card"><header><h3>{escape(decision.route.name)}</h3>'
        f'<span class="role {role}">{_ROLES[decision.role]}</span></header>\n'
        f"<ol>\n{steps}\n</ol>\n"
        f'<p class="quiet">{escape(of_decision(decision, view.standings, view.now))}</p></article>'
    )


def _step(standing: Standing, now: float, *, chosen: bool) -> str:
    """A target in a route's order of preference."""
    said = [] if chosen and standing.state is State.CLOSED else [_state(standing.state)]
    word = ", ".join([*said, *(["in use"] if chosen else [])])
    return (
        f'<li class="step{" chosen" if chosen else ""}{_unheard(standing, now)}">{marks.of_state(standing.state)}'
        f'<span>{_name(standing.target)}</span><span class="word">{word}</span></li>'
    )


def _target(standing: Standing, now: float) -> str:
    return (
        f'<tr class="target{_unheard(standing, now)}"><th scope="row">{_name(standing.target)}</th>\n'
        f'<td data-label="Circuit">{_circuit(standing, now)}</td>\n'
        f'<td data-label="First byte">{_first_byte(standing, now)}</td>\n'
        f'<td data-label="Last answer">{_last_answer(standing, now)}</td></tr>'
    )


def _circuit(standing: Standing, now: float) -> str:
    since = shaping.since(standing)
    times = [] if since is None else [f"for {lasting(now - since)}"]
    if standing.until is not None:
        times.append(f"{lasting(standing.until - now)} left")
    held = standing.circuit.held if standing.state in (State.HELD_OPEN, State.HELD_CLOSED) else None
    by_hand = [f"{held.who}: {held.why}", words.underneath(standing, now)] if held else []
    besides = "".join(f'<span class="quiet">{escape(said)}</span>' for said in [*by_hand, *_to_do(standing)])
    return (
        f'<span class="state">{marks.of_state(standing.state)} {_state(standing.state)}</span>'
        f'<span class="quiet">{escape(", ".join([words.circuit(standing), *times]))}</span>{besides}'
    )


def _to_do(standing: Standing) -> list[str]:
    """What somebody has to do, also where a hold lies over the circuit."""
    said = words.act(standing)
    return [said] if said else []


def _first_byte(standing: Standing, now: float) -> str:
    drawn = marks.bars(standing.log.probes, standing.policy) if standing.log.probes else ""
    entry = shaping.newest_first_byte(standing.log)
    if entry is None or entry.answer.first_byte_s is None:
        return f'<div class="measured">{drawn}<p class="quiet">none yet</p></div>'
    slow = entry.answer.first_byte_s > standing.policy.slow_s
    said = f"<span{' class=bad' if slow else ''}>{lasting(entry.answer.first_byte_s)}</span>"
    besides = ", ".join(filter(None, [_ago(entry, now), words.usually(standing)]))
    limit = f'<span class="beside">{"over" if slow else "of"} {standing.policy.slow_s:g} s</span>'
    return f'<div class="measured">{drawn}<p>{said} {limit}<span class="quiet">{besides}</span></p></div>'


def _last_answer(standing: Standing, now: float) -> str:
    entry = newest(standing.log)
    if entry is None:
        return '<span class="quiet">not asked yet</span>'
    weight = weigh(entry, standing.policy)
    slow = ", too slow" if weight is Weight.SLOW else ""
    word = f"{entry.verdict.value.replace('_', ' ')}{_status(entry.answer)}{slow}"
    besides = ", ".join(filter(None, [entry.answer.source.value, _ago(entry, now), words.ignored(entry)]))
    return f'<span{" class=bad" if weight.bad else ""}>{escape(word)}</span><span class="quiet">{besides}</span>'


def _status(answer: Answer) -> str:
    return f" ({answer.status})" if answer.status not in (None, 200) else ""


def _moves(view: View) -> str:
    if not view.moves:
        return '<p class="none">No circuit has moved yet.</p>'
    items = "\n".join(_move(target, move, view.now) for target, move in view.moves)
    return f'<ol class="moves">\n{items}\n</ol>'


def _move(target: str, move: Move, now: float) -> str:
    return (
        f"<li>{_time(move.at, now)}<span>{marks.of_state(move.after)} <strong>{escape(target)}</strong> "
        f'{escape(words.move(move))}</span><span class="quiet why">{escape(move.why)}</span></li>'
    )


def _name(target: Target) -> str:
    """A target's name, which may be broken after each slash."""
    model = escape(target.model).replace("/", "/<wbr>")
    return f'<span class="provider">{escape(target.provider.name)}/</span><wbr>{model}'


def _state(state: State) -> str:
    return state.value.replace("-", " ")


def _ago(entry: Entry, now: float) -> str:
    return f"{lasting(now - entry.at)} ago"


def _unheard(standing: Standing, now: float) -> str:
    """The class that takes the colours from what is not known to be so."""
    return " unheard" if words.unheard(standing, now) else ""


def _time(at: float, now: float) -> str:
    """A moment in UTC, since the reader's own zone isn't known without a script; with its day where that is another."""
    moment = datetime.fromtimestamp(at, UTC)
    today = moment.date() == datetime.fromtimestamp(now, UTC).date()
    said = f"{moment:%H:%M:%S} UTC" if today else f"{moment:%d %b %H:%M} UTC"
    return f'<time class="quiet" datetime="{shaping.clock(at)}">{said}</time>'
