"""Draws the page that a person understands at a glance."""

from collections.abc import Iterator, Sequence
from html import escape

import breaker
from breaker.api import marks, sentences
from breaker.api.headline import Headline, headline
from breaker.api.notices import Notice
from breaker.api.page import asides, moves, parts, routes, spending, targets
from breaker.api.page.sheet import Sheet
from breaker.api.page.view import View
from breaker.api.spans import lasting

__all__ = ["HEADERS", "View", "drawn", "render"]

_SHEET = Sheet("breaker.api.page", "page.html", "page.css", "page.js")
HEADERS = _SHEET.headers


def render(view: View) -> str:
    """The page's HTML."""
    return "".join(drawn(view))


def drawn(view: View) -> Iterator[str]:
    """The page's HTML in pieces, of which none takes long: between two, others may have their turn."""
    told = headline(view.decisions, view.standings, view.now, known=view.known)
    cards, ways = [], []
    for number, standing in enumerate(view.standings):
        cards.append(targets.card(standing, view, number))
        yield ""
    for decision in view.decisions:
        ways.append(routes.card(decision, view))
        yield ""
    yield _SHEET.filled(
        title=escape(f"{told.text.rstrip('.')} · Firstbyte"),
        icon=escape(marks.icon(told.mood)),
        logo=marks.LOGO,
        clock=parts.moment(view.now, view.now),
        mood=told.mood.value,
        known="stale" if view.known.silent else "fresh",
        mark=marks.of_mood(told.mood),
        headline=escape(told.text),
        more=_more(told),
        facts=escape(" ".join(_facts(view))),
        notices=_notices(view.notices),
        routes="\n".join(ways),
        targets="\n".join(cards),
        moves=moves.section(view),
        spending=spending.section(view.spent),
        asides="\n".join(asides.section(aside, view.now) for aside in view.asides),
        metrics='<a href="metrics">Metrics</a>' if view.metrics else "",
        version=escape(breaker.__version__),
    )


def _facts(view: View) -> Iterator[str]:
    """How old what is shown is."""
    if view.known.age_s is not None:
        yield f"Read from the store {lasting(view.known.age_s)} ago."
    quiet = [sentences.quiet_s(standing, view.now) for standing in view.standings]
    if quiet and min(quiet) != float("inf"):
        yield f"Newest answer {lasting(min(quiet))} ago."


def _more(told: Headline) -> str:
    return "\n".join(f"<p>{escape(sentence)}</p>" for sentence in told.more)


def _notices(notices: Sequence[Notice]) -> str:
    if not notices:
        return ""
    items = "\n".join(f'<li class="{notice.level.value}">{escape(notice.text)}</li>' for notice in notices)
    return f'<ul class="notices">\n{items}\n</ul>'
