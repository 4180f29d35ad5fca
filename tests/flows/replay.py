"""Plays a recorded provider to the whole service, and checks and draws what the service made of it."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from breaker.answer import Part
from breaker.circuit import Circuit, Move, State, due, next_due
from breaker.log import Entry, Log
from breaker.policy import Policy
from breaker.switchboard import Judged
from monitor.daemon import Ears
from monitor.simulator import Replay, Simulator
from tests.service import SMALL_PROBE, Running, faster, plan, running, settings

TRACE = Path(__file__).parents[1] / "traces" / "six-hours.csv"
PRIMARY, BACKUP = "sagging/m", "steady/m"


@dataclass
class Played:
    """What happened; times are the store's."""

    policy: Policy
    speed: float
    began: float
    judged: list[Judged] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    routed: list[tuple[float, str]] = field(default_factory=list)  # when, which target

    def open_spans(self) -> list[tuple[float, float]]:
        """From each opening to the closing that ended it, or to the end."""
        spans, since = [], None
        for move in self.moves:
            if move.after is State.OPEN and since is None:
                since = move.at
            elif move.after is State.CLOSED and since is not None:
                spans.append((since, move.at))
                since = None
        return spans if since is None else [*spans, (since, self.routed[-1][0])]


async def play(replay: Replay, speed: float, for_s: float, data: Path) -> Played:
    """Let the service probe a replayed provider for a while of the recorded time; limits are divided like the times."""
    policy = faster(Policy(), speed)
    played = Played(policy=policy, speed=speed, began=time.time())
    ears = Ears(
        judged=(lambda judged: played.judged.append(judged) if judged.answer.target == PRIMARY else None,),
        moved=(lambda target, move: played.moves.append(move) if target == PRIMARY else None,),
    )
    async with Simulator({PRIMARY: replay, BACKUP: "healthy"}, speed=speed, seed=7) as providers:
        plans = [plan(providers, name, policy, probe=SMALL_PROBE) for name in (PRIMARY, BACKUP)]
        async with running(settings(plans, data), ears=ears) as service:
            played.began = time.time()
            await providers.set(PRIMARY, replay)
            await _ask_for_routes(service, played, for_s / speed)
    return played


async def _ask_for_routes(service: Running, played: Played, for_s: float) -> None:
    """Ask as agents do, all the time."""
    ends = time.time() + for_s
    while time.time() < ends:
        said = await service.route()
        played.routed.append((time.time(), str(said["target"])))
        await asyncio.sleep(0.02)


def moves_over(judged: Sequence[Judged], policy: Policy, until: float) -> list[Move]:
    """The moves that the rule alone makes over these answers, each at the moment when it counted."""
    circuit, entries, moves = Circuit(), list[Entry](), list[Move]()

    def settle(now: float) -> None:
        nonlocal circuit
        while (move := due(circuit, Log(probes=tuple(entries)), policy, now)) is not None:
            moves.append(move)
            circuit = move.circuit

    def tick(now: float, until: float) -> None:
        while (clock := next_due(circuit, Log(probes=tuple(entries)), policy, now)) is not None and clock < until:
            settle(now := clock)

    now = 0.0
    for one in judged:
        tick(now, one.reading.now)
        now = one.reading.now
        _count(entries, one)
        settle(now)
    tick(now, until)
    return moves


def _count(entries: list[Entry], one: Judged) -> None:
    """Add an answer, or the second part of one that is known."""
    made = Entry(
        answer=one.answer,
        verdict=one.judgement.verdict,
        blame=one.judgement.blame,
        at=one.reading.now,
        began=one.reading.now - one.answer.began_ago_s,
        late=one.answer.part is Part.LATE,
    )
    for i, known in enumerate(entries):
        if known.answer.id == one.answer.id:
            entries[i] = replace(made, at=known.at, began=known.began, late=True)
            return
    entries.append(made)


def misrouted(played: Played, leeway_s: float) -> list[tuple[float, str]]:
    """The answers of `GET /route` that don't agree with the moves, those within the leeway of a move left out."""
    wrong = []
    edges = [played.began, *(move.at for move in played.moves), float("inf")]
    after = [State.CLOSED, *(move.after for move in played.moves)]
    for when, target in played.routed:
        if any(abs(when - edge) <= leeway_s for edge in edges):
            continue
        now_is = next(s for (since, end), s in zip(pairwise(edges), after, strict=True) if since <= when < end)
        if target != (PRIMARY if now_is is State.CLOSED else BACKUP):
            wrong.append((when, target))
    return wrong


def draw(played: Played, picture: Path) -> None:
    """First bytes over time, the limit, and the spans in which the circuit was open."""
    from matplotlib import pyplot

    def hours(moment: float) -> float:
        return (moment - played.began) * played.speed / 3600

    figure, axes = pyplot.subplots(figsize=(11, 4.2), layout="constrained")
    for number, (since, until) in enumerate(played.open_spans()):
        axes.axvspan(hours(since), hours(until), color="#d9480f", alpha=0.18, lw=0, label=None if number else "open")
    finals = [j for j in played.judged if j.answer.part is Part.FINAL and j.answer.first_byte_s is not None]
    axes.plot(
        [hours(j.reading.now) for j in finals],
        [(j.answer.first_byte_s or 0.0) * played.speed for j in finals],
        ".",
        ms=4,
        color="#1864ab",
        label="first byte of a probe",
    )
    axes.axhline(40, color="#c92a2a", lw=1, ls="--", label="40 s")
    axes.set(xlabel="hours", ylabel="seconds", ylim=(0, 140), xlim=(0, hours(played.routed[-1][0])))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False)
    figure.savefig(picture, dpi=110)
