"""Situations as the page sees them, made without a store."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from breaker.answer import Answer, Ended, Source
from breaker.api.headline import Known
from breaker.api.notices import Aside, Notice, Spent
from breaker.api.page import View
from breaker.circuit import Cause, Circuit, Held, Move, state, until
from breaker.history import History
from breaker.log import Entry, Log
from breaker.policy import Policy
from breaker.route import Route, choose
from breaker.switchboard import STALE_AFTER_S, Standing
from breaker.target import Target
from breaker.usual import UNKNOWN, learn
from breaker.verdict import judge
from tests.api.world import BACKUP, OTHER, PRIMARY, ROUTES

NOW = 1_796_040_000.0  # 2026-11-30 12:00 UTC
UNMOVED = Circuit()
_SHORT = {"primary": PRIMARY, "backup": BACKUP, "other": OTHER}


def circuit(*, cause: Cause, moved_s: float, left_s: float | None) -> Circuit:
    """A circuit that moved a while ago; `left_s` is what is left of its hold, None for closed."""
    return Circuit(
        epoch="e",
        generation=7,
        cause=cause,
        moved_at=NOW - moved_s,
        open_until=None if left_s is None else NOW + left_s,
    )


def knows(log: Log, usual_s: float) -> Log:
    """The log of a target whose first bytes have usually come after so long."""
    known = UNKNOWN
    for i in range(200):
        known = learn(known, usual_s, NOW - 90_000 + 60 * i, out=False)
    return replace(log, usual=known)


def held(*, opened: bool, left_s: float, who: str = "Anna", why: str = "new plan") -> Circuit:
    """A circuit held by hand."""
    return Circuit(
        epoch="e", generation=3, held=Held(opened=opened, who=who, why=why, since=NOW - 60, until=NOW + left_s)
    )


def entry(target: Target, ago_s: float, *, first_byte_s: float | None = 1.4, status: int = 200, **facts: Any) -> Entry:
    """A probe's answer, judged."""
    answer = Answer(
        target=target.name,
        id=f"{target.model}-{ago_s:g}",
        source=Source.PROBE,
        ended=Ended.COMPLETE,
        seconds=(first_byte_s or 0.0) + 1,
        status=status,
        first_byte_s=first_byte_s,
        text_chars=200,
        end_mark=True,
        **facts,
    )
    judgement = judge(answer)
    return Entry(answer=answer, verdict=judgement.verdict, blame=judgement.blame, at=NOW - ago_s, began=NOW - ago_s - 2)


def scene(
    *,
    primary: Circuit = UNMOVED,
    backup: Circuit = UNMOVED,
    other: Circuit = UNMOVED,
    heard_s: Mapping[str, float | None] | None = None,
    logs: Mapping[str, Log] | None = None,
    age_s: float | None = 0.4,
    gone: Mapping[str, float | None] | None = None,
    self_suspect_s: float | None = None,
    routes: Sequence[Route] = ROUTES,
    moves: Sequence[tuple[str, Move]] = (),
    notices: Sequence[Notice] = (),
    histories: Mapping[str, History] | None = None,
    spent: Sequence[Spent] | None = None,
    asides: Sequence[Aside] = (),
) -> View:
    """A view with these circuits; each target was heard of 12 s ago unless `heard_s` or `logs` say otherwise.

    `logs` and `histories` go by the targets' short names, and so do those that are in a part of the store that has been
    `gone` for so many seconds.
    """
    circuits = {PRIMARY.name: primary, BACKUP.name: backup, OTHER.name: other}
    silent = age_s is None or age_s > STALE_AFTER_S
    old = {_SHORT[short].name for short in (_SHORT if silent else gone or ())}
    ages = (age_s, *(gone or {}).values())
    heard = {short: _heard(target, (heard_s or {}).get(short, 12.0)) for short, target in _SHORT.items()}
    return View(
        decisions=[
            choose(route, circuits, NOW, stale=any(target.name in old for target in route.targets)) for route in routes
        ],
        standings=[
            _standing(target, circuits[target.name], (logs or {}).get(short, heard[short]), stale=target.name in old)
            for short, target in _SHORT.items()
        ],
        moves=moves,
        notices=notices,
        now=NOW,
        known=Known(
            age_s=age_s,
            oldest_s=None if None in ages else max(age for age in ages if age is not None),
            silent=silent,
            self_suspect_s=self_suspect_s,
        ),
        histories={_SHORT[short].name: history for short, history in (histories or {}).items()},
        spent=spent,
        asides=asides,
    )


def _heard(target: Target, ago_s: float | None) -> Log:
    return Log() if ago_s is None else Log(probes=(entry(target, ago_s),))


def _standing(target: Target, found: Circuit, log: Log, *, stale: bool) -> Standing:
    return Standing(
        target=target,
        policy=Policy(),
        circuit=found,
        state=state(found, NOW),
        until=until(found, NOW),
        log=log,
        stale=stale,
    )
