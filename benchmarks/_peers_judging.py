"""The scenarios about whose fault a call's end is, and about what stands beside the breaker."""

from collections.abc import Callable

from benchmarks._peers_alone import HOLD_S, Told, opened, over, refuses, straddling
from benchmarks._peers_face import Breaker, CantSay, Library


def judge_1(library: Library) -> Told:
    breaker = library.make()
    let_in = breaker.times(10, "cancelled")
    return breaker.state == "closed", f"{let_in} cancelled calls left it {breaker.state}"


def judge_2(library: Library) -> Told:
    breaker = over(library)
    breaker.times(2, "cancelled")
    return breaker.state != "closed", f"cancelled trials left it {breaker.state}"


def judge_3(library: Library) -> Told:
    breaker = over(library)
    breaker.tries("cancelled")
    again = refuses(breaker)
    return not again, "a cancelled trial opened it again" if again else "a cancelled trial did not open it again"


def judge_4(library: Library) -> Told:
    breaker = library.make()
    breaker.times(100, "neutral")
    return breaker.state == "closed", "a kind of error that it is told to leave out opens nothing"


def judge_6(library: Library) -> Told:
    differs = []
    for outcome in ("good", "failed", "neutral", "cancelled", "unreached"):
        closed, trying = library.make(failures=1), over(library, good=1)
        closed.tries(outcome)
        trying.tries(outcome)
        if (closed.state == "open") is not (trying.state == "open"):
            differs.append(outcome)
    return not differs, f"differs for: {', '.join(differs)}" if differs else "each end means the same in both"


def judge_7(library: Library) -> Told:
    breaker = library.make()

    def stream() -> object:
        yield "one"
        yield "two"
        raise library.failure

    guarded = library.guard(breaker, stream)
    for _ in range(5):
        try:
            for _piece in guarded():
                library.go(1)
        except Exception:  # noqa: BLE001 # the stream's, or the breaker's refusal
            continue
    by_decorator = breaker.state
    block = library.make()
    block.times(5, "failed")
    what = f"five broken streams of a guarded generator left it {by_decorator}"
    if by_decorator != "open" and block.state == "open":
        what += "; a block around the whole stream counts them"
    return by_decorator == "open", what


def judge_8(library: Library) -> Told:
    if not library.sees_results:
        raise CantSay("it sees exceptions, no answers; the caller has to raise one")
    breaker = library.make(classifier=library.error_in_result())
    for _ in range(2):
        breaker.raw.call(lambda: {"error": "overloaded"})
    return breaker.state == "open", "a classifier of one's own is shown the answer"


def judge_10(library: Library) -> Told:
    if not library.sees_results:
        raise CantSay("it can't tell whose network is down")
    breaker = library.make(unreachable_exceptions=(ConnectionRefusedError,))
    breaker.times(5, "unreached")
    return (
        breaker.state == "closed",
        f"calls that never left the process left it {breaker.state}; only trials are spared",
    )


def judge_11(library: Library) -> Told:
    first, second = library.make(), library.make(name="other")
    for _ in range(4):
        first.tries("failed")
        second.tries("good")
    return (first.state, second.state) == ("open", "closed"), "one breaker for each target keeps them apart"


def judge_12(library: Library) -> Told:
    return judge_11(library)


def judge_13(library: Library) -> Told:
    breaker = library.make()
    for outcome in ("failed", "good", "failed"):
        breaker.tries(outcome)
    return breaker.state == "closed", f"one failure, a good call, one failure left it {breaker.state}"


def both_4(library: Library) -> Told:
    library.need("growth")
    growth = {"wait_duration_backoff_multiplier": 2.0, "wait_duration_in_open_max": 3600.0}
    breaker = opened(library, good=1, numbers=growth)
    lengths = []
    for _ in range(5):
        waited = 0
        while (trial := breaker.begin()) is None:
            library.go(60)
            waited += 60
        lengths.append(waited)
        trial.end("failed")
    library.go(3600)
    breaker.tries("good")
    library.go(3600)
    breaker.times(2, "failed")
    library.go(601)
    back = not refuses(breaker)
    return lengths == [600, 1200, 2400, 3600, 3600] and back, f"holds of {lengths} s, and short again after a recovery"


def both_5(library: Library) -> Told:
    breaker, old = straddling(library, 1000)
    for call in old:
        call.end("good")
    library.go(HOLD_S - 10)
    early = not refuses(breaker)
    return not early, f"a thousand good ends of old calls left it {breaker.state}"


def both_6(library: Library) -> Told:
    breaker, old = straddling(library, 20)
    library.go(HOLD_S + 1)
    trial = breaker.begin()
    for call in old:
        call.end("failed")
    if trial:
        trial.end("good")
    breaker.tries("good")
    return breaker.state == "closed", f"good trials among old failures left it {breaker.state}"


def both_7(library: Library) -> Told:
    opened(library)
    library.go(60)
    again = library.make()
    return refuses(again), f"a new process begins {again.state} in the middle of a hold"


def both_9(library: Library) -> Told:
    library.need("listener")
    seen: list[str] = []
    breakers: list[Breaker] = []

    def asks_back(_: str) -> None:
        seen.append(breakers[0].state)
        raise RuntimeError("not my day")

    breakers.append(library.make(listener=asks_back))
    try:
        breakers[0].times(2, "failed")
    except RuntimeError:
        return False, "it may ask back, but its error reaches the caller in place of the call's end"
    return bool(seen), "it may ask back, and its errors are kept away from callers"


def both_11(library: Library) -> Told:
    breaker = over(library, numbers={"auto_transition": True})
    library.timer(breaker)
    shown = breaker.state
    would = not refuses(breaker)
    return (shown == "half-open") is would, f"it says {shown} while a caller is {'let in' if would else 'refused'}"


def both_12(library: Library) -> Told:
    breaker = over(library)
    breaker.times(2, "good")
    let_in = breaker.times(50, "good")
    return let_in == 50, f"once it has closed, {let_in} of 50 come back at once"


def both_14(library: Library) -> Told:
    library.need("good")
    for wanted in (1, 2, 3):
        breaker = over(library, good=wanted)
        breaker.times(wanted - 1, "good")
        early = breaker.state == "closed"
        breaker.tries("good")
        if early or breaker.state != "closed":
            return False, f"{wanted} good trials left it {breaker.state}"
    return True, "it closes with as many good trials as it is told"


def both_15(library: Library) -> Told:
    breaker = over(library)
    breaker.times(2, "good")
    library.go(15)
    breaker.tries("failed")
    return breaker.state == "closed", f"one failure after the recovery left it {breaker.state}"


SCENES: dict[str, Callable[[Library], Told]] = {
    name.replace("_", "-"): scene
    for name, scene in list(globals().items())
    if name.rpartition("_")[2].isdigit() and callable(scene) and scene.__module__ == __name__
}
