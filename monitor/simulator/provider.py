"""A simulated provider: a port, its targets, and the way from a request to a script."""

import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from breaker.exchange import Exchange
from monitor.simulator import wire_openai
from monitor.simulator.behaviour import Behaviour, BehaviourName
from monitor.simulator.http import HttpError
from monitor.simulator.listener import Connection
from monitor.simulator.parts import JSON
from monitor.simulator.player import play
from monitor.simulator.question import Question, RefusalError, Reply
from monitor.simulator.record import Attempt, Record
from monitor.simulator.recorded import NAME, Recorded
from monitor.simulator.recorded import steps as recorded_steps
from monitor.simulator.replay import Replay, Replaying
from monitor.simulator.request import Request
from monitor.simulator.script import script
from monitor.simulator.serving import body_of, send
from monitor.simulator.steps import Scene, Step
from monitor.simulator.wire import Wire, wire_at

# What a target does from request to request: always the same, by the clock, or one exchange after the other.
Whole = Behaviour | Replay | Recorded


class SimulatedTarget:
    """A target's behaviour of the moment and the record of what it was asked."""

    def __init__(self, name: str, behaviour: Whole) -> None:
        self.name = name
        self.record = Record()
        self.set(behaviour)

    def set(self, behaviour: Whole) -> None:
        """Change what the next requests meet; a replay or a row of exchanges begins now."""
        self.behaviour = behaviour
        self._next = _turns(behaviour)

    @property
    def refused(self) -> bool:
        """Whether connections are to be refused."""
        return isinstance(self.behaviour, Behaviour) and self.behaviour.name is BehaviourName.REFUSED

    def next(self, speed: float) -> Behaviour | Exchange:
        """Return what a request meets that arrives now."""
        return self._next(speed)


def _turns(behaviour: Whole) -> Callable[[float], Behaviour | Exchange]:
    """Return what tells the next request's behaviour at a speed."""
    match behaviour:
        case Behaviour():
            return lambda _: behaviour
        case Recorded():
            turns = itertools.cycle(behaviour.exchanges)
            return lambda _: next(turns)
        case Replay():
            replaying, began_at = Replaying(behaviour), time.monotonic()
            return lambda speed: replaying.next((time.monotonic() - began_at) * speed)


@dataclass(frozen=True, kw_only=True)
class Provider:
    """Answers requests for its targets, by model; where it has a key, only those that carry it."""

    name: str
    targets: Mapping[str, SimulatedTarget]
    key: str | None = None
    speed: float = 1.0
    chance: random.Random = field(default_factory=random.Random)

    @property
    def refused(self) -> bool:
        """Whether one of the targets wants connections to be refused."""
        return any(target.refused for target in self.targets.values())

    async def answer(self, request: Request, connection: Connection) -> bool:
        """Answer one request; return whether the connection may carry another."""
        wire = wire_at(request.path) or wire_openai
        try:
            body = await body_of(request, connection)
        except HttpError as fault:
            error = wire.error(fault.status, fault.message)
            return await send(connection, request, fault.status, JSON, error, last=True)
        try:
            return await self._answer(request, body, wire, connection)
        except RefusalError as refusal:
            error = wire.error(refusal.status, refusal.message)
            return await send(connection, request, refusal.status, JSON, error)

    async def _answer(self, request: Request, body: bytes, wire: Wire, connection: Connection) -> bool:
        if self.key is not None and wire.key_in(request) != self.key:
            raise RefusalError(401, "The API key is missing or wrong.")
        if request.method == "GET" and request.path in ("/models", "/v1/models"):
            models = wire_openai.models(sorted(self.targets), int(time.time()))
            return await send(connection, request, 200, JSON, models)
        if request.method != "POST" or not wire.serves(request.path):
            raise RefusalError(404, f"There is no {request.method} {request.path} here.")
        question = wire.read(request, body)
        target, behaviour = self._meets(question.model)
        attempt = Attempt(
            behaviour=NAME if isinstance(behaviour, Exchange) else behaviour.name,
            stream=question.stream,
            prompt_tokens=question.prompt_tokens,
            connection=connection.serial,
        )
        steps = self._steps(question, behaviour, wire)
        target.record.add(attempt)
        try:
            return await play(steps, connection, attempt, speed=self.speed, keep_alive=request.keep_alive)
        finally:
            target.record.change()

    def _meets(self, asked_model: str) -> tuple[SimulatedTarget, Behaviour | Exchange]:
        model, _, wish = asked_model.partition("#")
        target = self.targets.get(model)
        if target is None:
            raise RefusalError(404, f"The model {model!r} does not exist.")
        try:
            return target, Behaviour.parse(wish) if wish else target.next(self.speed)
        except ValueError as fault:
            raise RefusalError(400, f"model: {fault}") from None

    def _steps(self, question: Question, behaviour: Behaviour | Exchange, wire: Wire) -> Iterator[Step]:
        if isinstance(behaviour, Exchange):
            return recorded_steps(behaviour)
        serial = f"{self.chance.getrandbits(96):024x}"
        reply = Reply(serial=serial, created=int(time.time()), question=question)
        return script(Scene(behaviour=behaviour, reply=reply, wire=wire, chance=self.chance))


def by_name(targets: Mapping[str, Whole]) -> Mapping[str, Sequence[SimulatedTarget]]:
    """Return the targets of each provider. Raises `ValueError` where a name isn't `provider/model`."""
    grouped: dict[str, list[SimulatedTarget]] = {}
    for name, behaviour in targets.items():
        provider, slash, model = name.partition("/")
        if not (provider and slash and model):
            raise ValueError(f"{name!r} is not of the form provider/model")
        grouped.setdefault(provider, []).append(SimulatedTarget(name, behaviour))
    return grouped
