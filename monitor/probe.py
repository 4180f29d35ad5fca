"""Asks a target one real question and gives the facts of its answer."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping

import httpx

from breaker import __version__
from breaker.answer import Answer, Ended, Source
from breaker.wire import READERS
from breaker.wire.reading import Reading
from monitor import prompts
from monitor.connections import Connections
from monitor.inflate import ACCEPTED, BrokenEncodingError, Inflater
from monitor.lag import LoopLag
from monitor.phases import Phase, Trace
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
# Reading for longer than this gives the others their turn, well before a stall is counted.
BREATH_S = 0.02

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

    A provider's failure is an answer, never an exception. Times count from the moment at which the request is handed
    over. Limits are on silence alone: `policy.silence_s` without a part of the model's answer (comments are none);
    an answer that flows may take as long as it likes, up to `MAX_BODY`. `late` is awaited with the late part at
    `policy.slow_s` if nothing has come by then, while the attempt goes on; what it raises ends the probe in an
    ExceptionGroup. Time for which our own loop stood still lengthens both limits and makes the timing suspect.

    `confirms` is the id of the answer that this one confirms. `connections` holds kept connections, needed where the
    plan doesn't want a fresh one; `timed` is told how long each phase took. Cancelled, it closes the connection
    and gives no answer.
    """
    asked = prompts.build(plan.probe, chance)
    attempt = _Attempt(plan, asked, lag, id=f"{chance.getrandbits(64):016x}", confirms=confirms)
    async with (connections or Connections()).client(plan) as client:
        try:
            ended = await attempt.run(client, _headers(plan, key), late)
        finally:
            await attempt.trace.aclose()
        answer = attempt.end(ended)
    if timed is not None:
        timed(attempt.trace.phases())
    return answer


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
        self._policy = plan.policy
        self._lag = lag
        wire = READERS[provider.wire]
        self._request = wire.request(plan.target.model, question, streamed=True, base_url=provider.base_url)
        self._url = provider.base_url + self._request.path
        self._reading = Reading(
            provider.wire,
            streamed=True,
            prompt_bytes=question.prompt_bytes,
            marks=asked.marks,
            max_tokens=question.max_tokens,
            phrases=plan.phrases,
            tools=bool(question.tools),
        )
        self._target, self._id, self._confirms = plan.name, id, confirms
        self._size = 0
        self._headers_s: float | None = None
        self._ending = False  # the rest of the body has a limit of its own
        self._is_late = False
        self._limit = asyncio.timeout(None)
        self._began = time.monotonic()
        self._ended_s = 0.0
        self.trace = Trace()

    # The exchange

    async def run(self, client: httpx.AsyncClient, headers: Mapping[str, str], late: Late) -> Ended:
        """Ask, listen to the end, and say how it ended."""
        self._began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(self._watch(group, late))
            ended = await self._bounded(client, headers)
            self._ended_s = self._elapsed()
            watch.cancel()
        return ended

    async def _bounded(self, client: httpx.AsyncClient, headers: Mapping[str, str]) -> Ended:
        """Make facts of others' errors, whose texts may hold the key: only their names are logged."""
        try:
            async with self._limit:
                return await self._exchange(client, headers)
        except TimeoutError as error:
            if self._limit.expired():
                return Ended.COMPLETE if self._reading.finished else Ended.SILENCE
            return self._broken(error)
        except (httpx.HTTPError, httpx.InvalidURL, BrokenEncodingError, OSError) as error:
            return self._broken(error)

    def _broken(self, error: Exception) -> Ended:
        _log.info("the exchange with %s broke: %s", self._target, type(error).__name__)
        return Ended.UNREACHABLE if self._headers_s is None else Ended.RESET

    async def _exchange(self, client: httpx.AsyncClient, headers: Mapping[str, str]) -> Ended:
        # httpx would refuse such a key too, but with the key in its debug log.
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            _log.warning("the key for %s holds a line break or another character that can't be sent", self._target)
            return Ended.UNREACHABLE
        response = await self._ask(client, headers)
        try:
            self._headers_s = self._elapsed()
            self._reading.headers(response.status_code, response.headers, self._headers_s)
            if not response.is_success:
                self._ending = True
                self._limit.reschedule(self._in(ERROR_BODY_S))
            return await self._listen(response)
        finally:
            await response.aclose()

    async def _ask(self, client: httpx.AsyncClient, headers: Mapping[str, str]) -> httpx.Response:
        request = client.build_request(
            "POST",
            self._url,
            headers={**self._request.headers, **headers},
            json=self._request.body,
            extensions={"trace": self.trace},
        )
        try:
            return await client.send(request, stream=True)
        except httpx.TransportError:
            # A kept connection that its server closed while it was idle says nothing about the provider.
            if not self.trace.reused:
                raise
            return await client.send(request, stream=True)

    async def _listen(self, response: httpx.Response) -> Ended:
        inflater = Inflater(response.headers.get("content-encoding", ""))
        breath_s = self._elapsed()
        async for data in response.aiter_raw():
            for piece in inflater.feed(data):
                self._size += len(piece)
                if self._size > MAX_BODY:
                    _log.warning("the answer of %s is larger than %d bytes and was broken off", self._target, MAX_BODY)
                    return Ended.RESET
                self._reading.feed(piece, self._elapsed())
                # A bomb, or a flood of tiny chunks, comes out of one read without a pause.
                if self._elapsed() - breath_s > BREATH_S:
                    await asyncio.sleep(0)
                    breath_s = self._elapsed()
            self._follow_end(response)
        return Ended.COMPLETE

    def _follow_end(self, response: httpx.Response) -> None:
        """Once the answer is over, wait for the body's end only a little, unless more of the answer comes after all."""
        if response.is_success and self._reading.finished is not self._ending:
            self._ending = self._reading.finished
            self._limit.reschedule(self._in(END_GRACE_S) if self._ending else None)

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
                group.create_task(_hand(late, self._late(now)))
            else:
                await asyncio.sleep(min(late_at - now, silent_at - now, LOOK_S))

    def _late_at(self) -> float:
        """When the late part is due; never once anything has come or it has been handed out."""
        if self._is_late or self._ending or self._reading.first_byte_s is not None:
            return float("inf")
        return self._policy.slow_s + self._lag.stalled_s(self._began)

    def _silent_at(self) -> float:
        """When silence has lasted too long, counted from the last sign of the model, or else from the headers."""
        if self._ending:
            return float("inf")
        sign_s = max(self._headers_s or 0.0, self._reading.last_token_s or 0.0)
        return sign_s + self._policy.silence_s + self._lag.stalled_s(self._began + sign_s)

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    # The facts

    def _late(self, at_s: float) -> Answer:
        return self._reading.late(at_s, target=self._target, id=self._id, source=Source.PROBE, confirms=self._confirms)

    def end(self, ended: Ended) -> Answer:
        """The final facts. Where the late part has been handed out, the silence is beyond doubt."""
        return self._reading.end(
            ended,
            self._ended_s,
            target=self._target,
            id=self._id,
            source=Source.PROBE,
            suspect_timing=not self._is_late and self._lag.stalled_s(self._began) > 0,
            confirms=self._confirms,
        )


async def _hand(late: Late, answer: Answer) -> None:
    await late(answer)
