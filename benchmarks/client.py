"""Measures what an agent's client costs: a decision, a report, its import, and a step while the service is in trouble.

Run it as `python -m benchmarks.client`; it takes a minute, with `--quick` half of that. Beside a decision it sets a
look-up in a dictionary and pybreaker in memory, which it installs into an environment of its own; beside the import
that of httpx.
"""

import asyncio
import logging
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import _client_service as serving
from benchmarks._installing import installed
from benchmarks._machine import cores, machine, pin
from breaker.client import AsyncFirstbyte, Firstbyte, Spot

ROUNDS = 5
CALLS = 100_000
STEPS_AT_ONCE = 1_000
TROUBLES = ("well", "frozen", "killed and restarted", "killed", "replaced by rubble")
# Starts of a process, what happens while steps are made, and for how long that is.
WHOLE, QUICK = (7, TROUBLES, 4.0), (3, TROUBLES[:3], 2.0)
# What is aimed at.
DECISION_US, IMPORT_MS, WAIT_MS = 5.0, 30.0, 50.0

_SPOT: Spot = {"target": "first/model-of-some-size", "base_url": "http://127.0.0.1:9/v1", "wire": "openai-chat"}
_FACTS = {"target": _SPOT["target"], "ended": "complete", "seconds": 2.0, "status": 200, "first_byte_s": 0.4}
_PEER = """
import sys, time, pybreaker
breaker, calls, kept = pybreaker.CircuitBreaker(), int(sys.argv[1]), {"a": (time.monotonic() + 1e6, 1)}
def look(name):
    until, value = kept[name]
    return value if time.monotonic() < until else None
def took(call, *words):
    began = time.perf_counter()
    for _ in range(calls):
        call(*words)
    return (time.perf_counter() - began) / calls * 1e6
nothing = lambda: None
print(took(look, "a"), took(breaker.call, nothing))
"""


def took_us(call: Callable[[], object], calls: int = CALLS) -> float:
    """How long one of many calls takes."""
    began = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - began) / calls * 1e6


async def awaited_us(firstbyte: AsyncFirstbyte) -> float:
    """The same of a decision in an event loop."""
    began = time.perf_counter()
    for _ in range(CALLS):
        await firstbyte.route("coder")
    return (time.perf_counter() - began) / CALLS * 1e6


def decisions(url: str, peers: Path | str) -> bool:
    """Print what a decision and a report cost; gives whether the aim was met. `peers` may say why there are none."""
    rows: dict[str, list[float]] = {}
    with Firstbyte(url, fallback=[_SPOT]) as firstbyte:
        serving.until(lambda: firstbyte.route("coder").source == "service")
        kept = {"coder": (time.monotonic() + 1e6, firstbyte.route("coder"))}
        for _ in range(ROUNDS):
            _one_round(rows, firstbyte, url, kept, peers)
    look = rows["a look-up in a dictionary, with a look at the clock"]
    print(f"{'one call, circuit closed':52}  {'us':>7}  {'times a look-up':>15}")
    for what, seen in rows.items():
        ratio = statistics.median(us / least for us, least in zip(seen, look, strict=True))
        print(f"{what:52}  {statistics.median(seen):7.2f}  {ratio:15.1f}")
    if isinstance(peers, str):
        print(f"pybreaker could not be installed: {peers}")
    good = statistics.median(rows["route()"]) <= DECISION_US
    print(f"route(): aim {DECISION_US:g} us: {'met' if good else 'MISSED'}\n")
    return good


