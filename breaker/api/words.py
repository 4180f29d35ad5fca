"""Says in plain words how things stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from breaker.circuit import OPENS, Cause, Move, State
from breaker.route import Decision, Role
from breaker.switchboard import Standing, newest


class Mood(StrEnum):
    """What the page says at first sight."""

    WELL = "well"
    BACKUP = "backup"
    LAST_RESORT = "last-resort"
    UNKNOWN = "unknown"  # nothing new is known, so nothing is called well


@dataclass(frozen=True, slots=True)
class Headline:
    """The one sentence on top, and what has to be said besides."""

    mood: Mood
    text: str
    more: tuple[str, ...] = ()


def headline(
    decisions: Sequence[Decision], standings: Sequence[Standing], now: float, *, age_s: float | None, stale: bool
) -> Headline:
    """What a person should know first. What is old is never called well."""
    if stale:
        said = _of_routes(decisions, standings, now)
        return Headline(Mood.UNKNOWN, _stale(age_s), () if age_s is None else (said.text, *said.more))
    return _of_routes(decisions, standings, now)


def lasting(seconds: float) -> str:
    """A time span to the second: 0.04 s, 4.2 s, 42 s, 6 min 28 s, 2 h 5 min, 3 d 4 h."""
    if 0 < seconds < 0.095:
        return f"{seconds:.2f} s"
    if seconds < 9.95:
        return f"{max(seconds, 0.0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return _in_two(whole, (60, "min"), (1, "s"))
    if whole < 86_400:
        return _in_two(whole, (3600, "h"), (60, "min"))
    return _in_two(whole, (86_400, "d"), (3600, "h"))


def roughly(seconds: float) -> str:
    """A time span as people say it: a moment, about 40 s, about 6 min, about 2 h."""
    if seconds < 1:
        return "a moment"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.0f} h" if seconds < 172_800 else f"about {seconds / 86_400:.0f} days"


def of_decision(decision: Decision, primary: Standing, now: float) -> str:
    """Why a route goes where it goes."""
    match decision.role:
        case Role.PRIMARY:
            return _why_primary(primary, now)
        case Role.BACKUP:
            return f"{out(primary, now)}."
        case Role.LAST_RESORT:
            why = f"No target of this route is in order; {decision.target.name} is the least bad one."
            return " ".join([why, *_retry(decision)])


def out(standing: Standing, now: float) -> str:
    """Why a target is out, and when it may be back."""
    name, rest_s = standing.target.name, None if standing.until is None else standing.until - now
    if standing.state is State.HELD_OPEN and standing.circuit.held:
        return f"{name} is held open by {standing.circuit.held.who} for {roughly(rest_s or 0.0)} more"
    was, now_is = _WRONG.get(standing.circuit.cause, _WRONG[Cause.ERRORS])
    if rest_s is None:
        return f"{name} {was} and is being tested before it comes back"
    return f"{name} {now_is}; it may be back in {roughly(rest_s)}"


# What was wrong with a target that is out, what is, and both in a word or two.
_WRONG: dict[Cause | None, tuple[str, str]] = {
    Cause.SLOW: ("was slow", "is slow"),
    Cause.ERRORS: ("failed", "fails"),
    Cause.ERROR_RATE: ("failed too often", "fails too often"),
    Cause.SLUMP: ("was far slower than usual", "is far slower than usual"),
    Cause.RATE_LIMITED: ("was asked too much", "was asked too much"),
    Cause.QUOTA: ("ran out of credit or quota", "is out of credit or quota"),
    Cause.AUTH: ("refused the key", "refuses the key"),
    Cause.NOT_FOUND: ("didn't know the model", "doesn't know the model"),
}
_SHORT: dict[Cause | None, str] = {
    Cause.SLOW: "slow",
    Cause.ERRORS: "errors",
    Cause.ERROR_RATE: "too many errors",
    Cause.SLUMP: "far slower than usual",
    Cause.RATE_LIMITED: "rate limited",
    Cause.QUOTA: "no credit or quota",
    Cause.AUTH: "key refused",
    Cause.NOT_FOUND: "model not known",
}


def circuit(standing: Standing) -> str:
    """What a circuit's state means to those who use the target."""
    match standing.state:
        case State.CLOSED:
            unverified = standing.circuit.cause is Cause.UNVERIFIED
            return "takes requests again, unverified" if unverified else "takes requests"
        case State.OPEN:
            return f"out: {_SHORT.get(standing.circuit.cause, _SHORT[Cause.ERRORS])}"
        case State.HALF_OPEN:
            return "out: being tested"
        case State.HELD_OPEN:
            return "out: by hand"
        case State.HELD_CLOSED:
            return "takes requests: by hand"


