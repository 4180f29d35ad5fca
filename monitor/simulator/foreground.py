"""Runs a simulator in the foreground, for `firstbyte simulate`."""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from monitor.simulator.behaviour import Behaviour
from monitor.simulator.provider import Whole
from monitor.simulator.recorded import Recorded
from monitor.simulator.replay import Replay
from monitor.simulator.server import Simulator

_REPLAY = "replay:"
_EXCHANGE = "exchange:"


def read_target(text: str) -> tuple[str, Whole]:
    """Return the target and behaviour told by `provider/model`, `provider/model=stall,tokens=3` or `…=replay:FILE`.

    `…=exchange:FILE#ID` plays one recorded exchange, without `#ID` all of the file in turn. Without a behaviour it is
    healthy. Raises `ValueError` for what can't be read, `OSError` for a file that can't.
    """
    name, _, told = text.partition("=")
    if told.startswith(_REPLAY):
        return name, Replay.from_csv(told.removeprefix(_REPLAY))
    if told.startswith(_EXCHANGE):
        return name, Recorded.read(told.removeprefix(_EXCHANGE))
    return name, Behaviour.parse(told) if told else Behaviour()


async def simulate(
    targets: Iterable[str],
    *,
    host: str = "127.0.0.1",
    control_port: int = 0,
    ports: Mapping[str, int] | None = None,
    keys: Mapping[str, str] | None = None,
    speed: float = 1.0,
    say: Callable[[str], None] = print,
) -> None:
    """Simulate targets, each told as `read_target` reads it, until cancelled; says a line for each address.

    Raises `ValueError` and `OSError` as `read_target` and `Simulator` do, before anything is said.
    """
    told = dict(read_target(target) for target in targets)
    simulator = Simulator(told, host=host, control_port=control_port, ports=ports, keys=keys, speed=speed)
    async with simulator:
        for provider in simulator.providers:
            models = [name.removeprefix(f"{provider}/") for name in simulator.targets_of(provider)]
            say(f"{provider} answers at {simulator.base_url(provider)} for {', '.join(models)}")
        say(f"behaviours are switched at {simulator.control_url}/targets")
        await asyncio.get_running_loop().create_future()
