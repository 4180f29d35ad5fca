"""The store on a Redis or Valkey server."""

import contextlib
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any, Self, cast

from breaker.answer import Source
from breaker.circuit import Circuit, Move
from breaker.errors import StoreError, StoreGoneError
from breaker.history import History, Keep
from breaker.log import Log
from breaker.store import codec
from breaker.store.behind import servers_at
from breaker.store.call import Call, answered, command, time_of
from breaker.store.claim import Grant, Need, Wish
from breaker.store.contract import Circuits, Reading, Weighed
from breaker.store.damage import keys_of, named
from breaker.store.hearing import heard
from breaker.store.keeping import Keeping
from breaker.store.reader import Reader
from breaker.store.runs import RedisRuns
from breaker.store.script import APPLY, CLAIM, FILE, PAST, RECORD, SPEND, TAKE, UNCLAIM
from breaker.store.servers import CLOCK, Servers
from breaker.store.together import Together
from breaker.usual import Usual
from breaker.usual import write as write_usual

CHANNEL = "firstbyte:moves"
LIMIT_S = 0.1
_GARBAGE_S = 30 * 86_400
_SPEND_KEPT_S = 3 * 86_400


class RedisStore:
    """The store on Redis or Valkey, with a limit of its own on every call.

    The limit counts from the moment when a call is sent, connecting included; there are no retries. Calls beyond
    eight at one time queue; when the server gives no answer to one, those that queue behind it fail with it.
    """

    def __init__(self, servers: Servers, limit_s: float) -> None:
        self._servers = servers
        self._limit_s = limit_s
        # Those of each server: one that gives no answer keeps no others waiting.
        self._records = defaultdict[str, Together](lambda: Together(servers.send))
        self._keeping: dict[str, Keeping] = {}
        self._reader = Reader()
        self.runs = RedisRuns(servers)
        self.place = servers.place  # where it is, as an error may show it
        # Keys of a server's databases are apart, channels aren't: what another deployment there says is no news.
        self._channel = f"{CHANNEL}:{servers.database}" if servers.database else CHANNEL

    @classmethod
    def from_url(cls, url: str, *, limit_s: float = LIMIT_S) -> Self:
        """The store at a URL, see `behind.py`; connects with the first call. StoreError for one that can't be used."""
        return cls(servers_at(url, limit_s), limit_s)

    # The contract

    async def record(self, weighed: Sequence[Weighed], sent_at: float, keep: Keep) -> Reading:
        """Append answers of one target and one source to its log, in their order, once for each part of an id."""
        first = weighed[0].answer
        reported = first.source is Source.REPORT
        keeping = self._keeping.pop(first.target, None) if reported else None
        written: dict[str, Weighed] = {}
        said = await self._record(weighed, sent_at, keep, keeping, written)
        said = said or await self._record(weighed, sent_at, keep, None, written)
        counted, now, probes, reports, bins, usual, kept, *circuit = said.split("\0")
        if reported:
            self._keeping[first.target] = Keeping(kept)
        return Reading(
            circuit=codec.read_circuit(circuit),
            log=self._reader.log(first.target, [_lines(text) for text in (probes, reports, bins)], usual, written),
            now=float(now),
            counted=tuple(digit == "1" for digit in counted),
        )

    async def _record(
        self,
        weighed: Sequence[Weighed],
        sent_at: float,
        keep: Keep,
        keeping: Keeping | None,
        written: dict[str, Weighed],
    ) -> str:
        """What the script says; empty where it has to keep what it wasn't told. `keeping` None tells it all.

        What is told in full is put down in `written`, by its members.
        """
        first, lines = weighed[0].answer, ""
        # All in one word: the library takes longer to pack a hundred than we to write them.
        for one in weighed:
            members = codec.write_members(one) if keeping is None or keeping.keeps(one) else ""
            written[members] = one
            lines += codec.write_weighed(one, sent_at - one.since, members)
        keys = keys_of(first.target, "circuit", "probes", "reports", "ids", "bins", "usual", "slots", "samples")
        sample_s = "" if keep.sample_s is None else keep.sample_s
        args = (first.source.value, _nonce(), lines, keep.slot_s, sample_s)
        together = self._records[self._servers.place_of(keys[0])]
        async with named(self._servers, first.target):
            said: str = answered(await together.ask(RECORD.call(keys, args)))
        return said

    async def learn(self, target: str, usual: Usual) -> None:
        """Keep what is now a target's usual speed."""
        (key,) = keys_of(target, "usual")
        await self._ask(command("SET", key, write_usual(usual), "EX", _GARBAGE_S))

    async def look(self, target: str) -> Reading:
        """What is known of a target; writes nothing."""
        circuit_key, *lists, usual_key = keys_of(target, "circuit", "probes", "reports", "bins", "usual")
        calls = [
            command("HMGET", circuit_key, *codec.CIRCUIT_FIELDS),
            *(command("LRANGE", key, 0, -1) for key in lists),
            command("GET", usual_key),
            time_of(circuit_key),
        ]
        async with named(self._servers, target):
            circuit, probes, reports, bins, usual, time = map(answered, await self._servers.send(calls))
        log, now = self._reader.log(target, (probes, reports, bins), usual, {}), _seconds(time)
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
            self._channel,
            codec.write_announcement(target, made.circuit),
            *(text for pair in codec.write_circuit(made.circuit).items() for text in pair),
        )
        async with named(self._servers, target):
            won = await self._ask(APPLY.call(keys_of(target, "circuit", "moves"), args))
        return made if won else None

    def ahead_s(self, target: str) -> float:
        """How far the clock of a target's server is ahead of the one that tells the time for all, if it is known."""
        return self._servers.ahead_s(*keys_of(target, "circuit"))

    async def circuits(self, targets: Sequence[str]) -> tuple[dict[str, Circuit], float]:
        """All circuits in one round trip, and the store's time. Raises StoreGoneError where one can't be read."""
        seen = await self.seen(targets)
        for error in seen.gone.values():
            raise error
        if seen.now is None:
            raise StoreGoneError(f"the store at {self.place} doesn't tell the time")
        return seen.circuits, seen.now

    async def seen(self, targets: Sequence[str]) -> Circuits:
        """All circuits that can be read, in one round trip. Raises StoreGoneError where none can."""
        keys = [key for target in targets for key in keys_of(target, "circuit")]
        calls = [command("HMGET", key, *codec.CIRCUIT_FIELDS) for key in keys]
        *replies, time = await self._servers.send([*calls, time_of(CLOCK)])
        found = dict(zip(targets, replies, strict=True))
        gone = {name: said for name, said in found.items() if isinstance(said, StoreGoneError)}
        if isinstance(time, StoreError) and (len(gone) == len(targets) or not isinstance(time, StoreGoneError)):
            raise time
        whole = {name: said for name, said in found.items() if not isinstance(said, StoreError)}
        if (damaged := len(targets) - len(whole) - len(gone)) > 0:
            self._reader.tell_once("%d of %d circuits lie under keys of another kind", damaged, len(targets))
        circuits = {name: codec.read_circuit(fields) for name, fields in whole.items()}
        return Circuits(circuits=circuits, now=None if isinstance(time, StoreError) else _seconds(time), gone=gone)

    async def moves(self, target: str, limit: int) -> list[Move]:
        """The newest moves of a target, newest first."""
        if limit < 1:
            return []
        (key,) = keys_of(target, "moves")
        async with named(self._servers, target):
            found = await self._ask(command("LRANGE", key, 0, limit - 1))
        return self._reader.moves(found)

    async def histories(self, targets: Sequence[str]) -> dict[str, History]:
        """What is kept of each target's last day, in one round trip; keys of another kind are left out."""
        replies = await self._servers.send([PAST.call(keys_of(target, "slots", "samples"), ()) for target in targets])
        for reply in replies:
            if isinstance(reply, StoreGoneError):
                raise reply
        found = zip(targets, replies, strict=True)
        told = {name: reply.split("\0") for name, reply in found if not isinstance(reply, StoreError)}
        return {name: self._reader.history(name, *map(_lines, texts)) for name, texts in told.items()}

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        """Take the one claim on a target, or renew it; False while another holder has it."""
        args = (holder, max(1, round(for_s * 1000)))
        return bool(await self._ask(CLAIM.call(keys_of(target, "claim"), args)))

    async def take(self, target: str, holder: str, for_s: float, wish: Wish) -> Grant:
        """Take the claim on a target for a probe, unless another has it or has made the probe needless."""
        since = wish.since + self._ahead_s(target, wish)
        args = (holder, max(1, round(for_s * 1000)), wish.need.value, f"{since:.6f}", f"{wish.within_s:.6f}")
        given, busy_ms, age = cast(
            "tuple[int, int, str]",
            await self._ask(TAKE.call(keys_of(target, "claim", "probed"), args)),
        )
        return Grant(
            given=given == 1,
            again_in_s=busy_ms / 1000 if busy_ms else None,
            began_ago_s=float(age) if age else None,
        )

    async def unclaim(self, target: str, holder: str, told: Wish | None = None) -> None:
        """Give a claim back, if this holder still has it; `told` is what its probe was for, None if it told nothing."""
        # Whose clock is a little ahead takes its turn before it is due, and has taken it all the same.
        up_to = max(told.since, told.covers) + self._ahead_s(target, told) if told else 0.0
        args = (holder, told.need.value if told else "", f"{up_to:.6f}")
        await self._ask(UNCLAIM.call(keys_of(target, "claim", "probed"), args))

    @contextlib.asynccontextmanager
    async def announcements(self) -> AsyncIterator[AsyncIterator[tuple[str, Circuit]]]:
        """Circuits as they move, from the moment of entering on.

        Raises StoreGoneError, at once when the connection breaks and within a second when it is silent.
        """
        async with heard(await self._servers.any(), self._channel, codec.read_announcement, self._limit_s) as announced:
            yield announced

    # Beside the contract

    async def spend(self, provider: str, day: str, tokens: int, usd: float) -> tuple[int, float]:
        """Add to what a provider has cost on a day; gives the day's tokens and US dollars."""
        key = f"firstbyte:{{spend:{provider}}}:{day}"
        all_tokens, all_usd = await self._ask(SPEND.call([key], (tokens, repr(usd), _SPEND_KEPT_S)))
        return int(all_tokens), float(all_usd)

    async def file(self, box: str, name: str, message: str, most: int, known_s: int) -> bool | None:
        """Put a message into a box, to be sent once; False if it was there before, None if too many wait already.

        A box's name has no slash in it, so that it is no target's.
        """
        keys = [f"firstbyte:{{{box}}}:pending", f"firstbyte:{{{box}}}:seen:{name}"]
        filed = await self._ask(FILE.call(keys, (name, message, most, known_s)))
        return None if filed < 0 else bool(filed)

    async def pending(self, box: str) -> dict[str, str]:
        """The messages in a box by their names, in no order."""
        flat = await self._ask(command("HGETALL", f"firstbyte:{{{box}}}:pending"))
        return flat if isinstance(flat, dict) else dict(zip(flat[::2], flat[1::2], strict=True))

    async def take_out(self, box: str, name: str) -> None:
        """Take a message out of its box."""
        await self._ask(command("HDEL", f"firstbyte:{{{box}}}:pending", name))

    async def ping(self) -> None:
        """Raise StoreGoneError if the server doesn't answer within the limit."""
        line = await self._servers.any()
        await line.ask(line.server.ping)

    async def close(self) -> None:
        """Close all connections; waits for nobody."""
        await self._servers.close()

    # Inside

    def _ahead_s(self, target: str, wish: Wish) -> float:
        """What there is to be added to a wish's moments: turns go by the one time that is told for all circuits."""
        return self.ahead_s(target) if wish.need is Need.TURN else 0.0

    async def _ask(self, call: Call) -> Any:  # Any: what a reply is, the call alone says
        return answered(*await self._servers.send([call]))


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


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
