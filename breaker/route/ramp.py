"""After a circuit has closed, sessions return to its target over a minute, each at its own turn."""

from hashlib import sha256

from breaker.circuit import CLOCK_SLACK_S, Circuit, closed_at

# From a circuit's close until the last session is back.
RAMP_S = 60.0
# In tenths of a second: whoever waits for the same one is told the same.
_TURNS = 600


def turn_s(session: str) -> float:
    """How long after a circuit's close a session returns: 0.0 to 59.9 s, always and everywhere the same."""
    digest = sha256(session.encode(errors="replace")).digest()
    return int.from_bytes(digest[:8]) * _TURNS // 2**64 * RAMP_S / _TURNS


def turn_at(circuit: Circuit, turn_s: float | None, now: float) -> float | None:
    """When a session (None: whoever names none) returns to a target that takes requests; None where it has returned."""
    closed = _closed_at(circuit, now)
    if closed is None or turn_s is None or now >= closed + turn_s:
        return None
    return closed + turn_s


def left_s(circuit: Circuit, now: float) -> float:
    """For how long there may be sessions that haven't returned; 0.0 where there are none."""
    closed = _closed_at(circuit, now)
    return 0.0 if closed is None else max(closed + RAMP_S - now, 0.0)


def _closed_at(circuit: Circuit, now: float) -> float | None:
    """None as well where the store's clock has been set back since: nobody waits longer than a minute."""
    closed = closed_at(circuit, now)
    return None if closed is None or closed > now + CLOCK_SLACK_S else closed
