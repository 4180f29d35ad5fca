"""Says in plain words how a target stands, and what a move of it did."""

from dataclasses import replace

from breaker import circuit as circuits
from breaker import usual
from breaker.api.shaping import newest_first_byte
from breaker.api.spans import lasting, roughly
from breaker.circuit import OPENS, Cause, Move, State, plain
from breaker.log import Entry
from breaker.switchboard import Standing, newest


def out(standing: Standing, now: float) -> str:
    """Why a target is out, and when it may be back or what somebody has to do; sentences with their full stops."""
    if standing.state is State.HELD_OPEN and standing.circuit.held:
        return f"{standing.target.name} is held open by {_hold(standing, now)}."
    cause = standing.circuit.cause
    if cause and cause.refusal:
        return f"{standing.target.name} {plain.words(cause).now}. {act(standing)} The first good probe brings it back."
    return f"{standing.target.name} {_wrong(standing, now)}."


def kept(standing: Standing, now: float) -> str:
    """Who keeps a target in use by hand; a sentence with its full stop."""
    return f"{standing.target.name} is held closed by {_hold(standing, now)}."


def act(standing: Standing) -> str:
    """What somebody has to do for a target that comes back in no other way; empty where nobody has to."""
    provider, found = standing.target.provider, standing.circuit
    remedy = plain.remedy(
        found.cause, provider=provider.name, model=standing.target.model, api_key_env=provider.api_key_env
    )
    return f"Somebody has to act: {remedy}." if remedy and found.open_until is not None else ""


def circuit(standing: Standing) -> str:
    """What a circuit's state means to those who use the target."""
    match standing.state:
        case State.CLOSED:
            unverified = standing.circuit.cause is Cause.UNVERIFIED
            return "takes requests again, unverified" if unverified else "takes requests"
        case State.OPEN:
            return f"out: {plain.words(standing.circuit.cause).short}"
        case State.HALF_OPEN:
            return f"out: {plain.words(standing.circuit.cause).short}, being tested"
        case State.HELD_OPEN:
            return "out: by hand"
        case State.HELD_CLOSED:
            return "takes requests: by hand"


def underneath(standing: Standing, now: float) -> str:
    """What a target would be without the hold by hand that lies over it."""
    return f"without the hold: {circuit(automatic(standing, now))}"


def automatic(standing: Standing, now: float) -> Standing:
    """How a target would stand without a hold by hand."""
    found = replace(standing.circuit, held=None)
    return replace(standing, circuit=found, state=circuits.state(found, now), until=circuits.until(found, now))


def quiet_s(standing: Standing, now: float) -> float:
    """For how long nothing has been heard of a target; infinite for never."""
    last = newest(standing.log)
    return float("inf") if last is None else now - last.at


def unheard(standing: Standing, now: float) -> bool:
    """Whether too little is known of a target to call it well: no answer, or none within its policy's limit."""
    return quiet_s(standing, now) > standing.policy.silent_s


def unknown(standing: Standing, now: float) -> bool:
    """Whether a target can't be called well, since what is known of it is old."""
    return standing.stale or unheard(standing, now)


def ignored(entry: Entry) -> str:
    """Why an answer counts for nothing although it isn't the caller's fault; empty where it counts."""
    if entry.answer.self_suspect:
        return "not counted: our own network was down"
    return "not counted: we stood still ourselves" if entry.answer.suspect_timing else ""


def usually(standing: Standing) -> str:
    """A target's usual first byte; empty where too little is known."""
    typical_s = usual.typical_s(standing.log.usual)
    return "" if typical_s is None else f"usually {lasting(typical_s)}"


def move(moved: Move) -> str:
    """What a move did, as the rest of a sentence that begins with the target."""
    if moved.cause in OPENS:
        again = moved.before is State.HALF_OPEN
        short = plain.words(moved.cause).short
        return f"stays out, still {short}" if again else f"was taken out, {short}"
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
            return "is back, the wait is over"
        case Cause.HOLD_OVER:
            return "is no longer held by hand"
        case Cause.CLOCK:
            return "had its times set anew"
        case _:
            return "was put back into the store"


def _hold(standing: Standing, now: float) -> str:
    """Who holds it, for how long, and what it would be otherwise."""
    held, by_itself = standing.circuit.held, automatic(standing, now)
    assert held is not None
    said = f"{held.who} for {roughly(held.until - now)} more"
    if by_itself.state.passes is (standing.state is State.HELD_CLOSED):
        return said
    otherwise = "take requests" if by_itself.state.passes else f"be out, {plain.words(by_itself.circuit.cause).short}"
    return f"{said}; by itself it would {otherwise}"


def _wrong(standing: Standing, now: float) -> str:
    found = plain.words(standing.circuit.cause)
    than_usual = _than_usual(standing) if standing.circuit.cause is Cause.SLUMP else ""
    if standing.until is None:
        return f"{found.was}{than_usual} and is being tested before it comes back"
    rest = roughly(standing.until - now)
    if standing.circuit.cause is Cause.RATE_LIMITED:
        return f"{found.now}; it may be asked again in {rest}"
    return f"{found.now}{than_usual}; it may be back in {rest}"


def _than_usual(standing: Standing) -> str:
    last, usual_s = newest_first_byte(standing.log), usual.typical_s(standing.log.usual)
    if last is None or last.answer.first_byte_s is None or usual_s is None:
        return ""
    return f" (first byte {lasting(last.answer.first_byte_s)}, usually {lasting(usual_s)})"
