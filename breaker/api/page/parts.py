"""The small parts of which the page's sections are made; every word from outside is escaped here."""

from datetime import UTC, datetime
from html import escape

from breaker.api import sentences, shaping
from breaker.api.spans import lasting
from breaker.circuit import State
from breaker.switchboard import Standing
from breaker.target import Target


def name(target: Target) -> str:
    """A target's name, which may be broken after each slash."""
    model = escape(target.model).replace("/", "/<wbr>")
    return f'<span class="provider">{escape(target.provider.name)}/</span><wbr>{model}'


def state(found: State) -> str:
    """A state in words."""
    return found.value.replace("-", " ")


def ago(at: float, now: float) -> str:
    """How long ago something was."""
    return f"{lasting(now - at)} ago"


def unknown(standing: Standing, now: float) -> str:
    """The class that takes the colours from what is not known to be so."""
    if standing.stale:
        return " stale"
    return " unheard" if sentences.unheard(standing, now) else ""


def moment(at: float, now: float) -> str:
    """A moment in UTC, with its day where that is another; the page's script puts it into the reader's own time."""
    then = datetime.fromtimestamp(at, UTC)
    today = then.date() == datetime.fromtimestamp(now, UTC).date()
    said = f"{then:%H:%M:%S} UTC" if today else f"{then:%d %b %H:%M} UTC"
    return f'<time datetime="{shaping.clock(at)}">{said}</time>'


def span(start: float, end: float) -> str:
    """From when to when, in UTC: 11:44 to 12:00 UTC; with seconds where it is shorter than a minute."""
    form = "%H:%M" if end - start >= 60 else "%H:%M:%S"
    first, last = (datetime.fromtimestamp(at, UTC) for at in (start, end))
    return f"{first.strftime(form)} to {last.strftime(form)} UTC"


def reach(seconds: float) -> str:
    """How far back something reaches: 24 h rather than a day."""
    hours = seconds / 3600
    return f"{hours:.0f} h" if hours.is_integer() and hours < 100 else lasting(seconds)


def share(part: int, whole: int) -> str:
    """A share in a hundred that says 100 % and 0 % only where that is so: 98.9 %."""
    if part in (0, whole):
        return f"{100 * part // max(whole, 1)} %"
    return f"{min(max(100 * part / whole, 0.1), 99.9):.1f} %"


def small(*said: str) -> str:
    """Words that stand besides, in small; nothing where there are none."""
    told = ", ".join(filter(None, said))
    return f'<span class="quiet">{escape(told)}</span>' if told else ""


def count(number: int, one: str, more: str = "") -> str:
    """1 probe, 16 probes, 1,434 probes."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
