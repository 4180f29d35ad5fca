"""Chooses where a step should go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from breaker.circuit import OPENS, Cause, Circuit, State, state, until
from breaker.route.least_bad import REFUSALS, Known, least_bad_first, out_until
from breaker.route.ramp import left_s, turn_at
from breaker.route.step import Unable
from breaker.route.words import VALID_FOR_S, Decision, Reason, Role, Route

# Whatever stands in a damaged store, an agent gets its answer.
_REASONS: dict[Cause | None, Reason] = {cause: Reason(cause.value) for cause in OPENS}


def choose(
    route: Route,
    circuits: Mapping[str, Circuit],
    now: float,
    *,
    unable: tuple[Unable, ...] = (),
    turn_s: float | None = None,
    stale: bool = False,
    age_s: float | None = None,
) -> Decision:
    """The first target that is offered, can take the step, and takes this session again. Never empty.

    A target is offered where its circuit passes, or where it is out and too many are. Where no able one is offered it
    is the least bad of the able ones; where none is able, the offered one that lacks least. `circuits` maps target
    names to circuits; a target without one has never moved. `unable` are the route's targets that can't take the step,
    `turn_s` is how long after a close the session returns (None: at once). `now` is the store's time; `stale` and
    `age_s` are those of the circuits.
    """
    known = [(target, circuits.get(target.name, Circuit())) for target in route.targets]
    field = _Field.of(known, unable, turn_s, now)
    target, circuit = chosen = _chosen(route, known, field)
    passes = field.passes(chosen)
    ends_s = _ends_s(field, chosen)
    return Decision(
        route=route,
        target=target,
        role=_role(route, field, chosen),
        reason=_reason(known[0], field, chosen),
        state=state(circuit, now),
        since_s=_since_s(known[0][1], now),
        until_s=None if known[0][0].name in field.lacking else _away_s(known[0], field, chosen),
        generation=sum(circuit.generation for _, circuit in known),
        valid_for_s=VALID_FOR_S if ends_s is None else min(VALID_FOR_S, ends_s),
        retry_after_s=None if passes else _retry_after_s(field),
        ends_s=ends_s,
        changes_s=_changes_s(known, field),
        stale=stale,
        age_s=age_s,
        crowded=not passes and any(field.passes(pair) for pair in field.targets),
        unable=unable,
        ramp_s=max(left_s(circuit, now) for _, circuit in known),
    )


@dataclass(frozen=True, slots=True)
class _Field:
    """What a step may choose from at a moment: the targets that can take it, or all where none can, in their order.

    `lacking` are those that can't, `turns` is when the session returns to those to which it hasn't; both by name.
    """

    targets: list[Known]
    lacking: dict[str, Unable]
    turns: dict[str, float]
    now: float

    @classmethod
    def of(cls, known: list[Known], unable: Sequence[Unable], turn_s: float | None, now: float) -> "_Field":
        """The field of a step."""
        lacking = {each.target: each for each in unable}
        able = [pair for pair in known if pair[0].name not in lacking]
        turns = {target.name: at for target, circuit in able if (at := turn_at(circuit, turn_s, now)) is not None}
        return cls(able or known, lacking, turns, now)

    @property
    def hopeless(self) -> bool:
        """Whether no target can take the step."""
        return self.targets[0][0].name in self.lacking

    def passes(self, pair: Known) -> bool:
        """Whether a target's circuit lets agents through."""
        return state(pair[1], self.now).passes


def _chosen(route: Route, known: Sequence[Known], field: _Field) -> Known:
    back = _back_in(route, known, field.now)
    offered = [pair for pair in field.targets if field.passes(pair) or pair in back]
    if not offered:
        return least_bad_first(field.targets, field.now)[0]
    if field.hopeless:
        return min(offered, key=lambda pair: field.lacking[pair[0].name].far)
    # A session whose turn hasn't come goes elsewhere until then, but never to a target that is out.
    returned = next((pair for pair in offered if pair[0].name not in field.turns), offered[0])
    return returned if field.passes(returned) else offered[0]


def _back_in(route: Route, known: Sequence[Known], now: float) -> list[Known]:
    """The targets that are offered although they are out, since too many are.

    What a person holds open isn't counted. What can't answer until somebody acts is counted, and never offered.
    """
    out = [pair for pair in known if state(pair[1], now) in (State.OPEN, State.HALF_OPEN)]
    able = [pair for pair in out if pair[1].cause not in REFUSALS]
    return least_bad_first(able, now)[: max(len(out) - route.most_out, 0)]


def _role(route: Route, field: _Field, chosen: Known) -> Role:
    if field.hopeless or not field.passes(chosen):
        return Role.LAST_RESORT
    return Role.PRIMARY if chosen[0] == route.targets[0] else Role.BACKUP


def _reason(primary: Known, field: _Field, chosen: Known) -> Reason:
    """What keeps the primary out."""
    target, circuit = primary
    if target.name in field.lacking:
        return Reason.UNABLE
    if field.passes(primary):
        return Reason.HEALTHY if chosen == primary else Reason.RETURNING
    if state(circuit, field.now) is State.HELD_OPEN:
        return Reason.MANUAL
    return _REASONS.get(circuit.cause, Reason.ERRORS)


def _since_s(primary: Circuit, now: float) -> float | None:
    held = primary.held if primary.held and now < primary.held.until else None
    since = held.since if held else primary.moved_at
    return max(now - since, 0.0) if since else None


def _away_s(pair: Known, field: _Field, chosen: Known) -> float | None:
    """For how long a target that can take the step is kept from it for certain; None where no clock says."""
    if not field.passes(pair):
        end = out_until(pair[1], field.now)
    else:
        end = None if pair == chosen else field.turns.get(pair[0].name)
    return None if end is None else end - field.now


def _ends_s(field: _Field, chosen: Known) -> float | None:
    if field.hopeless:
        return None
    first, *others = field.targets[: field.targets.index(chosen) + 1]
    ends = (_away_s(pair, field, chosen) for pair in (first, *filter(field.passes, others)))
    return min((end for end in ends if end is not None), default=None)


def _changes_s(known: Sequence[Known], field: _Field) -> float | None:
    ends = [end for _, circuit in known if (end := until(circuit, field.now)) is not None]
    return min((at - field.now for at in (*ends, *field.turns.values())), default=None)


def _retry_after_s(field: _Field) -> float:
    """When the first hold ends, or a moment where a half-open circuit may close at any time."""
    out = [pair[1] for pair in field.targets if not field.passes(pair)]
    ends = [end - field.now for circuit in out if (end := out_until(circuit, field.now)) is not None]
    return min(ends) if len(ends) == len(out) else VALID_FOR_S
