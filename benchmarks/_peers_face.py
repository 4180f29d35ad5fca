"""The one face that five circuit breakers get, so that a scenario can be told to each of them.

Runs in an environment that holds them, with nothing of Firstbyte. A call is split into its begin and its end, so that
calls can overlap in an order that a scenario chooses.
"""

import asyncio
import datetime as real
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any

EPOCH = 1_000_000.0


class CantSay(Exception):  # noqa: N818 # no error: the library has no word for it
    """The library has no word for what a scenario is about."""


class Failure(Exception):  # noqa: N818 # what a provider did, not an error of ours
    """What a failed call raises."""


class Neutral(Exception):  # noqa: N818 # likewise
    """What a call raises that says nothing of the one who was asked; each library is told to leave it out."""


OUTCOMES: dict[str, Callable[[], BaseException]] = {
    "failed": Failure,
    "unreached": ConnectionRefusedError,
    "neutral": Neutral,
    "cancelled": asyncio.CancelledError,
}
ENDS = (Failure, Neutral, ConnectionRefusedError, asyncio.CancelledError)
LACKS = {
    "shared": "its state stays in one process",
    "slow": "it knows no slow calls",
    "rate": "it counts failures in a row and knows no rate",
    "good": "it closes with one good trial and can't be told to wait for more",
    "growth": "its hold has one length",
    "listener": "it tells nobody of its moves",
    "by hand": "it can't be moved by hand",
}


class Gate:
    """What a call waits for until the scenario ends it."""

    def __await__(self) -> Generator[None, None, None]:
        yield


async def work() -> None:
    """A call that waits at its gate."""
    await Gate()


@dataclass
class Clock:
    """The time that a library believes in, in seconds."""

    now: float = EPOCH

    def monotonic(self) -> float:
        """The same time, for libraries that are handed a clock."""
        return self.now


@dataclass
class Call:
    """A call under way; `end` lets it end "good", "failed", "unreached", "neutral" or "cancelled"."""

    end: Callable[[str], None]


@dataclass
class Breaker:
    """One breaker: `begin` gives None where it lets nobody in, `polls` looks at what is shared."""

    begin: Callable[[], Call | None]
    tells_state: Callable[[], str]
    raw: Any = None
    polls: Callable[[], None] = lambda: None

    def tries(self, outcome: str) -> bool:
        """A whole call; says whether it was let in."""
        call = self.begin()
        if call is not None:
            call.end(outcome)
        return call is not None

    def times(self, count: int, outcome: str) -> int:
        """So many calls one after the other; how many were let in."""
        return sum(self.tries(outcome) for _ in range(count))

    @property
    def state(self) -> str:
        """The state as the library tells it: closed, open or half-open."""
        told = self.tells_state().lower().replace("_", "-")
        return {"half-opened": "half-open", "opened": "open"}.get(told, told)


@dataclass
class Library:
    """A library with its clock; `able` names what it can be told of, `redis` gives a client of the store."""

    able: frozenset[str]
    clock: Clock = field(default_factory=Clock)
    redis: Any = None
    kept: list[Any] = field(default_factory=list)  # calls that never end, which nobody may clean up
    failure: type[Exception] = Failure
    sees_results = False
    wall_clock = True
    window: Any = None

    def need(self, *abilities: str) -> None:
        """Raise CantSay for what the library can't be told of."""
        for ability in abilities:
            if ability not in self.able:
                raise CantSay(LACKS[ability])

    def go(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.now += seconds

    def make(self, **wanted: Any) -> Breaker:
        """A breaker: `failures` in a row open it (2), for `hold_s` (600); `good` trials close it (2) where it can wait.

        `shared` names it in the store, `listener` hears of moves, `counts` says which errors count.
        """
        raise NotImplementedError

    def guard(self, breaker: Breaker, stream: Callable[[], Any]) -> Callable[[], Any]:
        """A generator function under the library's own decorator."""
        return breaker.raw(stream)  # type: ignore[no-any-return] # a class that is only known when it runs

    def close_by_hand(self, breaker: Breaker) -> None:
        """Let everybody in, by hand."""
        breaker.raw.close()

    def error_in_result(self) -> object:
        """A classifier that looks into answers, where `sees_results`."""
        raise CantSay(self.__class__.__name__)

    def rounds(self, breaker: Breaker) -> tuple[Any, Any, Callable[[], Any]]:
        """The shared storage, a good outcome, and another replica's trip, where trials come in rounds."""
        raise CantSay(breaker.state)

    def timer(self, breaker: Breaker) -> None:
        """Let a timer of the library's own go off, where it has one that does so at the hold's end."""

    def dump(self, key: str) -> Any:
        """A key's value as the server keeps it."""
        return self.redis(raw=True).dump(key)

    def restore(self, key: str, value: Any) -> None:
        """Put it back."""
        self.redis(raw=True).restore(key, 0, value, replace=True)

    def keep(self, call: Call | None) -> Call | None:
        """The same call, which nobody may clean up."""
        self.kept.append(call)
        return call

    def driven(self, begin: Callable[[], Coroutine[Any, Any, Any]], refused: type[BaseException]) -> Call | None:
        """Begin a coroutine; None where it is refused before its work begins."""
        coroutine = begin()
        try:
            coroutine.send(None)
        except refused:
            return None

        def end(outcome: str) -> None:
            try:
                if outcome == "good":
                    coroutine.send(None)
                else:
                    coroutine.throw(OUTCOMES[outcome]())
            except (StopIteration, *ENDS, refused):
                return

        return self.keep(Call(end))

    def entered(self, block: Any, refused: type[BaseException]) -> Call | None:
        """Enter a `with` block; None where it is refused."""
        try:
            block.__enter__()
        except refused:
            return None

        def end(outcome: str) -> None:
            error = None if outcome == "good" else OUTCOMES[outcome]()
            try:
                block.__exit__(type(error) if error else None, error, None)
            except (*ENDS, refused):
                return

        return self.keep(Call(end))


def fake_datetime(clock: Clock) -> type:
    """The class `datetime` on this clock."""

    class Moved(real.datetime):
        @classmethod
        def now(cls, tz: real.tzinfo | None = None) -> "Moved":
            return cls.fromtimestamp(clock.now, tz) if tz else cls.utcnow()

        @classmethod
        def utcnow(cls) -> "Moved":
            return cls.fromtimestamp(clock.now, real.UTC).replace(tzinfo=None)

    return Moved


def listening(base: type, heard: Callable[[str], None]) -> object:
    """A listener of a library's own kind that hears of moves."""

    class Ears(base):  # type: ignore[misc] # a class that is only known when it runs
        def state_change(self, *_: object) -> None:
            heard("state_change")

        def on_state_change(self, **_: object) -> None:
            heard("state_change")

    return Ears()


def counting(counts: Callable[[BaseException], bool] | None) -> Callable[[BaseException], bool]:
    """Which errors count: as told, else all but the neutral one."""
    return counts or (lambda error: not isinstance(error, Neutral))
