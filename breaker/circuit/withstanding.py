"""What no number of bad reports can do to a circuit."""

from dataclasses import replace

from breaker.answer import Answer, Ended
from breaker.circuit.due import due
from breaker.circuit.seen import Seen
from breaker.circuit.words import Circuit
from breaker.log import BIN_S, Bin, Entry, Log
from breaker.policy import Policy
from breaker.verdict import judge

_BAD = Answer(target="any", id="any", ended=Ended.UNREACHABLE, seconds=0.0)
_JUDGED = judge(_BAD)


def withstands(circuit: Circuit, log: Log, policy: Policy, now: float, more: int) -> bool:
    """Whether a closed circuit stays as it is if up to so many bad reports come now, with any good ones between them.

    The rules themselves say so, of a log in which all of the bad ones stand already. Good ones can't make that worse
    once so much was reported that a share decides and a row doesn't. False where the circuit moved so lately that its
    bin holds reports from before.
    """
    begins = now // BIN_S * BIN_S
    _, told_of = Seen(circuit, log, policy, now).counted
    if told_of < policy.rate_answers or circuit.moved_at > begins:
        return False
    newest = max((entry.at for entry in (*log.probes, *log.reports)), default=now)
    bad = Entry(answer=_BAD, verdict=_JUDGED.verdict, blame=_JUDGED.blame, at=max(now, newest), began=now)
    worst = replace(log, reports=(*log.reports, bad), bins=(*log.bins, Bin(begins, failure=more)))
    return due(circuit, worst, policy, now) is None
