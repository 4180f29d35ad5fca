"""Puts what the page shows into its shapes."""

from breaker.answer import Source
from breaker.api import sentences, shaping
from breaker.api.headline import headline, of_decision
from breaker.api.page import View
from breaker.api.status.shapes import (
    DayShape,
    HourShape,
    MovedShape,
    RouteStatusShape,
    RouteStepShape,
    SlotShape,
    SpentShape,
    StatusShape,
    TargetStatusShape,
)
from breaker.api.status.statuspage import summary
from breaker.history import Keep, Slot, last_slots, recent, speed
from breaker.log import Weight
from breaker.route import Decision
from breaker.switchboard import Standing, newest


def of_view(view: View) -> StatusShape:
    """All that the page shows."""
    told = headline(view.decisions, view.standings, view.now, known=view.known)
    known = view.known
    return {
        **summary(view),
        "generated_at": shaping.clock(view.now),
        "stale": any(standing.stale for standing in view.standings),
        "age_s": shaping.ms(known.oldest_s),
        "self_suspect_s": shaping.ms(known.self_suspect_s),
        "mood": told.mood.value,
        "headline": told.text,
        "more": list(told.more),
        "routes": [_route(decision, view) for decision in view.decisions],
        "targets": [_target(standing, view) for standing in view.standings],
        "moves": _moves(view),
        "spent": _spent(view),
    }


def _route(decision: Decision, view: View) -> RouteStatusShape:
    standings = [view.standing(target) for target in decision.route.targets]
    return {
        "route": decision.route.name,
        "target": decision.target.name,
        "role": decision.role.value,
        "why": of_decision(decision, view.by_name, view.now),
        "in_order": sum(standing.state.passes for standing in standings),
        "stale": decision.stale,
        "targets": [_step(standing, chosen=standing.target == decision.target) for standing in standings],
    }


def _step(standing: Standing, *, chosen: bool) -> RouteStepShape:
    why = sentences.circuit(standing)
    return {"target": standing.target.name, "state": standing.state.value, "chosen": chosen, "why": why}


def _target(standing: Standing, view: View) -> TargetStatusShape:
    last, first = newest(standing.log), shaping.newest_first_byte(standing.log)
    return {
        "target": standing.target.name,
        "state": standing.state.value,
        "cause": standing.cause and standing.cause.value,
        "since": _clock(shaping.since(standing)),
        "until": _clock(standing.until),
        "why": sentences.circuit(standing),
        "stale": standing.stale,
        "unheard": sentences.unheard(standing, view.now),
        "last_answer_at": None if last is None else shaping.clock(last.at),
        "last_verdict": None if last is None else last.verdict.value,
        "last_first_byte_s": None if first is None else shaping.ms(first.answer.first_byte_s),
        "hour": _hour(standing, view),
        "day": _day(standing, view),
    }


def _hour(standing: Standing, view: View) -> HourShape:
    found = speed(recent(view.history(standing.target), view.now), view.now)
    return {
        "over_s": round(found.over_s, 3),
        "count": found.count,
        "missing": found.missing,
        "p50_s": shaping.ms(found.p50_s),
        "p95_s": shaping.ms(found.p95_s),
    }


def _day(standing: Standing, view: View) -> DayShape:
    slot_s = Keep.of(standing.policy, Source.PROBE).slot_s
    slots = last_slots(view.history(standing.target), view.now, slot_s)
    return {
        "since": shaping.clock(slots[0].start),
        "slot_s": float(slot_s),
        "good": sum(slot.good for slot in slots),
        "bad": sum(slot.bad for slot in slots),
        "slots": [_slot(slot) for slot in slots if slot.answers],
    }


def _slot(slot: Slot) -> SlotShape:
    return {
        "at": shaping.clock(slot.start),
        "good": slot.good,
        "slow": slot.count(Weight.SLOW),
        "failed": slot.count(Weight.FAILED),
        "refused": slot.count(Weight.REFUSED),
        "throttled": slot.count(Weight.THROTTLED),
        "nothing": slot.count(Weight.NOTHING),
        "out": slot.out,
        "verdict": slot.verdict,
    }


def _moves(view: View) -> list[MovedShape]:
    return [
        {
            "target": target,
            "at": shaping.clock(move.at),
            "state": move.after.value,
            "cause": move.cause.value,
            "text": f"{target} {sentences.move(move)}",
            "why": move.why,
        }
        for target, move in view.moves
    ]


def _spent(view: View) -> list[SpentShape] | None:
    if view.spent is None:
        return None
    return [
        {
            "provider": each.provider,
            "tokens": each.tokens,
            "usd": None if each.usd is None else round(each.usd, 6),
            "share": None if each.share is None else round(each.share, 4),
        }
        for each in view.spent
    ]


def _clock(at: float | None) -> str | None:
    return None if at is None else shaping.clock(at)
