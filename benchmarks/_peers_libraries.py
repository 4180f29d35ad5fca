"""The five libraries behind one face; where a clock can't be handed in, the module's own name for it is moved."""

import asyncio
import contextlib
import functools
import importlib
import types
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from benchmarks._peers_face import Breaker, Library, counting, fake_datetime, listening, work


class Circuitbreaker(Library):
    """`circuitbreaker`: a decorator, in memory."""

    wall_clock = False

    def make(self, *, failures: int = 2, hold_s: float = 600.0, counts: Any = None, **wanted: Any) -> Breaker:
        """See the base."""
        module: Any = importlib.import_module("circuitbreaker")
        module.monotonic = self.clock.monotonic
        judge = counting(counts)
        raw = module.CircuitBreaker(
            failures,
            int(hold_s),
            lambda kind, error: issubclass(kind, Exception) and judge(error),
            name=wanted.get("name", "b"),
        )
        guarded = raw(work)
        return Breaker(lambda: self.driven(guarded, module.CircuitBreakerError), lambda: str(raw.state), raw)


class Aiobreaker(Library):
    """`aiobreaker`: coroutines, in memory or in Redis."""

    def make(
        self, *, failures: int = 2, hold_s: float = 600.0, counts: Any = None, shared: str = "", **wanted: Any
    ) -> Breaker:
        """See the base."""
        module: Any = importlib.import_module("aiobreaker")
        for part in ("aiobreaker.state", "aiobreaker.circuitbreaker"):
            importlib.import_module(part).datetime = fake_datetime(self.clock)  # type: ignore[attr-defined] # its name
        storage = None
        if shared:
            kind: Any = importlib.import_module("aiobreaker.storage.redis")
            storage = kind.CircuitRedisStorage(module.CircuitBreakerState.CLOSED, self.redis(raw=True), shared)
        judge = counting(counts)
        raw = module.CircuitBreaker(
            fail_max=failures,
            timeout_duration=timedelta(seconds=hold_s),
            exclude=[lambda error: not judge(error)],
            state_storage=storage,
            listeners=_ears(module.CircuitBreakerListener, wanted),
        )
        begin = functools.partial(raw.call_async, work)
        return Breaker(lambda: self.driven(begin, module.CircuitBreakerError), lambda: str(raw.current_state.name), raw)


class Pybreaker(Library):
    """`pybreaker`: blocks and functions, in memory or in Redis."""

    def make(self, *, failures: int = 2, counts: Any = None, shared: str = "", **wanted: Any) -> Breaker:
        """See the base."""
        module: Any = importlib.import_module("pybreaker")
        module.datetime = fake_datetime(self.clock)
        judge = counting(counts)
        raw = module.CircuitBreaker(
            fail_max=failures,
            reset_timeout=600.0,
            success_threshold=wanted.get("good", 2),
            exclude=[lambda error: not judge(error)],
            state_storage=module.CircuitRedisStorage("closed", self.redis(raw=True), shared) if shared else None,
            listeners=_ears(module.CircuitBreakerListener, wanted),
        )
        return Breaker(
            lambda: self.entered(raw.calling(), module.CircuitBreakerError), lambda: str(raw.current_state), raw
        )


class Purgatory(Library):
    """`purgatory`: blocks and decorators, in memory or in Redis."""

    @functools.cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.new_event_loop()

    def make(
        self, *, failures: int = 2, hold_s: float = 600.0, counts: Any = None, shared: str = "", **wanted: Any
    ) -> Breaker:
        """See the base."""
        module: Any = importlib.import_module("purgatory")
        model: Any = importlib.import_module("purgatory.domain.model")
        model.time = types.SimpleNamespace(time=self.clock.monotonic)
        judge = counting(counts)
        numbers = {"default_threshold": failures, "default_ttl": hold_s}
        leave_out = [(BaseException, lambda error: not judge(error))]
        if shared:
            # Its blocking Redis store is built on an asyncio client and fails at the first call.
            unit = module.AsyncRedisUnitOfWork(self.redis.url)
            return self._shared(module.AsyncCircuitBreakerFactory(**numbers, exclude=leave_out, uow=unit), shared)
        raw = module.SyncCircuitBreakerFactory(**numbers, exclude=leave_out)
        if (heard := wanted.get("listener")) is not None:
            # Its listeners hear of more than moves.
            raw.add_listener(lambda _name, kind, _event: heard(kind) if kind == "state_changed" else None)
        raw.get_breaker("b")
        return Breaker(
            lambda: self.entered(raw.get_breaker("b"), model.OpenedState),
            lambda: str(raw.get_breaker("b").context.state),
            raw,
        )

    def _shared(self, factory: Any, name: str) -> Breaker:
        refused = importlib.import_module("purgatory.domain.model").OpenedState
        wait = self._loop.run_until_complete
        wait(factory.initialize())

        class Block:
            def __enter__(self) -> None:
                self.breaker = wait(factory.get_breaker(name))
                wait(self.breaker.__aenter__())

            def __exit__(self, *how: object) -> None:
                wait(self.breaker.__aexit__(*how))

        wait(factory.get_breaker(name))
        return Breaker(
            lambda: self.entered(Block(), refused), lambda: str(wait(factory.get_breaker(name)).context.state), factory
        )

    def guard(self, breaker: Breaker, stream: Callable[[], Any]) -> Callable[[], Any]:
        """See the base."""
        return breaker.raw("b")(stream)  # type: ignore[no-any-return] # a class that is only known when it runs


