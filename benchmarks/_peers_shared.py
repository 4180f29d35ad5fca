"""The scenarios of several replicas on one Redis, told to a library that can share its state."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from benchmarks._peers_alone import HOLD_S, Told, herd_1, refuses
from benchmarks._peers_face import Breaker, CantSay, Library

NAME = "x"


def replicas(library: Library, count: int, **wanted: object) -> list[Breaker]:
    """So many processes' breakers on one empty Redis."""
    library.need("shared")
    library.redis().flushall()
    return [library.make(shared=NAME, **wanted) for _ in range(count)]


def tripped(library: Library, count: int, **wanted: object) -> list[Breaker]:
    """The same; the first has just opened, and all others have heard of it."""
    made = replicas(library, count, **wanted)
    made[0].times(2, "failed")
    poll(made)
    assert made[-1].state == "open", "one replica's trip should reach the others"
    return made


def poll(made: list[Breaker]) -> None:
    """Let every replica look once at what is shared."""
    for breaker in made:
        breaker.polls()


def over(library: Library, count: int, **wanted: object) -> list[Breaker]:
    """Tripped, a second after the end of the hold."""
    made = tripped(library, count, **wanted)
    library.go(HOLD_S + 1)
    poll(made)
    return made


def late_9(library: Library) -> Told:
    """Only for a store with rounds of trials: played at its own interface."""
    made = over(library, 1, good=2)
    storage, outcome, trip = library.rounds(made[0])
    storage.lease_probe(name=NAME, ttl=60.0)
    trip()
    library.go(HOLD_S + 1)
    storage.begin_half_open_if_elapsed(name=NAME, wait_duration=HOLD_S, permitted=2, ttl=60.0)
    view = storage.record_probe(name=NAME, outcome=outcome, ttl=60.0)
    counted = view.probes_completed
    return (
        counted == 0,
        f"in Redis, the old trial fills {counted} of 2 places in the new round",
    )


def herd_5(library: Library) -> Told:
    made = over(library, 8, good=1)
    let_in = sum(not refuses(breaker) for breaker in made)
    library.go(3600)
    poll(made)
    later = sum(not refuses(breaker) for breaker in made)
    return let_in == 1 and later >= 1, f"{let_in} of 8 were let in" + (
        "; when that one had died, nobody was any more" if not later else ""
    )


def herd_6(library: Library) -> Told:
    made = over(library, 8, good=1)
    let_in = 0
    for _ in range(20):
        let_in += sum(not refuses(breaker) for breaker in made)
        library.go(131)
        poll(made)
    return 1 < let_in <= 20, f"{let_in} of 160 wishes to try a hanging target were granted in 20 turns"


def herd_7(library: Library) -> Told:
    alone_right, alone = herd_1(library)
    made = over(library, 8, good=1)
    let_in = sum(not refuses(breaker) for breaker in made)
    return alone_right and let_in == 1, f"in one process {alone}; {let_in} of 8 processes"


def stuck_9(library: Library) -> Told:
    tripped(library, 1)
    client = library.redis()
    times = [key for key in client.keys("*") if "opened_at" in key]
    return not times, "state and time stand in two keys" if times else "state and time stand in one key"


def stuck_12(library: Library) -> Told:
    if "rate" not in library.able:
        raise CantSay("it has no places that could be lost")
    made = over(library, 2, good=1)
    client = library.redis()
    (key,) = client.keys("*")
    made[0].begin()
    client.pexpire(key, 100_000)
    made[1].tries("good")
    longer = client.pttl(key) > 100_000
    library.go(3600)
    poll(made)
    stuck = refuses(made[1])
    return not longer and not stuck, "the lost place never comes back" + (
        ", and each refusal makes the record live longer" if longer else ""
    )


def store_1(library: Library) -> Told:
    made = tripped(library, 2)
    library.redis().flushall()
    return _still_out(library, made)


def _still_out(library: Library, made: list[Breaker]) -> Told:
    library.go(10)
    poll(made)
    out = [refuses(breaker) for breaker in made]
    return all(
        out
    ), f"the one that tripped {'refuses' if out[0] else 'lets in'}, another {'refuses' if out[1] else 'lets in'}"


def store_2(library: Library) -> Told:
    made = tripped(library, 8)
    for _ in range(19):
        library.go(30)
        poll(made)
        for breaker in made:
            _ = breaker.state
            refuses(breaker)
    library.go(31)
    poll(made)
    late = all(refuses(breaker) for breaker in made)
    return not late, "looking put the end off" if late else "looking moves nothing"


