"""A simulated provider: a port, its targets, and the way from a request to a script."""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.simulator import wire_openai
from monitor.simulator.behaviour import Behaviour, BehaviourName
from monitor.simulator.exchange import body_of, send
from monitor.simulator.http import HttpError, Request
from monitor.simulator.listener import Connection
from monitor.simulator.parts import JSON
from monitor.simulator.player import play
from monitor.simulator.question import Question, RefusalError, Reply
from monitor.simulator.record import Attempt, Record
from monitor.simulator.replay import Replay, Replaying
from monitor.simulator.script import script
from monitor.simulator.steps import Scene
from monitor.simulator.wire import BY_PATH, Wire


class SimulatedTarget:
    """A target's behaviour of the moment and the record of what it was asked."""

    def __init__(self, name: str, behaviour: Behaviour | Replay) -> None:
        self.name = name
        self.record = Record()
        self.set(behaviour)

    def set(self, behaviour: Behaviour | Replay) -> None:
        """Change what the next requests meet; a replay begins now."""
        self.behaviour = behaviour
        self._began_at = time.monotonic()
        self._replaying = Replaying(behaviour) if isinstance(behaviour, Replay) else None

    @property
    def refused(self) -> bool:
        """Whether connections are to be refused."""
        return isinstance(self.behaviour, Behaviour) and self.behaviour.name is BehaviourName.REFUSED

    def next(self, speed: float) -> Behaviour:
        """Return what a request meets that arrives now."""
        if self._replaying is not None:
            return self._replaying.next((time.monotonic() - self._began_at) * speed)
        assert isinstance(self.behaviour, Behaviour)
        return self.behaviour


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
        wire = BY_PATH.get(request.path, wire_openai)
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
        if self.key is not None and wire.key_in(request.headers) != self.key:
            raise RefusalError(401, "The API key is missing or wrong.")
        if request.method == "GET" and request.path in ("/models", "/v1/models"):
            models = wire_openai.models(sorted(self.targets), int(time.time()))
            return await send(connection, request, 200, JSON, models)
        if request.method != "POST" or request.path not in BY_PATH:
            raise RefusalError(404, f"There is no {request.method} {request.path} here.")
        question = wire.read(request.headers, body)
        target, behaviour = self._meets(question.model)
        attempt = Attempt(
            behaviour=behaviour.name,
            stream=question.stream,
            prompt_tokens=question.prompt_tokens,
            connection=connection.serial,
        )
        steps = script(self._scene(question, behaviour, wire))
        target.record.add(attempt)
        try:
            return await play(steps, connection, attempt, speed=self.speed, keep_alive=request.keep_alive)
        finally:
            target.record.change()

    def _meets(self, asked_model: str) -> tuple[SimulatedTarget, Behaviour]:
        model, _, wish = asked_model.partition("#")
        target = self.targets.get(model)
        if target is None:
            raise RefusalError(404, f"The model {model!r} does not exist.")
        try:
            return target, Behaviour.parse(wish) if wish else target.next(self.speed)
        except ValueError as fault:
            raise RefusalError(400, f"model: {fault}") from None

    def _scene(self, question: Question, behaviour: Behaviour, wire: Wire) -> Scene:
        serial = f"{self.chance.getrandbits(96):024x}"
        reply = Reply(serial=serial, created=int(time.time()), question=question)
        return Scene(behaviour=behaviour, reply=reply, wire=wire, chance=self.chance)


def by_name(targets: Mapping[str, Behaviour | Replay]) -> Mapping[str, Sequence[SimulatedTarget]]:
    """Return the targets of each provider. Raises `ValueError` where a name isn't `provider/model`."""
    grouped: dict[str, list[SimulatedTarget]] = {}
    for name, behaviour in targets.items():
        provider, slash, model = name.partition("/")
        if not (provider and slash and model):
            raise ValueError(f"{name!r} is not of the form provider/model")
        grouped.setdefault(provider, []).append(SimulatedTarget(name, behaviour))
    return grouped