class Interlock(Library):
    """`interlock-cb`: blocks, coroutines and functions, in memory or in Redis."""

    sees_results = True
    wall_clock = False
    window = "time_based"

    def make(self, *, failures: int = 2, counts: Any = None, shared: str = "", **wanted: Any) -> Breaker:
        """See the base."""
        module: Any = importlib.import_module("interlock")
        extra: dict[str, Any] = {key: wanted[key] for key in ("classifier", "unreachable_exceptions") if key in wanted}
        if "listener" in wanted:
            extra["listener"] = listening(module.LoggingEventListener, wanted["listener"])
        if shared:
            storage: Any = importlib.import_module("interlock.integrations.redis")
            # Its lane polls when a scenario says so, and never by itself.
            slow = {"key_prefix": "il:", "poll_interval": 3600.0, "state_ttl": 86_400.0}
            extra["storage"] = storage.RedisStorage(self.redis(), **slow)
        numbers = {
            "failure_rate_threshold": 1.0,
            "minimum_number_of_calls": failures,
            "window_size": failures,
            "wait_duration_in_open": 600.0,
            "permitted_calls_in_half_open": wanted.get("good", 2),
        } | wanted.get("numbers", {})
        if "window_type" in numbers:
            numbers["window_type"] = module.WindowType.TIME_BASED
        told = {"classifier": _Counts(counting(counts))} | extra
        raw = module.CircuitBreaker(name=shared or "b", clock=self.clock, config=module.Config(**numbers), **told)
        refused = module.CircuitOpenError
        if not shared:
            begin = functools.partial(raw.call_async, work)
            return Breaker(lambda: self.driven(begin, refused), lambda: str(raw.state.value), raw)
        made = Breaker(lambda: self.entered(raw, refused), lambda: str(raw.state.value), raw, _polling(raw))
        made.polls()
        return made

    def go(self, seconds: float) -> None:
        """Let time pass; the server's can't be moved, so what it stamped gets older."""
        super().go(seconds)
        if self.redis is None:
            return
        with contextlib.suppress(ConnectionError, self.redis.gone):
            for key in self.redis().keys("il:*"):
                if int(self.redis().hget(key, "opened_at") or 0):
                    self.redis().hincrby(key, "opened_at", -round(seconds * 1e6))

    def close_by_hand(self, breaker: Breaker) -> None:
        """See the base."""
        breaker.raw.disable()

    def timer(self, breaker: Breaker) -> None:
        """See the base."""
        breaker.raw._engine._fire_auto_transition()  # noqa: SLF001 # its timer goes by a clock of its own

    def error_in_result(self) -> object:
        """A classifier that looks into answers."""
        return _Looks()

    def rounds(self, breaker: Breaker) -> tuple[Any, Any, Callable[[], Any]]:
        """The storage, a good outcome, and what another replica's own trip does to the shared state."""
        storage = breaker.raw._engine._sync_coordinator._storage  # noqa: SLF001 # what it was handed
        outcome: Any = importlib.import_module("interlock")
        return storage, outcome.Outcome.SUCCESS, functools.partial(storage.trip_open, name="x", ttl=3600.0)


class _Counts:
    """interlock's classifier: which errors count."""

    def __init__(self, counts: Callable[[BaseException], bool]) -> None:
        self._counts = counts

    def is_failure(self, *, result: object, exception: BaseException | None) -> bool:
        """Whether a call counts as failed."""
        del result
        return exception is not None and self._counts(exception)


class _Looks:
    """Another: whether the answer itself tells of an error."""

    def is_failure(self, *, result: object, exception: BaseException | None) -> bool:
        """Whether a call counts as failed."""
        return exception is not None or (isinstance(result, dict) and "error" in result)


def _polling(raw: Any) -> Callable[[], None]:
    """What its lane would do within a second."""
    lane = raw._engine._sync_coordinator  # noqa: SLF001 # its thread goes by a clock of its own

    def polls() -> None:
        lane.wait_idle()
        lane.poll_once()

    return polls


def _ears(base: type, wanted: dict[str, Any]) -> list[object] | None:
    return [listening(base, wanted["listener"])] if "listener" in wanted else None


LIBRARIES: dict[str, Callable[[], Library]] = {
    "pybreaker": lambda: Pybreaker(frozenset({"shared", "good", "listener", "by hand"})),
    "purgatory": lambda: Purgatory(frozenset({"shared", "listener"})),
    "aiobreaker": lambda: Aiobreaker(frozenset({"shared", "listener", "by hand"})),
    "circuitbreaker": lambda: Circuitbreaker(frozenset({"by hand"})),
    "interlock-cb": lambda: Interlock(frozenset({"shared", "good", "slow", "rate", "growth", "listener", "by hand"})),
}
