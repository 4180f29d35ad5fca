"""A slump: answers still come, but persistently far later than this target's usually do."""

from breaker import usual
from breaker.circuit import told
from breaker.circuit.opened import opened
from breaker.circuit.seen import Seen
from breaker.circuit.words import Cause, Measure, Move
from breaker.log import Weight, weigh


def in_a_slump(seen: Seen) -> Move | None:
    """The newest probe is sluggish, and all of them together leave no doubt."""
    if not seen.probes or not seen.fresh(newest := seen.probes[-1]) or not seen.sluggish(newest):
        return None
    return _slumped(seen) if seen.evidence >= usual.ENOUGH else None


def _slumped(seen: Seen) -> Move:
    typical_s = usual.typical_s(seen.log.usual) or 0.0
    sluggish = tuple(e for e in seen.probes if weigh(e, seen.policy) is not Weight.FAILED and seen.sluggish(e))
    waits = sorted(seen.waits[-2 * told.NAMED :])
    middle = waits[len(waits) // 2]
    why = (
        f"first bytes come far later than this target's usual {told.seconds(typical_s)}, now {told.seconds(middle)} in "
        f"the median: {told.each(sluggish)}"
    )
    measures = (
        Measure("slump_factor", round(middle / max(typical_s, 0.001), 2), seen.policy.slump_factor),
        Measure("evidence", round(seen.evidence, 2), usual.ENOUGH),
    )
    return opened(seen, Cause.SLUMP, why, sluggish[-told.NAMED :], measures)
