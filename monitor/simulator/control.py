"""The control interface under `/_sim/`: see and switch behaviours over HTTP."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields
from http import HTTPStatus

from monitor.simulator.behaviour import MEANINGS, Behaviour
from monitor.simulator.exchange import body_of, send
from monitor.simulator.http import HttpError, Request
from monitor.simulator.listener import Connection
from monitor.simulator.parts import JSON
from monitor.simulator.provider import SimulatedTarget

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
        change: Callable[[str, Behaviour], Awaitable[None]],
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
        behaviour = target.behaviour
        told = (
            behaviour.told() if isinstance(behaviour, Behaviour) else {"behaviour": "replay", "end_s": behaviour.end_s}
        )
        asked = target.record.asked().told(attempts=attempts)
        return {"target": target.name, "base_url": self._base_url(target.name), **told, "asked": asked}


def _behaviour(body: bytes) -> Behaviour:
    try:
        values = json.loads(body)
        if not isinstance(values, dict):
            raise ControlError(HTTPStatus.BAD_REQUEST, 'the body must be an object such as {"behaviour": "stall"}')
        return Behaviour.read(values)
    except (ValueError, RecursionError) as fault:
        raise ControlError(HTTPStatus.BAD_REQUEST, str(fault)) from None


def _behaviours() -> dict[str, object]:
    defaults = {field.name: field.default for field in fields(Behaviour) if field.name != "name"}
    return {"behaviours": dict(MEANINGS), "parameters": defaults}
