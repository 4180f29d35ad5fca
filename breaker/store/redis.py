"""The store on a Redis or Valkey server."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline, PubSub
from redis.exceptions import RedisError

from breaker.answer import Answer
from breaker.circuit import Circuit, Move
from breaker.errors import StoreError, StoreGoneError
from breaker.log import Entry, Log, Weight
from breaker.store import codec
from breaker.store.claim import Grant, Wish
from breaker.store.contract import Reading
from breaker.store.limit import within
from breaker.store.pool import Pool, place_of
from breaker.store.script import APPLY, CLAIM, RECORD, TAKE, UNCLAIM
from breaker.store.trouble import translated
from breaker.usual import Usual
from breaker.usual import read as read_usual
from breaker.usual import write as write_usual
from breaker.verdict import Judgement

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Reply = tuple[int, str, list[str], list[str], list[str], list[str], str | None]

CHANNEL = "firstbyte:moves"
LIMIT_S = 0.1
# Calls under way at one time; further ones queue here. More wouldn't be quicker: they'd share our one processor, and
# each would spend its limit on the others' work.
_CALLS = 8
# Further connections, for those that follow the announcements.
_LISTENERS = 4
_GARBAGE_S = 30 * 86_400
_SPEND_KEPT_S = 3 * 86_400


class RedisStore:
    """The store on a Redis or Valkey server, with a limit of its own on every call.

    The limit counts from the moment when a call is sent, connecting included; there are no retries. Calls beyond
    eight at one time queue; when the server gives no answer to one, those that queue behind it fail with it.
    """

    def __init__(self, pool: Pool, place: str, limit_s: float) -> None:
        self._pool = pool
        self._server = Redis(connection_pool=pool)
        self._limit_s = limit_s
        self._calls = asyncio.Semaphore(_CALLS)
        self._failures = 0
        self._last_failure = ""
        self._told: set[str] = set()
        self.place = place  # where the server is, as an error may show it

    @classmethod
    def from_url(cls, url: str, *, limit_s: float = LIMIT_S) -> Self:
        """The store at a redis://, rediss:// or unix:// URL; connects with the first call. StoreError for a bad URL."""
        pool = Pool.at(url, connections=_CALLS + _LISTENERS, limit_s=limit_s)
        return cls(pool, place_of(url), limit_s)

    # The contract

    async def record(self, answer: Answer, judgement: Judgement, weight: Weight) -> Reading:
        """Append a judged answer to its target's log, once for each part of its id."""
        args = (
            answer.source.value,
            answer.part.value,
            codec.kind(answer, weight),
            codec.write_id(answer),
            round(answer.began_ago_s * 1e6),
            codec.write_members(answer, judgement),
            _nonce(),
            round(max(0.0, answer.began_ago_s - answer.seconds) * 1e6),
        )
        keys = _keys(answer.target, "circuit", "probes", "reports", "ids", "bins", "usual")
        reply = await self._ask(lambda: RECORD.run(self._server, keys, args))
        counted, now, circuit, probes, reports, bins, usual = cast("_Reply", reply)
        return Reading(
            circuit=codec.read_circuit(circuit),
            log=self._read_log(probes, reports, bins, usual),
            now=float(now),
            counted=counted == 1,
        )

    async def learn(self, target: str, usual: Usual) -> None:
        """Keep what is now a target's usual speed."""
        (key,) = _keys(target, "usual")
        await self._ask(lambda: self._server.set(key, write_usual(usual), ex=_GARBAGE_S))

    async def look(self, target: str) -> Reading:
        """What is known of a target; writes nothing."""
        circuit_key, *lists, usual_key = _keys(target, "circuit", "probes", "reports", "bins", "usual")
        # No transaction: a server without memory refuses any, and a move judged on halves is refused by its generation.
        pipe = self._server.pipeline(transaction=False)
        pipe.hmget(circuit_key, *codec.CIRCUIT_FIELDS)
        for key in lists:
            pipe.lrange(key, 0, -1)
        pipe.get(usual_key)
        pipe.time()
        circuit, probes, reports, bins, usual, time = await self._ask(pipe.execute)
        log, now = self._read_log(probes, reports, bins, usual), _seconds(time)
        found = codec.read_circuit(circuit)
        return Reading(circuit=found, log=log, now=now) if found.epoch else _lost(log, now)

    async def apply(self, target: str, move: Move, judged: Circuit) -> Move | None:
        """Make a move if the circuit is still the judged one, and announce it; gives the move as it was made."""
        made = replace(move, circuit=replace(move.circuit, epoch=move.circuit.epoch or _nonce()))
        args: tuple[str | int, ...] = (
            judged.epoch,
            judged.generation,
            _garbage_s(made),
            codec.write_move(made),
            CHANNEL,
            codec.write_announcement(target, made.circuit),
            *(text for pair in codec.write_circuit(made.circuit).items() for text in pair),
        )
        won = await self._ask(lambda: APPLY.run(self._server, _keys(target, "circuit", "moves"), args))
        return made if won else None

    async def circuits(self, targets: Sequence[str]) -> tuple[dict[str, Circuit], float]:
        """All circuits in one round trip, and the store's time."""
        pipe = self._server.pipeline(transaction=False)
        for target in targets:
            pipe.hmget(*_keys(target, "circuit"), *codec.CIRCUIT_FIELDS)
        pipe.time()
        *found, time = await self._ask(lambda: self._each(pipe))
        whole = {
            name: fields for name, fields in zip(targets, found, strict=True) if not isinstance(fields, RedisError)
        }
        if len(whole) < len(targets):
            self._tell_once("%d of %d circuits lie under keys of another kind", len(targets) - len(whole), len(targets))
        return {name: codec.read_circuit(fields) for name, fields in whole.items()}, _seconds(time)

    async def moves(self, target: str, limit: int) -> list[Move]:
        """The newest moves of a target, newest first."""
        if limit < 1:
            return []
        (key,) = _keys(target, "moves")
        found = await self._ask(lambda: cast("Awaitable[list[str]]", self._server.lrange(key, 0, limit - 1)))
        return self._readable([codec.read_move(text) for text in found])

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        """Take the one claim on a target, or renew it; False while another holder has it."""
        args = (holder, max(1, round(for_s * 1000)))
        return bool(await self._ask(lambda: CLAIM.run(self._server, _keys(target, "claim"), args)))

    async def take(self, target: str, holder: str, for_s: float, wish: Wish) -> Grant:
        """Take the claim on a target for a probe, unless another has it or has made the probe needless."""
        args = (holder, max(1, round(for_s * 1000)), wish.need.value, f"{wish.since:.6f}", f"{wish.within_s:.6f}")
        given, busy_ms, age = cast(
            "tuple[int, int, str]",
            await self._ask(lambda: TAKE.run(self._server, _keys(target, "claim", "probed"), args)),
        )
        return Grant(
            given=given == 1,
            again_in_s=busy_ms / 1000 if busy_ms else None,
            began_ago_s=float(age) if age else None,
        )

    async def unclaim(self, target: str, holder: str, told: Wish | None = None) -> None:
        """Give a claim back, if this holder still has it; `told` is what its probe was for, None if it told nothing."""
        # Whose clock is a little ahead takes its turn before it is due, and has taken it all the same.
        up_to = max(told.since, told.covers) if told else 0.0
        args = (holder, told.need.value if told else "", f"{up_to:.6f}")
        await self._ask(lambda: UNCLAIM.run(self._server, _keys(target, "claim", "probed"), args))

    async def announcements(self) -> AsyncGenerator[tuple[str, Circuit]]:
        """Circuits as they move. Raises StoreGoneError when the connection breaks; a frozen server stays unnoticed."""
        ears = self._server.pubsub()
        try:
            await self._ask(lambda: _subscribe(ears))
            while True:
                said = await self._hear(ears)
                if said is not None:
                    yield said
        finally:
            with contextlib.suppress(RedisError, OSError, TimeoutError):
                async with within(self._limit_s):
                    await ears.aclose()  # type: ignore[no-untyped-call] # redis-py leaves it untyped

    # Beside the contract

    async def spend(self, provider: str, day: str, tokens: int, usd: float) -> tuple[int, float]:
        """Add to what a provider has cost on a day; gives the day's tokens and US dollars."""
        key = f"firstbyte:{{spend:{provider}}}:{day}"
        pipe = self._server.pipeline(transaction=True)
        pipe.hincrby(key, "tokens", tokens)
        pipe.hincrbyfloat(key, "usd", usd)
        pipe.expire(key, _SPEND_KEPT_S)
        all_tokens, all_usd, _ = await self._ask(pipe.execute)
        return int(all_tokens), float(all_usd)

    async def ping(self) -> None:
        """Raise StoreGoneError if the server doesn't answer within the limit."""
        await self._ask(self._server.ping)

    async def close(self) -> None:
        """Close all connections; never waits for longer than the limit."""
        with contextlib.suppress(RedisError, OSError, TimeoutError):
            async with within(self._limit_s):
                await self._pool.disconnect()

    # Inside

    async def _ask(self, work: Callable[[], Awaitable[_T]]) -> _T:
        failures = self._failures
        async with self._calls:
            if failures != self._failures:
                raise StoreGoneError(self._last_failure)
            try:
                async with within(self._limit_s):
                    return await work()
            except (RedisError, OSError, TimeoutError) as error:
                raise self._noted(error) from None

    async def _each(self, pipe: Pipeline) -> list[Any]:
        """The replies; among them the errors that concern one command alone."""
        replies: list[Any] = await pipe.execute(raise_on_error=False)
        for said in [*(r for r in replies if _gone(r, self.place)), *replies[-1:]]:
            if isinstance(said, RedisError):
                raise said
        return replies

    def _noted(self, error: Exception) -> StoreError:
        trouble = translated(error, self.place)
        if isinstance(trouble, StoreGoneError):
            self._failures += 1
            self._last_failure = str(trouble)
        return trouble

    async def _hear(self, ears: PubSub) -> tuple[str, Circuit] | None:
        try:
            message = await ears.get_message(timeout=None)
        except (RedisError, OSError) as error:
            raise translated(error, self.place) from None
        return codec.read_announcement(message["data"]) if message and message["type"] == "message" else None

    def _read_log(self, probes: Sequence[str], reports: Sequence[str], bins: Sequence[str], usual: str | None) -> Log:
        return Log(
            probes=self._entries(probes),
            reports=self._entries(reports),
            bins=tuple(self._readable([codec.read_bin(text) for text in bins])),
            usual=read_usual(usual or ""),
        )

    def _entries(self, texts: Sequence[str]) -> tuple[Entry, ...]:
        return tuple(self._readable([codec.read_entry(text) for text in texts]))

    def _readable(self, found: Sequence[_T | None]) -> list[_T]:
        """What could be read; the first time that something couldn't, it is said."""
        readable = [one for one in found if one is not None]
        if len(readable) < len(found):
            missing = len(found) - len(readable)
            self._tell_once("%d of %d lines in the store are another version's and are left out", missing, len(found))
        return readable

    def _tell_once(self, words: str, *numbers: int) -> None:
        if words not in self._told:
            self._told.add(words)
            _log.warning(words, *numbers)


