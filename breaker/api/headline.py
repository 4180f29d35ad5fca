"""Says in a sentence what a person should know first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from breaker.api.sentences import automatic, kept, out, quiet_s, unheard
from breaker.api.spans import lasting, roughly
from breaker.circuit import State
from breaker.route import Decision, Role
from breaker.switchboard import Standing


class Mood(StrEnum):
    """What the page says at first sight."""

    WELL = "well"
    BACKUP = "backup"
    LAST_RESORT = "last-resort"
    SELF_SUSPECT = "self-suspect"  # our own network is down, so nothing is said of any target
    UNKNOWN = "unknown"  # nothing new is known, so nothing is called well


@dataclass(frozen=True, slots=True)
class Headline:
    """The one sentence on top, and what has to be said besides."""

    mood: Mood
    text: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """How old what is known is, in seconds (None: nothing is), and for how long our own network has been down.

    `age_s` is since any part of the store answered, `oldest_s` the greatest age of a target; `silent` says that no part
    of the store has answered lately.
    """

    age_s: float | None
    oldest_s: float | None
    silent: bool
    self_suspect_s: float | None = None


def headline(decisions: Sequence[Decision], standings: Sequence[Standing], now: float, *, known: Known) -> Headline:
    """What a person should know first. What is old is never called well."""
    said = _of_routes(decisions, standings, now)
    also = (said.text, *said.more)
    if known.silent:
        return Headline(Mood.UNKNOWN, _stale(known.age_s), () if known.age_s is None else also)
    old = [_in_part(standings, known.oldest_s)] if any(standing.stale for standing in standings) else []
    if known.self_suspect_s is not None:
        text = "Our own network seems to be down: nothing moves until it is back."
        since = f"It has been so for {roughly(known.self_suspect_s)}; what was last known before:"
        return Headline(Mood.SELF_SUSPECT, text, (*old, since, *also))
    if not old:
        return said
    # What the other parts of the store say is no guess, and may be worse.
    known_now = _of_routes([decision for decision in decisions if not decision.stale], standings, now)
    if known_now.mood not in (Mood.BACKUP, Mood.LAST_RESORT):
        return Headline(Mood.UNKNOWN, old[0], also)
    first = (known_now.text, *known_now.more)
    return Headline(known_now.mood, known_now.text, (*known_now.more, *old, *(one for one in also if one not in first)))


def of_decision(decision: Decision, by_name: Mapping[str, Standing], now: float) -> str:
    """Why a route goes where it goes; `by_name` are how its targets stand."""
    primary = by_name[decision.route.targets[0].name]
    match decision.role:
        case Role.PRIMARY:
            return _why_primary(primary, now)
        case Role.BACKUP:
            return out(primary, now)
        case Role.LAST_RESORT:
            why = f"No target of this route works; {decision.target.name} is the least bad one."
            if decision.crowded:
                why = f"Too many of this route's targets are out, so {decision.target.name} is used although it is out."
            return " ".join([why, *_retry(decision)])


def _of_routes(decisions: Sequence[Decision], standings: Sequence[Standing], now: float) -> Headline:
    by_name = {standing.target.name: standing for standing in standings}
    lost = [decision for decision in decisions if decision.role is Role.LAST_RESORT]
    moved = [decision for decision in decisions if decision.role is Role.BACKUP]
    told = [*(said for d in lost for said in _last_resort(d)), *(_backup(d, by_name, now) for d in moved)]
    if not told:
        return _on_primaries(decisions, by_name, now)
    tasks = dict.fromkeys(said for d in (*lost, *moved) for said in _tasks(d, by_name, now))
    return Headline(Mood.LAST_RESORT if lost else Mood.BACKUP, told[0], (*told[1:], *tasks, *_kept(by_name, now)))


def _on_primaries(decisions: Sequence[Decision], by_name: dict[str, Standing], now: float) -> Headline:
    count = len(decisions)
    routes = f"{count} routes on their primaries" if count != 1 else "1 route on its primary"
    used = {decision.target.name: by_name[decision.target.name] for decision in decisions}
    quiet = [standing for standing in used.values() if unheard(standing, now)]
    more = (*(out(s, now) for s in by_name.values() if not s.state.passes), *_kept(by_name, now))
    if quiet:
        return Headline(Mood.UNKNOWN, _unheard(quiet, now), (f"Until more is known: {routes}.", *more))
    if more:
        return Headline(Mood.WELL, f"All routes are on their primaries; {_not_as_usual(by_name)}.", more)
    return Headline(Mood.WELL, f"All is well: {routes}.")


def _not_as_usual(by_name: dict[str, Standing]) -> str:
    """How many targets are out, or where none is, how many are held in use."""
    outs = sum(not standing.state.passes for standing in by_name.values())
    if outs:
        return "one backup is out" if outs == 1 else f"{outs} backups are out"
    held = sum(standing.state is State.HELD_CLOSED for standing in by_name.values())
    return "one target is kept in use by hand" if held == 1 else f"{held} targets are kept in use by hand"


def _kept(by_name: dict[str, Standing], now: float) -> list[str]:
    """A hold that keeps a target in use is said always: it is what nobody sees otherwise."""
    return [kept(standing, now) for standing in by_name.values() if standing.state is State.HELD_CLOSED]


def _unheard(quiet: Sequence[Standing], now: float) -> str:
    longest_s = max(quiet_s(standing, now) for standing in quiet)
    if longest_s == float("inf"):
        return f"No answer{f' of {quiet[0].target.name}' if len(quiet) == 1 else ''} has come in yet."
    who = quiet[0].target.name if len(quiet) == 1 else f"{len(quiet)} primaries"
    return f"Nothing new has been heard of {who} for {roughly(longest_s).removeprefix('about ')}."


def _backup(decision: Decision, by_name: dict[str, Standing], now: float) -> str:
    primary = by_name[decision.route.targets[0].name]
    backup = "its backup" if decision.target == decision.route.targets[1] else "a further backup"
    return f"{decision.route.name} is on {backup}: {out(primary, now)}"


def _last_resort(decision: Decision) -> list[str]:
    name, target = decision.route.name, decision.target.name
    where = f"{name} has no working target and goes to {target} as a last resort."
    if decision.crowded:
        where = f"{name} has too many targets out and goes to {target}, although that is out too."
    return [where, *_retry(decision)]


def _tasks(decision: Decision, by_name: dict[str, Standing], now: float) -> list[str]:
    """What somebody has to do, so that a route has its targets again; why it is on a backup is said already."""
    targets = decision.route.targets[1 if decision.role is Role.BACKUP else 0 :]
    standings = [by_name[target.name] for target in targets]
    return [out(s, now) for s in standings if not s.state.passes and s.circuit.cause and s.circuit.cause.refusal]


def _retry(decision: Decision) -> list[str]:
    return [] if decision.retry_after_s is None else [f"The next chance comes in {roughly(decision.retry_after_s)}."]


def _why_primary(primary: Standing, now: float) -> str:
    held = primary.circuit.held
    if primary.state is State.HELD_CLOSED and held:
        would_be = "" if automatic(primary, now).state.passes else ", although it would be out by itself"
        return f"The primary, held closed by {held.who}{would_be}."
    return _unheard([primary], now) if unheard(primary, now) else "The primary works."


def _in_part(standings: Sequence[Standing], oldest_s: float | None) -> str:
    old = [standing.target.name for standing in standings if standing.stale]
    which = old[0] if len(old) == 1 else f"{len(old)} of {len(standings)} targets"
    since = "hasn't answered yet" if oldest_s is None else f"hasn't answered for {lasting(oldest_s)}"
    return f"A part of the store {since}: of {which} this is what was last known."


def _stale(age_s: float | None) -> str:
    if age_s is None:
        return "The store hasn't answered yet: nothing is known."
    return f"The store hasn't answered for {lasting(age_s)}: this is what was last known."
