"""How long processes have waited for a processor: what is late meanwhile is so by the machine's fault."""

import asyncio
import time
from bisect import bisect_left, bisect_right
from pathlib import Path

EVERY_S = 0.1


class Waits:
    """Watches processes while `watch` runs (Linux); moments are of the performance counter."""

    def __init__(self, *pids: int) -> None:
        self._places = [Path(f"/proc/{pid}/schedstat") for pid in pids]
        self._moments: list[float] = []
        self._sums: list[float] = []  # seconds, up to each moment

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            self._moments.append(time.perf_counter())
            self._sums.append(sum(int(place.read_text().split()[1]) for place in self._places) / 1e9)
            await asyncio.sleep(EVERY_S)

    def between(self, begin: float, end: float) -> float:
        """How many seconds all of them together have waited, from the last look before to the first one after."""
        if not self._moments:
            return 0.0
        first = max(bisect_right(self._moments, begin) - 1, 0)
        last = min(bisect_left(self._moments, end), len(self._moments) - 1)
        return self._sums[last] - self._sums[first]
