"""Sends what waits in the outbox: at once, in batches where more comes meanwhile, again where it didn't arrive."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence

from breaker.client.asking import backing_off
from breaker.client.link import Link, Reply
from breaker.client.outbox import Outbox, Waiting
from breaker.client.said import parsed
from breaker.errors import DoorGoneError, DoorRefusedError

_log = logging.getLogger(__name__)

# The most in one request; the service takes 1,000, and a million bytes.
_MOST = 500
# Nobody waits for it, and a busy service isn't helped by sending again.
_LIMIT_S = 10.0
# Between two requests: what comes meanwhile goes together.
_PAUSE_S = 0.05
# The service's own trouble, or a batch too large: these may go better the next time.
_AGAIN = frozenset({408, 413, 429})


class Teller:
    """Takes from an outbox for as long as it runs."""

    def __init__(self, link: Link, outbox: Outbox) -> None:
        self._link = link
        self._outbox = outbox
        self._added = asyncio.Event()
        self._most = _MOST
        self._failures = 0
        self._ending = False

    def wake(self) -> None:
        """Something was added."""
        self._added.set()

    def end(self) -> None:
        """Stop once all is sent."""
        self._ending = True
        self._added.set()

    async def tell(self) -> None:
        """Send all that comes."""
        while True:
            self._added.clear()
            while len(self._outbox):  # noqa: ASYNC110 # it is the work that takes them out
                await asyncio.sleep(_PAUSE_S if await self._sent() else backing_off(self._failures))
            if self._ending:
                return
            await self._added.wait()

    async def _sent(self) -> bool:
        """Send a batch; gives whether it needn't be sent again."""
        batch = self._outbox.take(self._most)
        try:
            reply = await self._send(batch)
        except DoorRefusedError as error:
            return self._refused(batch, error)
        except BaseException as error:  # cut off on the way it may have arrived: by their ids they count once
            self._outbox.put_back()
            if not isinstance(error, DoorGoneError):
                raise
            self._again(len(batch) // 2)
            return False
        self._failures, self._most = 0, min(self._most * 2, _MOST)
        self._outbox.arrived()
        self._count(reply)
        return True

    async def _send(self, batch: Sequence[Waiting]) -> Reply:
        now = time.monotonic()
        body = json.dumps([waiting.facts(now) for waiting in batch]).encode()
        kind = {"Content-Type": "application/json"}
        reply = await self._link.ask("POST", "/reports", within_s=_LIMIT_S, content=body, headers=kind)
        if reply.status != 202 or "accepted" not in (parsed(reply.body) or {}):
            raise self._link.other(reply.status)
        return reply

    def _again(self, most: int) -> None:
        """The next time fewer: a batch may be more than can be taken at once."""
        self._failures += 1
        self._most = max(most, 1)

    def _refused(self, batch: Sequence[Waiting], error: DoorRefusedError) -> bool:
        if error.status >= 500 or (error.status in _AGAIN and len(batch) > 1):
            self._outbox.put_back()
            self._again(len(batch) // 2)
            return False
        self._failures = 0
        self._outbox.arrived()
        self._say(len(batch), str(error))
        return True

    def _count(self, reply: Reply) -> None:
        """Count those of a batch that the service won't take."""
        problems = (parsed(reply.body) or {}).get("problems")
        if isinstance(problems, list) and problems:
            first = problems[0]
            self._say(len(problems), str(first.get("wrong")) if isinstance(first, dict) else "")

    def _say(self, count: int, why: str) -> None:
        if not self._outbox.refused:
            _log.warning("the service won't take a report (said once): %s", why)
        self._outbox.refused += count