def store_3(library: Library) -> Told:
    made = tripped(library, 2)
    client = library.redis()
    for key in client.keys("*"):
        if client.type(key) == "hash":
            client.hdel(key, "opened_at")
        elif key.endswith(("opened_at", "failure_count")):
            client.delete(key)
    library.go(10)
    poll(made)
    out = [refuses(breaker) for breaker in made]
    return all(out), "it stayed open" if all(out) else "the hold was over at once"


def store_4(library: Library) -> Told:
    made = replicas(library, 2, failures=1)
    call = made[0].begin()
    library.redis().flushall()
    if call:
        call.end("failed")
    poll(made)
    later = library.make(shared=NAME, failures=1)
    later.tries("failed")
    later.polls()
    return later.state == "open", f"the next failure left it {later.state}"


def store_5(library: Library) -> Told:
    made = replicas(library, 2)
    made[0].begin()
    began = time.perf_counter()
    made[1].tries("good")
    took_s = time.perf_counter() - began
    return took_s < 0.05, "another replica isn't held up" if took_s < 0.05 else f"another replica waits {took_s:.1f} s"


def store_6(library: Library) -> Told:
    made = tripped(library, 2)
    library.go(350)
    library.clock.now += 300
    made[1].polls()
    early = not refuses(made[1])
    library.clock.now -= 300
    return not early, "a clock 300 s ahead ended the hold 250 s early" if early else "the server's clock decides"


def store_7(library: Library) -> Told:
    made = tripped(library, 2)
    with contextlib.suppress(Exception):
        library.redis().shutdown(nosave=True)
    return _still_out(library, made)


def store_8(library: Library) -> Told:
    if not library.wall_clock:
        breaker = library.make()
        breaker.times(2, "failed")
        library.go(HOLD_S + 1)
        return not refuses(breaker), "within a process it goes by a clock that nobody sets"
    breaker = library.make()
    breaker.times(2, "failed")
    library.go(300)
    library.clock.now -= 700
    library.go(310)
    long = refuses(breaker)
    return not long, "set back by 700 s, the clock made the hold as much longer" if long else "the hold ended in time"


def store_9(library: Library) -> Told:
    made = replicas(library, 2)
    made[0].tries("failed")
    poll(made)
    client = library.redis()
    before = {key: library.dump(key) for key in client.keys("*")}
    made[0].tries("failed")
    poll(made)
    client.flushall()
    for key, value in before.items():
        library.restore(key, value)
    return _still_out(library, made)


def store_10(library: Library) -> Told:
    made = tripped(library, 2)
    return refuses(made[1]), "it works on a node of a cluster"


def store_12(library: Library) -> Told:
    made = tripped(library, 2)
    return refuses(made[1]), "another replica refuses at its next look"


def store_13(library: Library) -> Told:
    made = replicas(library, 2)
    client = library.redis()
    made[0].tries("failed")
    client.script_flush()
    client.execute_command("REPLICAOF", "127.0.0.1", "1")
    try:
        made[0].tries("failed")
        poll(made)
    finally:
        client.execute_command("REPLICAOF", "NO", "ONE")
    library.go(10)
    poll(made)
    out = refuses(made[1])
    return out, "the failure in between was kept" if out else "the failure in between was lost to the others"


def store_15(library: Library) -> Told:
    library.need("shared", "by hand")
    made = tripped(library, 2)
    library.close_by_hand(made[0])
    poll(made)
    reached = not refuses(made[1])
    made[0].times(2, "failed")
    poll(made)
    held = not refuses(made[0])
    return reached and held, ("it reached the others" if reached else "the others don't hear of it") + (
        "" if held else ", and two failures undid it"
    )


def store_16(library: Library) -> Told:
    tripped(library, 1)
    library.go(300)
    made = [library.make(shared=NAME) for _ in range(3)]
    library.go(290)
    poll(made)
    early = not all(refuses(breaker) for breaker in made)
    library.go(11)
    poll(made)
    late = refuses(made[0])
    return not early and not late, "restarts moved the end" if early or late else "the end stayed where it was"


def both_7(library: Library) -> Told:
    tripped(library, 1)
    library.go(60)
    again = library.make(shared=NAME)
    return refuses(again), f"with Redis, a new process begins {again.state}"


SCENES: dict[str, Callable[[Library], Any]] = {
    name.replace("_", "-"): scene
    for name, scene in list(globals().items())
    if name.rpartition("_")[2].isdigit() and callable(scene) and scene.__module__ == __name__
}
