"""Lets other work come in between where much that has waited comes into the store at one time."""

import asyncio
from collections.abc import Sequence

from breaker.store.contract import Weighed

# Where batches go so many times as fast as they came, there is time to let others come in between. With less than that
# the queue would grow where agents report as much as we can take.
_TIMES = 2.0


class Turns:
    """Gives the batches of several targets, whose replies come together, a turn of the loop each."""

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self._last: dict[str, float] = {}

    async def take(self, batch: Sequence[Weighed], now: float) -> None:
        """Wait until no other batch has this turn of the loop, if this target's batches make up for lost time.

        `now` is a moment of the monotonic clock.
        """
        target = batch[0].answer.target
        gone_s = now - self._last.get(target, float("-inf"))
        self._last[target] = now
        if batch[-1].since - batch[0].since > _TIMES * gone_s:
            async with self._one:
                await asyncio.sleep(0)
