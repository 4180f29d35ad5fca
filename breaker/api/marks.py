"""Draws the page's small marks as SVG: a shape for each state and mood."""

from urllib.parse import quote

from breaker.api.headline import Mood
from breaker.circuit import State

# Drawn in a field of 24 by 24 with the text's colour; each differs in shape, so none needs its colour to be told.
_RING = '<circle cx="12" cy="12" r="9.5" fill="none" stroke="currentColor" stroke-width="2.5"/>'
_BARS = '<path d="M9 8v8M15 8v8" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round"/>'
_SHAPES: dict[State, str] = {
    State.CLOSED: '<circle cx="12" cy="12" r="11" fill="currentColor"/>'
    '<path class="cut" d="M6.8 12.4l3.6 3.6 6.8-7.4" fill="none" stroke-width="2.6" stroke-linecap="round" '
    'stroke-linejoin="round"/>',
    State.OPEN: '<path d="M8 1.5h8l6.5 6.5v8L16 22.5H8L1.5 16V8z" fill="currentColor"/>'
    '<path class="cut" d="M8.3 8.3l7.4 7.4M15.7 8.3l-7.4 7.4" fill="none" stroke-width="2.6" stroke-linecap="round"/>',
    State.HALF_OPEN: f'{_RING}<path d="M12 2.5a9.5 9.5 0 0 1 0 19z" fill="currentColor"/>',
    State.HELD_OPEN: '<path d="M8 1.5h8l6.5 6.5v8L16 22.5H8L1.5 16V8z" fill="none" stroke="currentColor" '
    f'stroke-width="2.5"/>{_BARS}',
    State.HELD_CLOSED: f"{_RING}{_BARS}",
}
_MOODS: dict[Mood, str] = {
    Mood.WELL: _SHAPES[State.CLOSED],
    Mood.BACKUP: '<path d="M12 1.5l11 20.5H1z" fill="currentColor" stroke="currentColor" stroke-linejoin="round"/>'
    '<path class="cut" d="M12 9v6M12 18.4v.2" fill="none" stroke-width="2.6" stroke-linecap="round"/>',
    Mood.LAST_RESORT: _SHAPES[State.OPEN],
    Mood.SELF_SUSPECT: '<path d="M1.5 12h6.5M16 12h6.5M8 6.5v11M16 6.5v11" fill="none" stroke="currentColor" '
    'stroke-width="2.8" stroke-linecap="round"/>',
    Mood.UNKNOWN: f'{_RING}<path d="M12 6.5V12l3.5 2.5" fill="none" stroke="currentColor" stroke-width="2.5" '
    'stroke-linecap="round" stroke-linejoin="round"/>',
}
_ICON_COLOURS: dict[Mood, str] = {
    Mood.WELL: "#2e9e63",
    Mood.BACKUP: "#d98a1f",
    Mood.LAST_RESORT: "#d64541",
    Mood.SELF_SUSPECT: "#3f74c9",
    Mood.UNKNOWN: "#808893",
}
# Silence, and then the first byte.
LOGO = (
    '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" '
    'aria-hidden="true"><path d="M1.5 12H10" stroke-dasharray=".1 4.2"/><path d="M12 3.5v17" stroke-width="3.5"/>'
    '<path d="M17.5 8v8M22 10v4"/></svg>'
)


def of_state(state: State) -> str:
    """A circuit's state as a shape; the word stands beside it, so readers aloud skip it."""
    return f'<svg class="mark {state.value}" viewBox="0 0 24 24" aria-hidden="true">{_SHAPES[state]}</svg>'


def of_mood(mood: Mood) -> str:
    """The mood as a shape; the sentence stands beside it."""
    return f'<svg class="mark" viewBox="0 0 24 24" aria-hidden="true">{_MOODS[mood]}</svg>'


def cut(state: State, colour: str) -> str:
    """A state's shape alone, for a ground of this colour."""
    return _SHAPES[state].replace('class="cut"', f'stroke="{colour}"')


def icon(mood: Mood) -> str:
    """The page's icon as a data URI."""
    drawn = _MOODS[mood].replace('class="cut"', 'stroke="#fff"')
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" color="{_ICON_COLOURS[mood]}">{drawn}</svg>'
    return f"data:image/svg+xml,{quote(svg)}"
