"""The scenarios of breakers that stick, and of what counts and for how long."""

import contextlib
import random
from collections.abc import Callable

from benchmarks._peers_alone import HOLD_S, Told, opened, over, refuses
from benchmarks._peers_face import Breaker, Library

DAY_S = 86_400.0


# Stuck


def stuck_1(library: Library) -> Told:
    return _after_a_hang(library, 1800)


def stuck_3(library: Library) -> Told:
    return _after_a_hang(library, 6 * DAY_S)


def _after_a_hang(library: Library, seconds: float) -> Told:
    breaker = over(library)
    breaker.begin()
    library.go(seconds)
    stuck = refuses(breaker)
    return not stuck, f"it is {breaker.state} and lets nobody in" if stuck else "others are let in"


def stuck_2(library: Library) -> Told:
    breaker = over(library)
    if (trial := breaker.begin()) is not None:
        trial.end("cancelled")
    state, stuck = breaker.state, refuses(breaker)
    return state != "closed" and not stuck, f"a trial that was never sent left it {state}"


def stuck_4(library: Library) -> Told:
    breaker = over(library)
    let_in = 0
    for _ in range(20):
        let_in += not refuses(breaker)
        library.go(60)
    what = f"{let_in} of 20 callers went to the hanging target in 20 minutes"
    return 2 <= let_in <= 10, what


def stuck_5(library: Library) -> Told:
    breaker = over(library)
    breaker.tries("failed")
    shut = refuses(breaker)
    return shut, f"one bad trial left it {breaker.state}" + ("" if shut else ", until its round of trials is full")


def stuck_6(library: Library) -> Told:
    breaker = over(library, good=1)
    breaker.tries("unreached")
    return refuses(breaker), f"a trial without a connection left it {breaker.state}"


def stuck_7(library: Library) -> Told:
    armed: list[bool] = []

    def counts(_: BaseException) -> bool:
        if armed:
            raise ValueError("the classifier is at fault")
        return True

    breaker = opened(library, counts=counts)
    library.go(HOLD_S + 1)
    armed.append(True)
    with contextlib.suppress(ValueError):
        breaker.tries("failed")
    armed.clear()
    state = breaker.state
    library.go(HOLD_S + 1)
    stuck = refuses(breaker)
    return (
        state != "closed" and not stuck,
        f"it is {state}, and {'lets nobody in any more' if stuck else 'others are let in'}",
    )


def stuck_8(library: Library) -> Told:
    breaker = over(library)
    for _ in range(10_000):
        _ = breaker.state
    return not refuses(breaker), "reading its state takes nothing"


def stuck_11(library: Library) -> Told:
    breaker = over(library)
    for _ in range(60):
        breaker.tries("neutral")
        library.go(15)
    state = breaker.state
    return state == "closed" or not refuses(breaker), f"it ended {state}"


def stuck_13(library: Library) -> Told:
    breaker = over(library, numbers={"auto_transition": True})
    library.timer(breaker)
    return breaker.state == "half-open", f"a second after the hold it says {breaker.state}"


def stuck_14(library: Library) -> Told:
    for seed in range(25):
        breaker = library.make()
        calls = [call for call in (breaker.begin() for _ in range(9)) if call]
        random.Random(seed).shuffle(calls)
        for number, call in enumerate(calls):
            call.end("good" if number == 4 else "failed")
        if breaker.state != "open":
            return False, f"eight failures and a good end left it {breaker.state}"
        library.go(HOLD_S + 1)
        if refuses(breaker):
            return False, "it never lets anybody in again"
    return True, "open each time, and over in time"


# Counting


def count_1(library: Library) -> Told:
    library.need("slow")
    breaker = library.make(numbers=SLOW)
    breaker.begin()
    library.go(45)
    breaker.begin()
    library.go(40)
    return breaker.state == "open", f"with two calls hanging for 40 s and more it is {breaker.state}"


def count_2(library: Library) -> Told:
    library.need("slow")
    breaker = library.make(numbers=SLOW)
    _slow_call(library, breaker, 45)
    breaker.tries("failed")
    return breaker.state == "open", f"a slow one and a failed one left it {breaker.state}"


def count_3(library: Library) -> Told:
    breaker = library.make(failures=1)
    breaker.tries("failed")
    return breaker.state == "open", f"with a threshold of one, one failure left it {breaker.state}"


def count_4(library: Library) -> Told:
    return _two_failures(library, 59.9, 0.2)


def count_5(library: Library) -> Told:
    return _two_failures(library, 60.0, 60.0)


def _two_failures(library: Library, first_s: float, apart_s: float) -> Told:
    breaker = library.make()
    library.go(first_s)
    breaker.tries("failed")
    library.go(apart_s)
    breaker.tries("failed")
    return breaker.state == "open", f"two failures {apart_s:g} s apart left it {breaker.state}"


def count_6(library: Library) -> Told:
    recent = {"window_type": library.window, "window_size": 150} if "rate" in library.able else {}
    breaker = library.make(numbers=recent)
    breaker.tries("failed")
    library.go(3600)
    breaker.tries("failed")
    return breaker.state != "open", f"two failures an hour apart left it {breaker.state}"


def count_7(library: Library) -> Told:
    breaker = library.make()
    let_in = sum(breaker.tries("good" if number % 2 else "failed") for number in range(40))
    return let_in == 40, f"{let_in} of 40 calls, bad and good in turn, were let in"


def count_8(library: Library) -> Told:
    library.need("rate")
    breaker = library.make(numbers={"failure_rate_threshold": 0.5, "minimum_number_of_calls": 10, "window_size": 10})
    for number in range(20):
        breaker.tries("good" if number % 2 else "failed")
    return breaker.state == "open", f"half of its calls failing left it {breaker.state}"


def count_11(library: Library) -> Told:
    breaker = library.make()
    old = breaker.begin()
    library.go(50)
    breaker.tries("failed")
    if old:
        old.end("good")
    breaker.tries("failed")
    return breaker.state == "open", f"two failures with an old call's good end between them left it {breaker.state}"


def count_12(library: Library) -> Told:
    library.need("slow")
    slow = []
    for seconds in (39.999, 40.0, 40.001):
        breaker = library.make(failures=1, numbers=SLOW)
        _slow_call(library, breaker, seconds)
        slow.append(breaker.state == "open")
    return slow == [
        False,
        False,
        True,
    ], f"39.999, 40, 40.001 s are slow: {', '.join('yes' if s else 'no' for s in slow)}"


def count_13(library: Library) -> Told:
    for seed in range(60):
        chance = random.Random(seed)
        breaker = library.make(**({"numbers": HALF} if "rate" in library.able else {}))
        for _ in range(30):
            before, outcome = breaker.state, chance.choice(["good", "failed"])
            breaker.tries(outcome)
            if outcome == "good" and before == "closed" and breaker.state == "open":
                return False, "a good call completed its minimum of calls and opened it"
    return True, "no good call opened it"


SLOW: dict[str, object] = {"slow_call_duration_threshold": 40.0, "slow_call_rate_threshold": 1.0}
HALF: dict[str, object] = {"failure_rate_threshold": 0.5, "minimum_number_of_calls": 4, "window_size": 10}


def _slow_call(library: Library, breaker: Breaker, seconds: float) -> None:
    call = breaker.begin()
    library.go(seconds)
    if call:
        call.end("good")


SCENES: dict[str, Callable[[Library], Told]] = {
    name.replace("_", "-"): scene
    for name, scene in list(globals().items())
    if name.rpartition("_")[2].isdigit() and callable(scene) and scene.__module__ == __name__
}
