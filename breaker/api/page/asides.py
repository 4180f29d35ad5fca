"""Draws sections of others: a title, a sentence, and what happened last."""

from html import escape

from breaker.api import marks
from breaker.api.notices import Aside, Line
from breaker.api.page import parts
from breaker.circuit import State


def section(aside: Aside, now: float) -> str:
    """A section as it stands on the page."""
    items = "\n".join(_line(line, now) for line in aside.lines)
    listed = f'\n<ol class="moves">\n{items}\n</ol>' if aside.lines else ""
    return f'<section>\n<h2>{escape(aside.title)}</h2>\n<p class="none">{escape(aside.text)}</p>{listed}\n</section>'


def _line(line: Line, now: float) -> str:
    mark = marks.of_state(State.CLOSED if line.well else State.OPEN)
    return f"<li>{parts.moment(line.at, now)}<p>{mark} {escape(line.text)}{parts.small(line.more)}</p></li>"
