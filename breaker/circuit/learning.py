"""What an answer teaches of its target's usual speed."""

from breaker import usual
from breaker.answer import Part, Source
from breaker.circuit.seen import Seen
from breaker.circuit.words import Circuit
from breaker.log import Entry, Log, Weight, wait_s, weigh
from breaker.policy import Policy
from breaker.usual import Usual


def learnt(circuit: Circuit, log: Log, policy: Policy, entry: Entry, now: float) -> Usual:
    """The usual speed after an entry that is in the log already; the same object where it teaches nothing.

    Only probes teach, since only they are all of one size. What comes while the circuit isn't closed, or while a slump
    is suspected, teaches little: else the slump would soon be usual.
    """
    answer, wait = entry.answer, wait_s(entry)
    speaks = answer.source is Source.PROBE and answer.part is Part.FINAL
    if not speaks or wait is None or weigh(entry, policy) not in (Weight.GOOD, Weight.SLOW):
        return log.usual
    out = circuit.open_until is not None or usual.suspect(Seen(circuit, log, policy, now).evidence)
    return usual.learn(log.usual, wait, now, out=out)
