"""What the soak found again and again, and whether anything of it grows."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks._soak_slope import fit

# Before this many minutes a slope says nothing.
TELLING_MIN = 5.0
# At most this share may be added in an hour, beyond three errors of the slope. A leak of ten bytes a request would be a
# fifth of the memory.
BOUNDS = {"memory": 0.1, "store": 0.15, "keys": 0.2, "times": 1.0}
MEANINGS = {
    "memory": "resident memory of the service, MB",
    "store": "what the store's data take, MB",
    "keys": "keys in the store but for claims",
    "files": "open files of the service",
    "p50": "/route, the middle, us",
    "p99": "/route, p99, us",
    "beside": "a bare application, p99, us",
    "times": "/route, times the bare one, p99",
    "waited": "waiting for a processor, share",
}
# Times are those of the service where it and the load wait for no more than this share of the time for a processor.
TIMES, CALM, FEWEST = ("p50", "p99", "beside", "times"), 0.25, 10
GROWS, UNSURE = ": it grows", ": can't be told"


@dataclass(frozen=True)
class Sample:
    """What was found at a moment; `waited` is the share of the time that service and load waited for a processor."""

    at: float
    memory: float
    store: float
    keys: float
    files: float
    p50: float
    p99: float
    beside: float
    waited: float

    @property
    def times(self) -> float:
        """How many times as long as a bare application beside it the service needed, both at p99."""
        return self.p99 / self.beside


def told(samples: Sequence[Sample], minutes: float) -> bool:
    """Print a line for each thing that was measured; False where one grows, or where that can't be told."""
    print(f"{'':38} {'first':>9} {'last':>9} {'an hour':>9} {'error':>7}  at most")
    words = {name: _line(samples, name) for name in MEANINGS}
    for name, line in words.items():
        print(f"{MEANINGS[name]:38} {line}")
    if minutes < TELLING_MIN:
        print("\nToo short to tell a slope; --minutes 20 does.")
        return True
    return not any(GROWS in line or UNSURE in line for line in words.values())


def _line(samples: Sequence[Sample], name: str) -> str:
    some = [one for one in samples if name not in TIMES or one.waited <= CALM]
    values, most = [float(getattr(one, name)) for one in some], BOUNDS.get(name)
    if len(some) < FEWEST:
        return f"{'the machine was busy with others':>37}{UNSURE}"
    times = [one.at for one in some]
    slope = fit(times, values)
    said = f"{values[0]:9.2f} {values[-1]:9.2f} {slope.an_hour:9.1%} {slope.error:7.1%}"
    return said if most is None else f"{said}  {most:.0%}{_verdict(times, values, most)}"


def _verdict(times: Sequence[float], values: Sequence[float], most: float) -> str:
    """A leak goes on; what rose in one half alone was a jump, such as a busy machine makes."""
    slope, middle = fit(times, values), len(times) // 2
    if not slope.risen(most):
        return "" if slope.within(most) or slope.sharp(most) else UNSURE
    halves = fit(times[:middle], values[:middle]), fit(times[middle:], values[middle:])
    level = [half.sharp(most) and not half.risen(most) for half in halves]
    return f"{UNSURE}: it rose in one half alone" if any(level) else GROWS
