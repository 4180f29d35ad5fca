"""The life of the service: start the store, follow it, probe and answer, and stop without leaving anything behind."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from breaker.api.looking import Besides
from breaker.api.notices import Notice
from breaker.circuit import Move
from breaker.errors import StoreError, StoreGoneError
from breaker.logged import FAULT, MOVED, STORE_GONE
from breaker.store.behind import servers_at
from breaker.store.embedded import EmbeddedStore
from breaker.store.redis import LIMIT_S, RedisStore
from breaker.switchboard import REFRESH_S, Judged, Listeners, Switchboard
from monitor import logs
from monitor.audit import auditing
from monitor.doorway import Doorway, small_door
from monitor.metrics import Metrics
from monitor.metrics.calls import Timed
from monitor.network.connectivity import Connectivity
from monitor.notify import Notifier
from monitor.reloading import Reloading, Renew
from monitor.schedule import Prober
from monitor.settings import Settings

_log = logging.getLogger(__name__)

# After a lost connection, before the next try.
AGAIN_S = 0.2
# The clock's own moves are looked for no more often than the first and no less often than the second.
SETTLE_S = (0.02, 1.0)
# Between two looks at what other processes were told; each reads all logs.
OVERHEAR_S = 1.0
# What still waits for the store when the service stops gets this long to come there.
DRAIN_S = 3.0


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Which parts of the service this process runs; one without the door has a small one, for machines alone."""

    door: bool = True
    probes: bool = True


@dataclass(frozen=True, kw_only=True)
class Service:
    """A running service; `url` is None where it listens nowhere."""

    board: Switchboard
    url: str | None


@dataclass(frozen=True, kw_only=True)
class Ears:
    """Who else wants to hear of answers and moves, and what the page should note."""

    judged: tuple[Callable[[Judged], None], ...] = ()
    moved: tuple[Callable[[str, Move], None], ...] = ()
    notes: tuple[Notice, ...] = ()


@contextlib.asynccontextmanager
async def service(
    settings: Settings,
    keys: Mapping[str, str],
    listening: socket.socket | None,
    *,
    parts: Parts = Parts(),  # it is frozen
    ears: Ears = Ears(),  # it is frozen
    reloading: Reloading | None = None,
) -> AsyncIterator[Service]:
    """A running service, until the block ends. `keys` maps a target's provider to its key.

    `reloading` takes over another configuration while it runs; None where there is no file to read.

    Raises EmbeddedStoreError where no store can be started; a store by URL that is gone is waited for meanwhile.
    """
    async with contextlib.AsyncExitStack() as stack:
        metrics = Metrics(settings)
        store, mend = await stack.enter_async_context(_store(settings, metrics))
        prober = Prober(settings, keys, store, metrics)
        network = await stack.enter_async_context(Connectivity(settings))
        audits = stack.enter_context(auditing(settings.audit))
        board = Switchboard(
            store,
            settings.routes,
            {plan.name: plan.policy for plan in settings.targets},
            Listeners(
                judged=(metrics.judged, prober.judged, *ears.judged),
                moved=(_log_move, metrics.moved, *ears.moved),
                staged=(metrics.runs.staged, *(one.audit.staged for one in audits)),
                concluded=(metrics.runs.concluded, *(one.audit.concluded for one in audits)),
            ),
            network,
        )
        metrics.watch(board)
        metrics.watch_audits([one.outlet for one in audits])
        stack.push_async_callback(board.drain, DRAIN_S)
        url = doorway = None

        def notices() -> list[Notice]:
            return [*ears.notes, *prober.notices(), *(reloading.notices() if reloading else ())]

        if parts.door and listening is not None:
            # Before anything is asked of the store: while it is made, no reply could be read in time.
            doorway = Doorway(
                board,
                settings,
                metrics=metrics.asgi(),
                besides=Besides(notices=notices, spent=prober.spent),
                reload=reloading.now if reloading else None,
            )
            metrics.watch_door(doorway.desk.prepared.given, doorway.desk.times)
            metrics.watch_events(doorway.desk.feed)
        await _first_look(board)
        stack.enter_context(_tasks(_refresh(board, mend), board.follow, _settle(board)))
        if parts.probes:
            await prober.start(board)
            stack.push_async_callback(prober.stop)
            if not parts.door:
                stack.enter_context(_tasks(_overhear(prober)))
        if doorway is not None and listening is not None:
            url = await stack.enter_async_context(doorway.open(listening))
        elif listening is not None:
            small = small_door(board, settings, listening, metrics=metrics.asgi(), notices=notices)
            url = await stack.enter_async_context(small)
        notifier = Notifier(board, store, metrics.notices, settings.receivers)
        stack.push_async_callback(notifier.stop)
        if reloading is not None:
            reloading.renew = _renewal(metrics, board, prober, network, notifier, doorway)
            metrics.watch_configuration(reloading)
            stack.enter_context(_tasks(reloading.watch))
        yield Service(board=board, url=url)