def _one_round(
    rows: dict[str, list[float]],
    firstbyte: Firstbyte,
    url: str,
    kept: Mapping[str, tuple[float, object]],
    peers: Path | str,
) -> None:
    def look() -> object:
        until, decision = kept["coder"]
        return decision if time.monotonic() < until else None

    async def loop() -> float:
        async with AsyncFirstbyte(url, fallback=[_SPOT]) as other:
            await other.route("coder")
            return await awaited_us(other)

    seen = {
        "a look-up in a dictionary, with a look at the clock": took_us(look),
        "route()": took_us(lambda: firstbyte.route("coder")),
        "await route()": asyncio.run(loop()),
        "report()": took_us(lambda: firstbyte.report(**_FACTS), CALLS // 100),
    }
    if isinstance(peers, Path):
        command = [str(peers), "-c", _PEER, str(CALLS)]
        least, each = map(float, subprocess.run(command, check=True, capture_output=True, timeout=60).stdout.split())
        # Two interpreters: the other's look-up says how they compare.
        seen["pybreaker in memory"] = each * seen["a look-up in a dictionary, with a look at the clock"] / least
    for what, us in seen.items():
        rows.setdefault(what, []).append(us)
    serving.until(lambda: firstbyte.waiting == 0)


def imports(starts: int) -> bool:
    """Print what loading costs; gives whether the aim was met."""
    codes = {
        "nothing": "pass",
        "httpx": "import httpx",
        "httpx and the client": "import httpx, breaker.client",
        "httpx and the transport": "import httpx, breaker.client.transport",
        "and one of it made": "import httpx, breaker.client.transport as t; t.Transport()",
    }
    seen: dict[str, list[float]] = {what: [] for what in codes}
    for _ in range(starts):
        for what, code in codes.items():
            seen[what].append(_cpu_ms(code))
    print("loaded                   CPU ms (the least and the middle of all starts)")
    for what, each in seen.items():
        print(f"{what:24} {min(each):7.1f} {statistics.median(each):7.1f}")
    more = min(seen["httpx and the transport"]) - min(seen["httpx"])
    good = more <= IMPORT_MS
    print(
        f"the client and its transport take {more:.1f} ms more; aim {IMPORT_MS:g} ms: {'met' if good else 'MISSED'}\n"
    )
    return good


def _cpu_ms(code: str) -> float:
    words = [sys.executable, "-c", f"{code}\nimport time\nprint(time.process_time())"]
    return float(subprocess.run(words, check=True, capture_output=True, timeout=60).stdout) * 1000


async def _steps(firstbyte: AsyncFirstbyte, taken: list[float], failed: list[BaseException], seconds: float) -> None:
    """One agent's steps, each a moment after the one before."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        began = time.perf_counter()
        try:
            await firstbyte.route("coder")
            firstbyte.report(**_FACTS)
        except Exception as error:  # noqa: BLE001 # that none comes is what is to be shown
            failed.append(error)
        taken.append(time.perf_counter() - began)
        await asyncio.sleep(1.0)


async def _crowd(url: str, trouble: Callable[[], object], seconds: float) -> tuple[list[float], list[BaseException]]:
    taken, failed = list[float](), list[BaseException]()
    async with AsyncFirstbyte(url, fallback=[_SPOT]) as firstbyte:
        async with asyncio.timeout(20):
            while (await firstbyte.route("coder")).source != "service":  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.01)
        crowd = [asyncio.create_task(_steps(firstbyte, taken, failed, seconds)) for _ in range(STEPS_AT_ONCE)]
        await asyncio.sleep(seconds / 4)
        await asyncio.to_thread(trouble)
        await asyncio.gather(*crowd)
    return taken, failed


def troubles(server: set[int], starts: int, which: Sequence[str], seconds: float) -> bool:
    """Print how long steps wait for us while the service is in trouble; gives whether the aim was met."""
    print(f"{STEPS_AT_ONCE} agents at once, a step a second; the service      steps  failed  p99 ms  the longest ms")
    good = True
    for what in which:
        with serving.Service(server) as service:
            taken, failed = asyncio.run(_crowd(service.url, partial(service.suffer, what), seconds))
        good = _row(what, taken, len(failed)) and good
    print(f"\nthe first call of a process; the service{'':13}      calls")
    for what in ("well", "absent", "silent"):
        with serving.Service(server) as service:
            good = _row(what, [_first_s(service.address(what)) for _ in range(starts)], 0) and good
    print(f"aim {WAIT_MS:g} ms for each, and none failed: {'met' if good else 'MISSED'}")
    return good


def _row(what: str, taken: Sequence[float], failed: int) -> bool:
    p99 = statistics.quantiles(taken, n=100, method="inclusive")[98]
    print(f"{what:52} {len(taken):7}  {failed:6}  {p99 * 1000:6.2f}  {max(taken) * 1000:14.1f}", flush=True)
    return failed == 0 and max(taken) * 1000 <= WAIT_MS


def _first_s(url: str) -> float:
    code = (
        "import sys, time\nfrom breaker.client import Firstbyte\n"
        f"firstbyte = Firstbyte(sys.argv[1], fallback=[{_SPOT!r}])\n"
        "began = time.perf_counter()\nfirstbyte.route('coder')\nprint(time.perf_counter() - began)"
    )
    words = [sys.executable, "-c", code, url]
    return float(subprocess.run(words, check=True, capture_output=True, timeout=60).stdout)


def main(words: Sequence[str]) -> int:
    """Print the tables; 1 where an aim was missed."""
    starts, which, seconds = QUICK if "--quick" in words else WHOLE
    server, asking = cores()
    print(f"{machine()}; the service on core {server}, the agents on {asking}\n")
    pin(asking)
    logging.disable()  # the client says that it goes on without the service
    with installed(["pybreaker"]) as peers, serving.Service(server) as service:
        good = [decisions(service.url, peers)]
    good += [imports(starts), troubles(server, starts, which, seconds)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
