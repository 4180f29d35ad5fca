"""Asks a target one real question and gives the facts of its answer."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import chain
from typing import cast

from breaker import __version__
from breaker.answer import Answer, Ended, Source
from breaker.logged import PROBE_BROKEN, PROBE_UNFIT
from breaker.target import Ability
from breaker.wire import READERS
from breaker.wire.inflate import ACCEPTED, BrokenEncodingError, Inflater, readable
from breaker.wire.reading import Reading
from monitor.exchange.errors import ExchangeError
from monitor.exchange.exchange import Exchange
from monitor.exchange.phases import Moments, Phase
from monitor.exchange.response import Response
from monitor.lag import LoopLag
from monitor.probe import prompts
from monitor.probe.connections import Connections
from monitor.probe.turns import Turns
from monitor.settings import TargetPlan

_log = logging.getLogger(__name__)

# An answer larger than this is broken off: ten minutes at 60 tokens a second come to some 11 MB.
MAX_BODY = 64 * 1024 * 1024
# After the end of an answer, so long (or silence_s, if that is less) for the token counts and for the end of the body.
END_GRACE_S = 5.0
# After a status that is itself an error, so long (or silence_s) for the body that explains it.
ERROR_BODY_S = 10.0
# Limits that have moved meanwhile are looked at this often.
LOOK_S = 1.0
# Reading for longer than this gives the others their turn, so that what they hear meanwhile is stamped in time.
BREATH_S = 0.001
# Up to here a connection's making is left out of all times: much of it is our own work, and agents keep theirs. Beyond
# it a packet was lost or a server is overloaded, and that counts.
QUICK_CONNECT_S = 1.0

Late = Callable[[Answer], Awaitable[object]]
Timed = Callable[[Mapping[Phase, float]], None]


async def probe(
    plan: TargetPlan,
    key: str | None,
    *,
    chance: random.Random,
    lag: LoopLag,
    late: Late,
    confirms: str | None = None,
    connections: Connections | None = None,
    timed: Timed | None = None,
) -> Answer:
    """The final facts of one streamed request, as large as the plan's probes are.

    A provider's failure is an answer, never an exception. Times count from the moment at which the request's first byte
    is handed to the socket, or where to connect took longer than `QUICK_CONNECT_S`, from the begin. Limits are on
    silence alone: `policy.silence_s` without a part of the model's answer (comments are none); an answer that flows may
    take as long as it likes, up to `MAX_BODY`. `late` is awaited with the late part at `policy.slow_s` if nothing has
    come by then, while the attempt goes on; what it raises ends the probe in an ExceptionGroup. Time for which our own
    loop stood still lengthens both limits and makes the timing suspect.

    `confirms` is the id of the answer that this one confirms. `connections` holds kept connections, needed where the
    plan doesn't want a fresh one; `timed` is told how long each phase took. Cancelled, it closes the connection
    and gives no answer.
    """
    async with contextlib.AsyncExitStack() as stack:
        if connections is None:
            connections = await stack.enter_async_context(contextlib.aclosing(Connections()))
        asked = await _built(plan, chance, connections.turns)
        attempt = _Attempt(plan, asked, lag, id=f"{chance.getrandbits(64):016x}", confirms=confirms)
        answer = attempt.end(await attempt.run(connections, _headers(plan, key), late))
    if timed is not None:
        timed(attempt.moments.phases())
    return answer


async def _built(plan: TargetPlan, chance: random.Random, turns: Turns) -> prompts.Probe:
    """The question, made in steps between which others have their turn."""
    can = plan.target.can
    building = prompts.building(plan.probe, chance, tools=can is None or Ability.TOOLS in can)
    while True:
        await turns.take()
        try:
            next(building)
        except StopIteration as built:
            await turns.take()
            return cast("prompts.Probe", built.value)


def _headers(plan: TargetPlan, key: str | None) -> dict[str, str]:
    own = {"accept-encoding": ACCEPTED, "user-agent": f"firstbyte/{__version__}"}
    return own if key is None else {**own, **READERS[plan.target.provider.wire].key_headers(key)}


class _Attempt:
    """One exchange: its clock, its reading, its limits."""

    def __init__(
        self,
        plan: TargetPlan,
        asked: prompts.Probe,
        lag: LoopLag,
        *,
        id: str,  # noqa: A002 # a fact's name
        confirms: str | None,
    ) -> None:
        provider, question = plan.target.provider, asked.question
        self._plan = plan
        self._policy = plan.policy
        self._lag = lag
        wire = READERS[provider.wire]
        self._request = wire.request(plan.target.model, question, streamed=True, base_url=provider.base_url)
        self._reading = Reading(
            provider.wire,
            streamed=True,
            prompt_bytes=prompts.size(question),
            marks=asked.marks,
            max_tokens=question.max_tokens,
            phrases=plan.phrases,
            tools=bool(question.tools),
        )
        self._target, self._id, self._confirms = plan.name, id, confirms
        self._size = 0
        self._headers_s: float | None = None
        self._packed_s: float | None = None  # when something came last of a body that can't be read
        self._ending = False  # the rest of the body has a limit of its own
        self._is_late = False
        self._limit = asyncio.timeout(None)
        self._start = time.monotonic()
        self._late_unsent = False
        self._ended_s: float | None = None
        self.moments = Moments()

    # The exchange

    async def run(self, connections: Connections, headers: Mapping[str, str], late: Late) -> Ended:
        """Ask, listen to the end, and say how it ended."""
        self._start = time.monotonic()
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(self._watch(group, late))
            ended = await self._bounded(connections, headers)
            if self._ended_s is None:
                self._ended_s = self._elapsed()
            watch.cancel()
        return ended

    async def _bounded(self, connections: Connections, headers: Mapping[str, str]) -> Ended:
        """Make facts of others' errors, whose texts may hold the key: only their names are logged."""
        try:
            async with self._limit:
                return await self._exchange(connections, headers)
        except TimeoutError as error:
            if self._limit.expired():
                return Ended.COMPLETE if self._reading.finished else Ended.SILENCE
            return self._broken(error)
        except (ExchangeError, BrokenEncodingError, OSError) as error:
            return self._broken(error)

    def _broken(self, error: Exception) -> Ended:
        cause = type(error).__name__
        _log.info(
            "the exchange with %s broke: %s", self._target, cause, extra=PROBE_BROKEN(target=self._target, cause=cause)
        )
        return Ended.UNREACHABLE if self._headers_s is None else Ended.RESET

    async def _exchange(self, connections: Connections, headers: Mapping[str, str]) -> Ended:
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            _log.warning(
                "the key for %s holds a line break or another character that can't be sent",
                self._target,
                extra=PROBE_UNFIT(target=self._target),
            )
            return Ended.UNREACHABLE
        async with connections.ask(self._plan, self._request, headers, self.moments) as exchange:
            response = exchange.response
            self._headers_s = exchange.headed_at - self._began
            self._reading.headers(response.status, response.headers, self._headers_s)
            if not readable(response.headers.get("content-encoding", "")):
                self._packed_s = self._headers_s
                self._reading.packed()
            if not self._well(response):
                self._ending = True
                self._limit.reschedule(self._in(ERROR_BODY_S))
            return await self._listen(exchange, connections.turns)

    async def _listen(self, exchange: Exchange, turns: Turns) -> Ended:
        inflater = Inflater(exchange.response.headers.get("content-encoding", ""))
        while (got := await exchange.more(gather=self._reading.first_byte_s is not None)) is not None:
            await turns.take()
            at_s, breath = got.at - self._began, time.monotonic()
            for piece in chain.from_iterable(map(inflater.feed, got.data)):
                self._size += len(piece)
                if self._size > MAX_BODY:
                    _log.warning(
                        "the answer of %s is larger than %d bytes and was broken off",
                        self._target,
                        MAX_BODY,
                        extra=PROBE_BROKEN(target=self._target, cause="too_large"),
                    )
                    return Ended.RESET
                if self._packed_s is None:
                    self._reading.feed(piece, at_s)
                else:
                    self._packed_s = at_s
                # A bomb, or a flood of tiny chunks, comes out of one read without a pause.
                if time.monotonic() - breath > BREATH_S:
                    await turns.take()
                    breath = time.monotonic()
            self._follow_end(exchange.response)
        if exchange.ended_at is not None:
            self._ended_s = exchange.ended_at - self._began
        return Ended.COMPLETE

    def _follow_end(self, response: Response) -> None:
        """Once the answer is over, wait for the body's end only a little, unless more of the answer comes after all."""
        if self._well(response) and self._reading.finished is not self._ending:
            self._ending = self._reading.finished
            self._limit.reschedule(self._in(END_GRACE_S) if self._ending else None)

    @staticmethod
    def _well(response: Response) -> bool:
        return 200 <= response.status < 300

    def _in(self, seconds: float) -> float:
        return asyncio.get_running_loop().time() + min(seconds, self._policy.silence_s)

    # The limits on silence

    async def _watch(self, group: asyncio.TaskGroup, late: Late) -> None:
        """Hand out the late part and end the exchange, each when its time has come."""
        while True:
            now = self._elapsed()
            late_at, silent_at = self._late_at(), self._silent_at()
            if now >= silent_at:
                self._limit.reschedule(self._in(0.0))
                return
            if now >= late_at:
                self._is_late = True
                self._late_unsent = self.moments.sending is None
                group.create_task(_hand(late, self._late(now)))
            else:
                await asyncio.sleep(min(late_at - now, silent_at - now, LOOK_S))

    def _late_at(self) -> float:
        """When the late part is due; never once anything has come or it has been handed out."""
        if self._is_late or self._ending or self._packed_s is not None or self._reading.first_byte_s is not None:
            return float("inf")
        return self._policy.slow_s + self._lag.stalled_s(self._began)

    def _silent_at(self) -> float:
        """When silence has lasted too long, counted from the last sign of the model, or else from the headers."""
        if self._ending:
            return float("inf")
        sign_s = max(self._headers_s or 0.0, self._reading.last_token_s or 0.0, self._packed_s or 0.0)
        return sign_s + self._policy.silence_s + self._lag.stalled_s(self._began + sign_s)

    @property
    def _began(self) -> float:
        """The moment from which times count: when the request's first byte was handed to the socket.

        Until then, and where to connect took so long that an agent would have felt it, it is the attempt's begin.
        """
        sending = self.moments.sending
        if sending is None or self._late_unsent or sending - self._start > QUICK_CONNECT_S:
            return self._start
        return sending

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    # The facts

    def _late(self, at_s: float) -> Answer:
        return self._reading.late(at_s, target=self._target, id=self._id, source=Source.PROBE, confirms=self._confirms)

    def end(self, ended: Ended) -> Answer:
        """The final facts. Where the late part has been handed out, the silence is beyond doubt.

        What was read late is told with its age: else its request would seem to have begun later than it did.
        """
        answer = self._reading.end(
            ended,
            self._ended_s or 0.0,
            target=self._target,
            id=self._id,
            source=Source.PROBE,
            suspect_timing=not self._is_late and self._lag.stalled_s(self._began) > 0,
            confirms=self._confirms,
        )
        return replace(answer, age_s=self._elapsed())


async def _hand(late: Late, answer: Answer) -> None:
    await late(answer)