def unheard(standing: Standing, now: float) -> bool:
    """Whether too little is known of a target to call it well: no answer, or none within its policy's limit."""
    return _quiet_s(standing, now) > standing.policy.silent_s


def move(moved: Move) -> str:
    """What a move did, as the rest of a sentence that begins with the target."""
    if moved.cause in OPENS:
        again = moved.before is State.HALF_OPEN
        what = "failing" if moved.cause is Cause.ERRORS else _SHORT[moved.cause]
        return f"stays out, still {what}" if again else f"was taken out, {what}"
    return _other(moved)


def _other(moved: Move) -> str:
    match moved.cause:
        case Cause.MANUAL:
            held = {State.HELD_OPEN: "was taken out by hand", State.HELD_CLOSED: "was kept in use by hand"}
            return held.get(moved.after, "was released from a hold by hand")
        case Cause.RECOVERED:
            return "is back, recovered"
        case Cause.UNVERIFIED:
            return "is back, unverified"
        case Cause.WAITED:
            return "is back, as long as it asked for is over"
        case Cause.HOLD_OVER:
            return "is no longer held by hand"
        case Cause.CLOCK:
            return "had its times set anew"
        case _:
            return "was put back into the store"


def _in_two(seconds: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    rest = seconds % large[0] // small[0]
    return f"{seconds // large[0]} {large[1]}{f' {rest} {small[1]}' if rest else ''}"


def _of_routes(decisions: Sequence[Decision], standings: Sequence[Standing], now: float) -> Headline:
    by_name = {standing.target.name: standing for standing in standings}
    lost = [decision for decision in decisions if decision.role is Role.LAST_RESORT]
    moved = [decision for decision in decisions if decision.role is Role.BACKUP]
    told = [*(said for d in lost for said in _last_resort(d)), *(_backup(d, by_name, now) for d in moved)]
    if told:
        return Headline(Mood.LAST_RESORT if lost else Mood.BACKUP, told[0], tuple(told[1:]))
    return _on_primaries(decisions, by_name, now)


def _on_primaries(decisions: Sequence[Decision], by_name: dict[str, Standing], now: float) -> Headline:
    count = len(decisions)
    routes = f"{count} routes on their primaries" if count != 1 else "1 route on its primary"
    used = {decision.target.name: by_name[decision.target.name] for decision in decisions}
    quiet = [standing for standing in used.values() if unheard(standing, now)]
    outs = tuple(f"{out(s, now)}." for s in by_name.values() if not s.state.passes)
    if quiet:
        return Headline(Mood.UNKNOWN, _unheard(quiet, now), (f"Until more is known: {routes}.", *outs))
    if outs:
        return Headline(Mood.WELL, f"All routes are on their primaries; {_backups_out(len(outs))}.", outs)
    return Headline(Mood.WELL, f"All is well: {routes}.")


def _backups_out(count: int) -> str:
    return "one backup is out" if count == 1 else f"{count} backups are out"


def _quiet_s(standing: Standing, now: float) -> float:
    """For how long nothing has been heard of a target; infinite for never."""
    last = newest(standing.log)
    return float("inf") if last is None else now - last.at


def _unheard(quiet: Sequence[Standing], now: float) -> str:
    longest_s = max(_quiet_s(standing, now) for standing in quiet)
    if longest_s == float("inf"):
        return f"No answer{f' of {quiet[0].target.name}' if len(quiet) == 1 else ''} has come in yet."
    who = quiet[0].target.name if len(quiet) == 1 else f"{len(quiet)} primaries"
    return f"Nothing new has been heard of {who} for {roughly(longest_s).removeprefix('about ')}."


def _backup(decision: Decision, by_name: dict[str, Standing], now: float) -> str:
    primary = by_name[decision.route.targets[0].name]
    backup = "its backup" if decision.target == decision.route.targets[1] else "a further backup"
    return f"{decision.route.name} is on {backup}: {out(primary, now)}."


def _last_resort(decision: Decision) -> list[str]:
    where = f"{decision.route.name} has no target in order and goes to {decision.target.name} as a last resort."
    return [where, *_retry(decision)]


def _retry(decision: Decision) -> list[str]:
    return [] if decision.retry_after_s is None else [f"The next chance comes in {roughly(decision.retry_after_s)}."]


def _why_primary(primary: Standing, now: float) -> str:
    held = primary.circuit.held
    if primary.state is State.HELD_CLOSED and held:
        return f"The primary, held closed by {held.who}."
    return _unheard([primary], now) if unheard(primary, now) else "The primary, in order."


def _stale(age_s: float | None) -> str:
    if age_s is None:
        return "The store hasn't answered yet: nothing is known."
    return f"The store hasn't answered for {lasting(age_s)}: this is what was last known."
