"""Draws what probes have cost today."""

from collections.abc import Sequence
from html import escape

from breaker.api.notices import Spent

# From this share of a budget on it is drawn as a warning.
_NEARLY = 0.8
_WIDE = 100


def section(spent: Sequence[Spent] | None) -> str:
    """What the probes of each provider have cost since midnight UTC; nothing where nobody probes here."""
    if spent is None:
        return ""
    rows = "\n".join(_row(each) for each in spent)
    return f'<section>\n<h2>Probes today</h2>\n<ul class="spent">\n{rows}\n</ul>\n</section>'


def _row(each: Spent) -> str:
    usd = "no price known" if each.usd is None else f"${each.usd:,.2f}"
    money = f'<span class="usd">{usd}</span>'
    return (
        f'<li><span class="who">{escape(each.provider)}</span><span class="tokens">{_tokens(each.tokens)} tokens</span>'
        f"{money}{_budget(each.share)}</li>"
    )


def _tokens(number: int) -> str:
    """As people say it: 900, 12.3 k, 4.56 M."""
    if number < 1000:
        return f"{number}"
    return f"{number / 1000:.1f} k" if number < 1_000_000 else f"{number / 1_000_000:.2f} M"


def _budget(share: float | None) -> str:
    if share is None:
        return '<span class="quiet">no budget set</span>'
    kind = "failed" if share >= 1 else "slow" if share >= _NEARLY else "good"
    filled = f"{min(share, 1) * _WIDE:.1f}"
    return (
        f'<span class="budget"><svg class="gauge" viewBox="0 0 {_WIDE} 6" preserveAspectRatio="none" '
        f'aria-hidden="true"><path class="none" d="M0 0h{_WIDE}v6H0z"/><path class="{kind}" d="M0 0h{filled}v6H0z"/>'
        f'</svg><span class="quiet">{share:.0%} of the budget</span></span>'
    )
