"""The control interface under `/_sim/`: see and switch behaviours over HTTP."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields
from http import HTTPStatus

from breaker.errors import BadExchangeError
from breaker.exchange import Exchange
from monitor.simulator.behaviour import MEANINGS, Behaviour
from monitor.simulator.http import HttpError
from monitor.simulator.listener import Connection
from monitor.simulator.parts import JSON
from monitor.simulator.provider import SimulatedTarget, Whole
from monitor.simulator.recorded import NAME, Recorded
from monitor.simulator.replay import Replay
from monitor.simulator.request import Request
from monitor.simulator.serving import body_of, send

PREFIX = "/_sim/"
PROBLEM = "application/problem+json"


class ControlError(Exception):
    """A control request that can't be done."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail

    def told(self) -> dict[str, object]:
        """Return the problem as RFC 9457 tells it."""
        return {"type": "about:blank", "title": self.status.phrase, "status": int(self.status), "detail": self.detail}


class Control:
    """Answers control requests about targets; `change` switches one of them."""

    def __init__(
        self,
        targets: Mapping[str, SimulatedTarget],
        change: Callable[[str, Behaviour | Recorded], Awaitable[None]],
        base_url: Callable[[str], str],
    ) -> None:
        self._targets = targets
        self._change = change
        self._base_url = base_url

    async def answer(self, request: Request, connection: Connection) -> bool:
        """Answer one request; return whether the connection may carry another."""
        try:
            value = await self._answer(request, await body_of(request, connection))
        except ControlError as problem:
            told = json.dumps(problem.told()).encode()
            return await send(connection, request, problem.status, PROBLEM, told)
        except HttpError as fault:
            told = json.dumps(ControlError(HTTPStatus(fault.status), fault.message).told()).encode()
            return await send(connection, request, fault.status, PROBLEM, told, last=True)
        return await send(connection, request, HTTPStatus.OK, JSON, json.dumps(value).encode())

    async def _answer(self, request: Request, body: bytes) -> object:
        match request.method, request.path.removeprefix(PREFIX):
            case "GET", "behaviours":
                return _behaviours()
            case "GET", "targets" if "target" in request.query:
                return self._told(self._target(request), attempts=True)
            case "GET", "targets":
                return [self._told(target, attempts=False) for target in self._targets.values()]
            case "POST", "targets":
                target = self._target(request)
                await self._change(target.name, _behaviour(body))
                return self._told(target, attempts=False)
            case _:
                raise ControlError(
                    HTTPStatus.NOT_FOUND, "there are GET and POST /_sim/targets, and GET /_sim/behaviours"
                )

    def _target(self, request: Request) -> SimulatedTarget:
        name = request.query.get("target", "")
        if name not in self._targets:
            raise ControlError(HTTPStatus.NOT_FOUND, f"unknown target {name!r}; there are: {', '.join(self._targets)}")
        return self._targets[name]

    def _told(self, target: SimulatedTarget, *, attempts: bool) -> dict[str, object]:
        asked = target.record.asked().told(attempts=attempts)
        place = {"target": target.name, "base_url": self._base_url(target.name)}
        return {**place, **_whole(target.behaviour), "asked": asked}


def _whole(behaviour: Whole) -> Mapping[str, object]:
    match behaviour:
        case Behaviour():
            return behaviour.told()
        case Replay():
            return {"behaviour": "replay", "end_s": behaviour.end_s}
        case Recorded():
            return {"behaviour": NAME, "ids": [exchange.id for exchange in behaviour.exchanges]}


def _behaviour(body: bytes) -> Behaviour | Recorded:
    try:
        values = json.loads(body)
        if not isinstance(values, dict):
            raise ControlError(HTTPStatus.BAD_REQUEST, 'the body must be an object such as {"behaviour": "stall"}')
        if values.get("behaviour") == NAME:
            return Recorded((Exchange.read(values.get("exchange")),))
        return Behaviour.read(values)
    except (ValueError, RecursionError, BadExchangeError) as fault:
        raise ControlError(HTTPStatus.BAD_REQUEST, str(fault)) from None


def _behaviours() -> dict[str, object]:
    defaults = {field.name: field.default for field in fields(Behaviour) if field.name != "name"}
    return {"behaviours": dict(MEANINGS), "parameters": defaults}