def _keys(target: str, *names: str) -> list[str]:
    """The keys of a target; what stands in braces decides the cluster's slot."""
    return [f"firstbyte:{{{target}}}:{name}" for name in names]


def _gone(said: object, place: str) -> bool:
    return isinstance(said, RedisError) and isinstance(translated(said, place), StoreGoneError)


def _lost(log: Log, now: float) -> Reading:
    """A circuit that isn't there: where its log still is, what counted before may have moved it, and moves nothing."""
    moved_at = min(max((entry.at for entry in (*log.probes, *log.reports)), default=0.0), now)
    return Reading(circuit=Circuit(moved_at=moved_at), log=replace(log, bins=()), now=now)


def _nonce() -> str:
    return secrets.token_hex(8)


def _seconds(time: tuple[int, int]) -> float:
    return time[0] + time[1] / 1e6


def _garbage_s(move: Move) -> int:
    """How long a circuit may lie untouched: expiry must never end a hold."""
    held = move.circuit.held
    ends = (move.circuit.open_until or 0.0, held.until if held else 0.0)
    return _GARBAGE_S + max(0, round(max(ends) - move.at))


async def _subscribe(ears: PubSub) -> None:
    """Subscribe, and wait until the server has said so."""
    await ears.subscribe(CHANNEL)
    await ears.get_message(timeout=None)