def _renewal(
    metrics: Metrics,
    board: Switchboard,
    prober: Prober,
    network: Connectivity,
    notifier: Notifier,
    doorway: Doorway | None,
) -> Renew:
    """What takes over another configuration: all that takes time first, then everything at once."""

    async def renew(settings: Settings, keys: Mapping[str, str]) -> None:
        circuits = await board.circuits([target.name for route in settings.routes for target in route.targets])
        renew_door = await doorway.prepare(settings) if doorway else None
        metrics.renew(settings)
        board.renew(settings.routes, {plan.name: plan.policy for plan in settings.targets}, circuits)
        network.renew(settings)
        prober.renew(settings, keys)
        notifier.renew(settings.receivers)
        if renew_door is not None:
            renew_door()
        logs.start(settings.logs)

    return renew


@contextlib.asynccontextmanager
async def _store(
    settings: Settings, metrics: Metrics
) -> AsyncIterator[tuple[RedisStore, Callable[[], Awaitable[None]] | None]]:
    """The store, and what mends it where it is our own."""
    async with contextlib.AsyncExitStack() as stack:
        url, mend = settings.store_url, None
        if url is None:
            embedded = EmbeddedStore(settings.data)
            url = await embedded.start()
            stack.push_async_callback(embedded.stop)
            mend = embedded.ensure
        store = RedisStore(Timed(servers_at(url, LIMIT_S), metrics.store_called), LIMIT_S)
        stack.push_async_callback(store.close)
        yield store, mend


async def _first_look(board: Switchboard) -> None:
    try:
        await board.refresh()
    except StoreError as error:
        _log.warning("starting without the store: %s", error, extra=STORE_GONE())


def _refresh(board: Switchboard, mend: Callable[[], Awaitable[None]] | None) -> Callable[[], Awaitable[None]]:
    """One round of keeping the snapshot fresh."""

    async def once() -> None:
        try:
            await board.refresh()
        except StoreGoneError:
            if mend is None:
                raise
            await mend()
            await board.refresh()
        await asyncio.sleep(REFRESH_S)

    return once


def _settle(board: Switchboard) -> Callable[[], Awaitable[None]]:
    """One round of making the moves that the clock alone decides."""
    least, most = SETTLE_S

    async def once() -> None:
        next_s = await board.settle()
        await asyncio.sleep(most if next_s is None else min(max(next_s, least), most))

    return once


def _overhear(prober: Prober) -> Callable[[], Awaitable[None]]:
    """One round of listening to what other processes were told."""

    async def once() -> None:
        await asyncio.sleep(OVERHEAR_S)
        await prober.overhear()

    return once


@contextlib.contextmanager
def _tasks(*rounds: Callable[[], Awaitable[None]]) -> Iterator[None]:
    """Each round again and again, whatever it raises, until the block ends."""
    tasks = [asyncio.create_task(_forever(once)) for once in rounds]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def _forever(once: Callable[[], Awaitable[None]]) -> None:
    said = ""
    while True:
        try:
            await once()
            said = ""
        except StoreError as error:
            if str(error) != said:  # once for each new trouble, not once a second
                said = str(error)
                _log.warning("%s", error, extra=STORE_GONE())
            await asyncio.sleep(AGAIN_S)
        except Exception:  # noqa: BLE001 # a fault of ours must not stop the service
            _log.exception("a round of %s failed; it goes on", once, extra=FAULT())
            await asyncio.sleep(1.0)


def _log_move(target: str, move: Move) -> None:
    about = MOVED(target=target, before=move.before.value, after=move.after.value, cause=move.cause.value)
    _log.info("circuit of %s: %s -> %s: %s", target, move.before, move.after, move.why, extra=about)


__all__: Sequence[str] = ["Ears", "Parts", "Service", "service"]
