"""All that decides where the steps of a route go: /routes."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from breaker.api import shapes
from breaker.api.replies import as_json
from breaker.circuit import Circuit, Held
from breaker.route import Route
from breaker.switchboard import Switchboard


def router(switchboard: Switchboard) -> APIRouter:
    """The path of those who would go on by themselves."""
    paths = APIRouter(tags=["agents"])

    @paths.get("/routes", response_model=shapes.RoutesShape)
    async def routes(route: Annotated[str | None, Query()] = None) -> Response:
        """The targets of each route, or of one, in order of preference, and what decides among them; from memory."""
        chosen = switchboard.routes if route is None else [switchboard.route(route).route]
        return as_json(_of(switchboard, chosen))

    return paths


def _of(switchboard: Switchboard, routes: Sequence[Route]) -> shapes.RoutesShape:
    now = switchboard.now()
    targets = {target.name: target for route in routes for target in route.targets}
    stale = {route.name: switchboard.fresh_s(route.name) == 0 for route in routes}
    return {
        "stale": any(stale.values()),
        "routes": [
            {
                "route": route.name,
                "targets": [target.name for target in route.targets],
                "max_open_share": route.max_open_share,
                "stale": stale[route.name],
            }
            for route in routes
        ],
        "targets": [_of_target(switchboard, name, now) for name in targets],
    }


def _of_target(switchboard: Switchboard, name: str, now: float) -> shapes.PlannedShape:
    standing = switchboard.standing(name)
    target = standing.target
    return {
        "target": name,
        "provider": target.provider.name,
        "model": target.model,
        "base_url": target.provider.base_url,
        "wire": target.provider.wire,
        "api_key_env": target.provider.api_key_env,
        "can": None if target.can is None else [ability.value for ability in target.can],
        "max_input_tokens": target.max_input_tokens,
        "circuit": _of_circuit(standing.circuit, now),
        "policy": asdict(standing.policy),
    }


def _of_circuit(circuit: Circuit, now: float) -> shapes.CircuitShape:
    held = circuit.held if circuit.held and now < circuit.held.until else None
    return {
        "generation": circuit.generation,
        "cause": circuit.cause and circuit.cause.value,
        "since_s": _from(circuit.moved_at, now) if circuit.moved_at else None,
        "open_s": None if circuit.open_until is None else _from(now, circuit.open_until),
        "hold_s": round(circuit.hold_s, 3),
        "held": _of_held(held, now),
    }


def _of_held(held: Held | None, now: float) -> shapes.HandShape | None:
    if held is None:
        return None
    return {"opened": held.opened, "since_s": _from(held.since, now), "until_s": _from(now, held.until)}


def _from(begin: float, end: float) -> float:
    return max(round(end - begin, 3), 0.0)
