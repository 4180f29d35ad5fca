"""The scenarios of old results and of trials; each gives whether it went right with a library, and what happened."""

import random
from collections.abc import Callable

from benchmarks._peers_face import Breaker, Call, CantSay, Library

Told = tuple[bool, str]
HOLD_S = 600.0


def opened(library: Library, **wanted: object) -> Breaker:
    """A breaker that two failures have just opened."""
    breaker = library.make(**wanted)
    breaker.times(2, "failed")
    assert breaker.state == "open", "two failures in a row should open it"
    return breaker


def over(library: Library, **wanted: object) -> Breaker:
    """The same, a second after the end of its hold."""
    breaker = opened(library, **wanted)
    library.go(HOLD_S + 1)
    return breaker


def straddling(library: Library, calls: int, **wanted: object) -> tuple[Breaker, list[Call]]:
    """A breaker that has just opened, and calls that began before."""
    breaker = library.make(**wanted)
    old = [call for call in (breaker.begin() for _ in range(calls)) if call]
    breaker.times(2, "failed")
    return breaker, old


def refuses(breaker: Breaker) -> bool:
    """Whether a call isn't let in now."""
    return breaker.begin() is None


# Results of old calls


def late_1(library: Library) -> Told:
    breaker, (old,) = straddling(library, 1)
    library.go(HOLD_S + 1)
    trial = breaker.begin()
    old.end("good")
    return (
        trial is not None and breaker.state != "closed",
        f"with a trial under way, the old call's end left it {breaker.state}",
    )


def late_2(library: Library) -> Told:
    breaker, (old,) = straddling(library, 1)
    library.go(115)
    old.end("good")
    return refuses(breaker), f"the old call's good end left it {breaker.state}"


def late_3(library: Library) -> Told:
    breaker, old = straddling(library, 20)
    library.go(HOLD_S + 1)
    breaker.begin()
    before = breaker.state
    for number, call in enumerate(old):
        call.end("failed" if number % 2 else "good")
    return breaker.state == before, f"twenty old ends took it from {before} to {breaker.state}"


def late_4(library: Library) -> Told:
    breaker, (old,) = straddling(library, 1)
    library.go(HOLD_S + 1)
    old.end("good")
    return breaker.state != "closed", f"the old call's good end left it {breaker.state}"


def late_6(library: Library) -> Told:
    library.need("listener")
    heard: list[str] = []
    breaker, old = straddling(library, 5, listener=lambda kind: heard.append(kind))
    for call in old:
        call.end("failed")
    moves = sum("state_change" in kind for kind in heard)
    return moves == 1 and breaker.state == "open", "one move was told" if moves == 1 else f"{moves} moves were told"


def late_7(library: Library) -> Told:
    breaker, old = straddling(library, 10)
    for call in old:
        library.go(60)
        call.end("failed")
    library.go(1)
    late = refuses(breaker)
    return not late, "old failures put the end of the hold off" if late else "the hold ended in time"


def late_8(library: Library) -> Told:
    breaker = library.make()
    for call in [breaker.begin() for _ in range(6)]:
        if call:
            call.end("failed")
    held = breaker.state == "open"
    library.go(HOLD_S + 1)
    return held and not refuses(breaker), "one trip, and a trial after the hold"


def late_9(library: Library) -> Told:
    breaker = over(library)
    first, second = breaker.begin(), breaker.begin()
    if first is None or second is None:
        raise CantSay("within one process a round ends only with all its trials")
    second.end("failed")
    library.go(HOLD_S + 1)
    breaker.begin()
    first.end("good")
    return breaker.state != "closed", f"the first round's trial left the second round {breaker.state}"


def late_10(library: Library) -> Told:
    breaker, (old,) = straddling(library, 1)
    library.go(HOLD_S + 1)
    breaker.begin()
    before = breaker.state
    old.end("neutral")
    more = not refuses(breaker)
    return breaker.state == before and not more, f"it went from {before} to {breaker.state}" + (
        ", and let a second trial in" if more else ""
    )


# Who may try


def herd_1(library: Library) -> Told:
    breaker = over(library)
    let_in = sum(not refuses(breaker) for _ in range(50))
    return let_in == 1, f"{let_in} of 50 were let in"


def herd_2(library: Library) -> Told:
    breaker = over(library)
    breaker.begin()
    library.go(20)
    second = not refuses(breaker)
    library.go(3600)
    later = not refuses(breaker)
    return not second and later, "a second was let in beside it" if second else (
        "another was let in later" if later else "an hour later it still blocks all others"
    )


def herd_3(library: Library) -> Told:
    breaker = opened(library)
    library.go(HOLD_S)
    let_in = sum(not refuses(breaker) for _ in range(32))
    return let_in <= 1, f"{let_in} of 32 were let in"


def herd_4(library: Library) -> Told:
    breaker = over(library)
    breaker.begin()
    let_in = sum(not refuses(breaker) for _ in range(1000))
    return let_in == 0, f"{let_in} of 1000 went to the target"


def herd_8(library: Library) -> Told:
    most = 0
    for seed in range(40):
        chance, breaker = random.Random(seed), over(library)
        running: list[Call] = []
        for _ in range(12):
            if running and chance.random() < 0.4:
                running.pop(chance.randrange(len(running))).end("failed")
                break
            if (call := breaker.begin()) is not None:
                running.append(call)
            most = max(most, len(running))
    return most <= 1, "never two trials at once" if most <= 1 else f"up to {most} trials at once"


def herd_10(library: Library) -> Told:
    breaker = over(library, numbers={"failure_rate_threshold": 0.5})
    breaker.tries("good")
    closed = breaker.state == "closed"
    breaker.tries("failed")
    return (
        not closed and breaker.state == "open",
        "the first good trial closed it" if closed else "the bad one opened it",
    )


def herd_11(library: Library) -> Told:
    breaker = over(library)
    slow, quick = breaker.begin(), breaker.begin()
    if slow and quick:
        quick.end("good")
        return breaker.state != "closed", f"the quick one left it {breaker.state} while the slow one ran"
    return True, "the second isn't let in"


SCENES: dict[str, Callable[[Library], Told]] = {
    name.replace("_", "-"): scene
    for name, scene in list(globals().items())
    if name.rpartition("_")[2].isdigit() and callable(scene) and scene.__module__ == __name__
}
