"""Says what a target's circuit waits for: when it closes or opens, and by which numbers."""

from collections.abc import Iterator, Mapping
from typing import Any

from breaker.circuit import Cause
from monitor.cli.remote import act
from monitor.cli.times import Clock, span

# A target as `GET /targets` says it, and its policy.
Said = Mapping[str, Any]


def next_of(target: Said, clock: Clock) -> list[str]:
    """What happens next and when, as sentences; `target` is what the automatic part is, without a hold by hand."""
    policy, cause = target["policy"], target["cause"]
    if target["state"] == "closed":
        return list(_closed(target, clock))
    if cause in (Cause.QUOTA, Cause.AUTH, Cause.NOT_FOUND):
        return list(_refused(target, clock))
    if target["state"] == "half-open":
        return [f"The hold is over, and agents stay away until it has recovered. {_tested(target)}"]
    over = clock.ahead(target["until_s"])
    if cause == Cause.RATE_LIMITED:
        return [f"It closes at {over}, unless a probe is told again that too much is asked."]
    if not policy["probing"]:
        return [f"It closes at {over}, unverified, since it isn't probed; {_wary(policy)}"]
    good = f"{_count(policy['recover_row'], 'probe')} {_were(policy['recover_row'])} good and quick{_no_slump(target)}"
    return [f"The hold is over at {over}. It closes then if the last {good}; otherwise it is tested.", _tested(target)]


def opens_when(target: Said) -> Iterator[str]:
    """What opens a closed circuit, one rule a line."""
    p = target["policy"]
    yield f"{_count(p['slow_row'], 'first byte')} in a row later than {span(p['slow_s'])}"
    yield f"{_count(p['errors_row'], 'failed answer')} in a row; slow and failed ones count in one row"
    many, share = p["rate_answers"], f"{100 * p['rate_share']:.0f} %"
    yield f"{share} bad, of at least {many} answers within {span(p['rate_window_s'])} or of the last {many} probes"
    if p["slump"]:
        above_s = target["sluggish_above_s"]
        limit = "its usual speed isn't known yet" if above_s is None else f"now above {span(above_s)}"
        yield f"a slump: first bytes stay about {p['slump_factor']:g} times later than usual ({limit})"
    if p["probing"]:
        yield f"a probe's 429 with Retry-After, or {p['throttled_row']} in a row without"
        yield "a probe that is refused: no credit or quota, the key, the model"


def _closed(target: Said, clock: Clock) -> Iterator[str]:
    since_s, policy = target["since_s"], target["policy"]
    if target["cause"] == Cause.UNVERIFIED and since_s < policy["wary_s"]:
        until = clock.ahead(policy["wary_s"] - since_s)
        yield f"Nobody has verified that it is back: until {until} one bad answer opens it again."


def _refused(target: Said, clock: Clock) -> Iterator[str]:
    remedy = act({**target, "held": None}) or ""
    yield f"{remedy[:1].upper()}{remedy[1:]}"
    every, then = span(target["policy"]["interval_s"]), span(target["policy"]["half_open_s"])
    if target["state"] == "half-open":
        yield f"The first good probe closes it; one comes every {then}."
    else:
        over = clock.ahead(target["until_s"])
        yield f"The first good probe closes it; one comes every {every}, from {over} on every {then}."


def _tested(target: Said) -> str:
    policy = target["policy"]
    if not policy["probing"]:
        return "It isn't probed, so it closes unverified."
    good = f"{_count(policy['recover_row'], 'good one')} in a row{_no_slump(target)}"
    close = "closes" if policy["recover_row"] == 1 else "close"
    silent_s = policy["silent_intervals"] * policy["interval_s"] + policy["silence_s"]
    return (
        f"While it is tested a probe comes every {span(policy['half_open_s'])}: {good} {close} it, "
        f"a bad one opens it for another {span(_next_hold_s(target))}. "
        f"With no telling probe for {span(silent_s)} it closes unverified; {_wary(policy)}"
    )


def _no_slump(target: Said) -> str:
    if target["cause"] != Cause.SLUMP or target["sluggish_above_s"] is None:
        return ""
    return f", not above {span(target['sluggish_above_s'])}, and the slump has passed for certain"


def _wary(policy: Said) -> str:
    return f"then one bad answer opens it again for {span(policy['wary_s'])}."


def _next_hold_s(target: Said) -> float:
    policy, last_s = target["policy"], target["hold_s"]
    if policy["hold_growth"] <= 1 or last_s == 0:
        return float(policy["hold_s"])
    return float(min(max(last_s * policy["hold_growth"], policy["hold_s"]), policy["hold_max_s"]))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
