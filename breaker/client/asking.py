"""Renews the decisions of a client behind its agents' backs."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time

from breaker.client.keeping import Book, Kept
from breaker.client.link import LIMIT_S, Link, Reply
from breaker.client.said import MAX_VALID_S, Decision, parsed
from breaker.errors import DoorError, DoorRefusedError

_log = logging.getLogger(__name__)

# A decision is renewed when this share of the time for which it holds is over.
_SHARE = 0.75
# One that holds for less is read whole each time, since its seconds matter.
_SHORT_S = 2.0
# Between two questions lies at least this, whatever the answers say.
_LEAST_S = 0.05
# After questions in vain.
_BACK_OFF_S, _MOST_BACK_OFF_S = 0.1, 2.0


def backing_off(failures: int) -> float:
    """How long to wait after so many questions in vain (1 or more), so that not all come back at once."""
    longest_s = min(_BACK_OFF_S * 2.0 ** min(failures - 1, 10), _MOST_BACK_OFF_S)
    return longest_s * random.uniform(0.5, 1.0)  # noqa: S311 # no secret


class Asker:
    """Follows routes: asks where to, waits at the service for another answer, and puts down what it says."""

    def __init__(self, link: Link, book: Book, session: str) -> None:
        self._session = session
        self._link = link
        self._book = book
        self._generation: dict[str | None, int] = {}
        self._away = False
        self.moved = asyncio.Event()  # a circuit has moved
        self.asked = asyncio.Event()  # the first question has had its end

    async def follow(self, kept: Kept) -> None:
        """Ask for a route until no agent does."""
        question, failures = _Question(kept, self._session), 0
        try:
            while not self._book.idle(kept, time.monotonic()):
                began, wait_s = time.monotonic(), question.wait_s
                try:
                    changed = await self._ask(kept, question)
                except DoorError as error:
                    failures += 1
                    self._lost(kept, error)
                    await asyncio.sleep(backing_off(failures))
                    continue
                failures = 0
                self._found()
                pause_s = question.pause_s if changed else wait_s - (time.monotonic() - began)
                await asyncio.sleep(max(pause_s, _LEAST_S))
        finally:
            self._book.leave(kept)

    async def _ask(self, kept: Kept, question: _Question) -> bool:
        """Ask once; gives whether the answer was another one."""
        reply = await self._link.ask(
            "GET",
            "/route",
            within_s=question.limit_s,
            held_s=question.wait_s,
            params=question.params(),
            headers=question.headers(),
        )
        now, before = time.monotonic(), kept.said
        if reply.status == 304 and before is not None:
            said, valid_s = before.aged(now - kept.said_at), _max_age_s(reply, question.valid_s)
        else:
            said = self._read(reply)
            valid_s = min(said.valid_for_s, MAX_VALID_S)
        question.answered(reply, said, valid_s)
        self._book.take(kept, said, now, valid_s)
        self._look_at(kept, said)
        return reply.status != 304

    def _read(self, reply: Reply) -> Decision:
        try:
            return Decision.read(parsed(reply.body) or {})
        except TypeError:
            raise self._link.other(reply.status) from None

    def _look_at(self, kept: Kept, said: Decision) -> None:
        """See whether a circuit has moved."""
        if self._generation.get(kept.name, said.generation) != said.generation:
            self.moved.set()
        self._generation[kept.name] = said.generation

    def _lost(self, kept: Kept, error: DoorError) -> None:
        self._book.lost(kept, error)
        self.asked.set()
        if isinstance(error, DoorRefusedError):
            _log.debug("no decision for route %r: %s", kept.name, error)
        elif not self._away:
            self._away = True
            _log.warning("going on without the service: %s", error)

    def _found(self) -> None:
        self.asked.set()
        if self._away:
            self._away = False
            _log.warning("the service is back")


class _Question:
    """What is asked of a route next."""

    def __init__(self, kept: Kept, session: str) -> None:
        self._always = {"session": session} if kept.name is None else {"route": kept.name, "session": session}
        self._etag: str | None = None
        self.valid_s = 0.0

    @property
    def wait_s(self) -> float:
        """For how long the service is asked to wait for another answer; 0.0 for not at all."""
        return self.valid_s * _SHARE if self._etag else 0.0

    @property
    def limit_s(self) -> float:
        """When to give it up: while a decision is known, before that doesn't hold any more."""
        return self.valid_s if self._etag else LIMIT_S

    @property
    def pause_s(self) -> float:
        """How long to wait here before the next question."""
        return 0.0 if self._etag else self.valid_s * _SHARE

    def params(self) -> dict[str, str]:
        """The parameters."""
        return {**self._always, "wait": f"{self.wait_s:.3f}"} if self._etag else self._always

    def headers(self) -> dict[str, str]:
        """The headers: what is known already."""
        return {"If-None-Match": self._etag} if self._etag else {}

    def answered(self, reply: Reply, said: Decision, valid_s: float) -> None:
        """Remember what to ask with the next time."""
        short = valid_s < _SHORT_S or (said.until_s is not None and said.until_s <= valid_s)
        self.valid_s = valid_s
        self._etag = None if short else reply.headers.get("etag")


def _max_age_s(reply: Reply, otherwise: float) -> float:
    """For how long an answer holds that has no body."""
    found = re.search(r"max-age=(\d{1,5})", reply.headers.get("cache-control", ""))
    return min(float(found[1]), MAX_VALID_S) if found else otherwise
