"""Draws the last moves in plain words."""

from html import escape

from breaker.api import marks, sentences
from breaker.api.page import parts
from breaker.api.page.view import View
from breaker.circuit import Move


def section(view: View) -> str:
    """The last moves of all targets, newest first."""
    if not view.moves:
        return '<p class="none">No circuit has moved yet.</p>'
    items = "\n".join(_move(target, move, view.now) for target, move in view.moves)
    return f'<ol class="moves">\n{items}\n</ol>'


def _move(target: str, move: Move, now: float) -> str:
    return (
        f"<li>{parts.moment(move.at, now)}<p>{marks.of_state(move.after)} <strong>{escape(target)}</strong> "
        f'{escape(sentences.move(move))}<span class="quiet">{escape(move.why)}</span></p></li>'
    )
