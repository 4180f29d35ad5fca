"""The simulator: one port for each provider and one to control them all."""

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Self

from breaker.exchange import Exchange
from monitor.simulator.behaviour import Behaviour
from monitor.simulator.control import PREFIX, Control
from monitor.simulator.listener import Connection, Listener
from monitor.simulator.provider import Provider, Whole, by_name
from monitor.simulator.record import Asked
from monitor.simulator.recorded import Recorded
from monitor.simulator.serving import next_request

Told = Whole | Exchange | str


class Simulator:
    """Providers that misbehave on request, on loopback unless told otherwise.

    `targets` are names such as `zai/glm-5.3-flash`, healthy or with what a mapping gives each: a behaviour, a replay,
    an exchange. Ports not named in `ports` (by provider) are free ones. A provider named in `keys` answers 401 to any
    other key. `speed` divides every delay: 20.0 makes 40 s last 2 s. A request for the model `name#stall,tokens=3`
    meets that behaviour whatever the target's own is. `seed` makes the spread of latencies repeatable. Each port
    carries `connections` connections at most and resets the rest.

    Use it as an async context manager, or call `start` and `stop`. Raises `ValueError` for a name or behaviour that
    can't be.
    """

    def __init__(
        self,
        targets: Mapping[str, Told] | Iterable[str],
        *,
        host: str = "127.0.0.1",
        ports: Mapping[str, int] | None = None,
        control_port: int = 0,
        keys: Mapping[str, str] | None = None,
        speed: float = 1.0,
        seed: int | None = None,
        connections: int = 1000,
    ) -> None:
        if not speed > 0:
            raise ValueError(f"speed must be more than 0, not {speed!r}")
        told = targets if isinstance(targets, Mapping) else dict.fromkeys(targets, Behaviour())
        chance = random.Random(seed)  # noqa: S311  # a latency is no secret
        grouped = by_name({name: _read(behaviour) for name, behaviour in told.items()})
        self._targets = {target.name: target for group in grouped.values() for target in group}
        self._providers = {
            name: Provider(
                name=name,
                targets={target.name.removeprefix(f"{name}/"): target for target in group},
                key=(keys or {}).get(name),
                speed=speed,
                chance=chance,
            )
            for name, group in grouped.items()
        }
        self._control = Control(self._targets, self.set, lambda name: self.base_url(_provider_of(name)))
        self._control_port = Listener(host, control_port, connections, partial(self._serve, None))
        self._ports = {
            name: Listener(host, (ports or {}).get(name, 0), connections, partial(self._serve, provider))
            for name, provider in self._providers.items()
        }

    async def start(self) -> None:
        """Open all ports. Raises `OSError` where one is taken; then none stays open."""
        try:
            await self._control_port.accept()
            for name in self._providers:
                await self._open(name)
        except OSError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Close all ports and drop all connections at once, also those that hang."""
        await asyncio.gather(*(port.stop() for port in (self._control_port, *self._ports.values())))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def providers(self) -> tuple[str, ...]:
        """The names of the providers."""
        return tuple(self._providers)

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of the targets."""
        return tuple(self._targets)

    def targets_of(self, provider: str) -> tuple[str, ...]:
        """Return the names of a provider's targets. Raises `KeyError` for an unknown one."""
        return tuple(target.name for target in self._providers[provider].targets.values())

    @property
    def control_url(self) -> str:
        """Where the control interface answers, whatever the providers do."""
        return f"{self._control_port.url}{PREFIX.rstrip('/')}"

    def address(self, provider: str) -> str:
        """Return `http://host:port` of a provider. Raises `KeyError` for an unknown one."""
        return self._ports[provider].url

    def base_url(self, provider: str) -> str:
        """Return a provider's base URL, which ends with `/v1`; every wire answers below it."""
        return f"{self.address(provider)}/v1"

    def accepted(self, provider: str) -> int:
        """Return how many connections a provider has taken."""
        return self._ports[provider].accepted

    def behaviour(self, target: str) -> Whole:
        """Return what the next request to a target meets. Raises `KeyError` for an unknown one."""
        return self._targets[target].behaviour

    async def set(self, target: str, behaviour: Told) -> None:
        """Switch a target: by a behaviour, a line such as `stall,tokens=3`, a replay that begins now, or exchanges.

        Requests under way go on as they began. Raises `KeyError` for an unknown target, `ValueError` for a behaviour
        or an exchange that can't be played.
        """
        self._targets[target].set(_read(behaviour))
        await self._open(_provider_of(target))

    def asked(self, target: str) -> Asked:
        """Return what a target was asked so far and when it really answered. Raises `KeyError` for an unknown one."""
        return self._targets[target].record.asked()

    async def until_asked(self, target: str, count: int) -> Asked:
        """Wait, without a limit of its own, until a target has been asked so often in all."""
        return await self.until(target, lambda asked: asked.count >= count)

    async def until(self, target: str, met: Callable[[Asked], bool]) -> Asked:
        """Wait, without a limit of its own, until what a target was asked meets a condition.

        It is looked at whenever an attempt begins or ends.
        """
        record = self._targets[target].record
        while not met(asked := record.asked()):
            await record.changed()
        return asked

    async def _open(self, name: str) -> None:
        if self._providers[name].refused:
            await self._ports[name].refuse()
        else:
            await self._ports[name].accept()

    async def _serve(self, provider: Provider | None, connection: Connection) -> None:
        while (request := await next_request(connection)) is not None:
            controls = provider is None or request.path.startswith(PREFIX)
            answer = self._control.answer if provider is None or controls else provider.answer
            if not await answer(request, connection):
                return


def _read(behaviour: Told) -> Whole:
    match behaviour:
        case str():
            return Behaviour.parse(behaviour)
        case Exchange():
            return Recorded((behaviour,))
        case _:
            return behaviour


def _provider_of(target: str) -> str:
    return target.partition("/")[0]
