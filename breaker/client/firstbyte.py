"""What an agent holds: where to go before a step, and who to tell after it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
import uuid
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, NotRequired, Self, TypedDict

from breaker.answer import Answer
from breaker.client.door import Door
from breaker.client.said import Decision, Source
from breaker.errors import BadFactError, DoorError, DoorGoneError
from breaker.verdict import Verdict, judge

PATIENCE_S = 0.05


class Spot(TypedDict):
    """A target as `GET /route` describes it: `target` is `provider/model`."""

    target: str
    base_url: str
    wire: str
    api_key_env: NotRequired[str | None]


Fallback = Sequence[Spot] | Mapping[str, Sequence[Spot]]


class _Agent:
    """What both faces have in common."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        fallback: Fallback | None = None,
        strict: bool = False,
    ) -> None:
        self._door = Door(url, token=token, timeout_s=PATIENCE_S)
        self.url = self._door.url
        self._fallback = fallback or ()
        self._strict = strict
        self._lock = threading.Lock()
        self._kept: dict[str | None, tuple[float, Decision]] = {}
        self.dropped = 0

    def report(self, answer: Answer | None = None, **facts: object) -> Verdict | None:
        """Tell how a step went, and hear what it was. Returns at once; what can't be sent now is sent later.

        Give an `Answer`, or its facts: target, ended and seconds are needed, an id is made when left out. None where
        the facts are none (with `strict`: BadFactError).
        """
        try:
            answer = answer or Answer.from_facts({"id": uuid.uuid4().hex, **facts})
        except BadFactError:
            if self._strict:
                raise
            return None
        threading.Thread(target=self._tell, args=[answer], daemon=True).start()
        return judge(answer).verdict

    def besides(self, tried: Collection[str], name: str | None = None) -> Decision | None:
        """The best target of a route besides those that were tried, from memory; None where there is none."""
        return None

    def known(self, name: str | None = None) -> Decision | None:
        """The decision that is kept or that comes within 50 ms; None where nothing is known at all."""
        kept = self._kept.get(name)
        if kept is not None and time.monotonic() < kept[0]:
            return kept[1]
        with self._lock:
            try:
                decision = self._door.route(name)
            except DoorError:
                if self._strict:
                    raise
                return self._without_service(name, kept and kept[1])
            decision = replace(decision, switched=kept is not None and kept[1].target != decision.target)
            self._kept[name] = time.monotonic() + decision.valid_for_s, replace(decision, switched=False)
            return decision

    def _decided(self, name: str | None) -> Decision:
        decision = self.known(name)
        if decision is None:
            raise DoorGoneError(f"nothing answers at {self.url}, and nothing is known; give `fallback`")
        return decision

    def _without_service(self, name: str | None, kept: Decision | None) -> Decision | None:
        if kept is not None:
            return replace(kept, source=Source.KEPT, stale=True)
        spots = self._fallback.get(name or "default", ()) if isinstance(self._fallback, Mapping) else self._fallback
        return _primary(name, spots[0]) if spots else None

    def _tell(self, answer: Answer) -> None:
        with contextlib.suppress(DoorError):
            self._door.report(**answer.facts())


class Firstbyte(_Agent):
    """Where to go before each step, and who to tell after it; use it as a context manager, or close it.

    Without `url` and `token`: what FIRSTBYTE_URL and FIRSTBYTE_TOKEN say, else the default address and no token.
    """

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Send what waits, for a second at most, and end; safe to call twice."""
        self._door.close()

    def route(self, name: str | None = None) -> Decision:
        """Where the next step should go; without a name: the route `default`, or the only one."""
        return self._decided(name)

    def events(self, *, target: str | None = None, route: str | None = None, after: str | None = None) -> Iterator[Any]:
        """The moves of circuits, as they happen."""
        raise NotImplementedError


class AsyncFirstbyte(_Agent):
    """The same for asyncio: `route` and `close` are awaited, `report` isn't, since it never waits."""

    async def __aenter__(self) -> Self:
        """Itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()

    async def aclose(self) -> None:
        """Send what waits, for a second at most, and end; safe to call twice."""
        self._door.close()

    async def route(self, name: str | None = None) -> Decision:
        """Where the next step should go; without a name: the route `default`, or the only one."""
        return await asyncio.to_thread(self._decided, name)

    def events(
        self, *, target: str | None = None, route: str | None = None, after: str | None = None
    ) -> AsyncIterator[Any]:
        """The moves of circuits, as they happen."""
        raise NotImplementedError


def _primary(name: str | None, spot: Spot) -> Decision:
    provider, _, model = spot["target"].partition("/")
    return Decision(
        route=name or "default",
        target=spot["target"],
        provider=provider,
        model=model,
        base_url=spot["base_url"],
        wire=spot["wire"],
        api_key_env=spot.get("api_key_env"),
        role="primary",
        primary=spot["target"],
        reason="healthy",
        since_s=None,
        until_s=None,
        generation=0,
        valid_for_s=1.0,
        stale=True,
        source=Source.PRIMARY,
    )
