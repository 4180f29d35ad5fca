"""Draws a badge: a name from the configuration, and how it stands, in a word, a colour and a shape."""

from dataclasses import dataclass
from html import escape

from breaker.api import marks, sentences
from breaker.api.headline import Mood, headline
from breaker.api.page import View
from breaker.circuit import State
from breaker.route import Decision, Role
from breaker.switchboard import Standing

_GREEN, _AMBER, _RED, _BLUE, _GREY = "#17784a", "#8a5300", "#b3261e", "#2a5db0", "#565e69"
_NARROW, _WIDE = frozenset("fijlrtI.,:;/'|-! "), frozenset("mwMW@")
_ROLES = {
    Role.PRIMARY: ("on its primary", _GREEN, State.CLOSED),
    Role.BACKUP: ("on a backup", _AMBER, State.HALF_OPEN),
    Role.LAST_RESORT: ("no working target", _RED, State.OPEN),
}
_STATES = {
    State.CLOSED: _GREEN,
    State.OPEN: _RED,
    State.HALF_OPEN: _AMBER,
    State.HELD_OPEN: _BLUE,
    State.HELD_CLOSED: _BLUE,
}
_MOODS = {
    Mood.WELL: ("all well", _GREEN, State.CLOSED),
    Mood.BACKUP: ("on a backup", _AMBER, State.HALF_OPEN),
    Mood.LAST_RESORT: ("no working target", _RED, State.OPEN),
}


@dataclass(frozen=True, slots=True)
class Badge:
    """What a badge says; without a mark it is of what isn't known."""

    label: str
    message: str
    colour: str
    mark: State | None = None


def of_route(decision: Decision, view: View) -> Badge:
    """A route's badge."""
    label = decision.route.name
    if decision.stale or sentences.unknown(view.standing(decision.target), view.now):
        return _unknown(label, stale=decision.stale)
    return Badge(label, *_ROLES[decision.role])


def of_target(standing: Standing, view: View) -> Badge:
    """A target's badge."""
    label = standing.target.name
    if sentences.unknown(standing, view.now):
        return _unknown(label, stale=standing.stale)
    return Badge(label, sentences.circuit(standing), _STATES[standing.state], standing.state)


def of_all(view: View) -> Badge:
    """The badge of all routes together."""
    mood = headline(view.decisions, view.standings, view.now, known=view.known).mood
    stale = any(standing.stale for standing in view.standings)
    return Badge("firstbyte", *_MOODS[mood]) if mood in _MOODS else _unknown("firstbyte", stale=stale)


def draw(badge: Badge) -> str:
    """The badge as SVG."""
    left, right = _width(badge.label) + 14, _width(badge.message) + (30 if badge.mark else 14)
    said, label, message = (escape(text) for text in (f"{badge.label}: {badge.message}", badge.label, badge.message))
    shape = ""
    if badge.mark is not None:
        drawn = marks.cut(badge.mark, badge.colour)
        shape = f'<g transform="translate({left + 6} 4) scale(.5)" color="#fff">{drawn}</g>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{said}">'
        f'<title>{said}</title><rect width="{left + right}" height="20" rx="4" fill="{badge.colour}"/>'
        f'<path d="M4 0H{left}v20H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z" fill="#3b4340"/>{shape}'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="7" y="14" textLength="{left - 14}">{label}</text>'
        f'<text x="{left + (23 if badge.mark else 7)}" y="14" textLength="{_width(badge.message)}">{message}</text>'
        "</g></svg>"
    )


def _unknown(label: str, *, stale: bool) -> Badge:
    return Badge(label, "stale" if stale else "not heard of", _GREY)


def _width(text: str) -> int:
    """About how wide it is, in pixels; the browser makes it exactly so."""
    return round(sum(3.9 if sign in _NARROW else 10 if sign in _WIDE else 6.9 for sign in text))
