"""Puts the door together."""

from collections.abc import Callable, Sequence

from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import breaker
from breaker.api import problems, reference
from breaker.api.access import Access, Guard
from breaker.api.looking import Besides, Looking
from breaker.api.notices import Notice
from breaker.api.paths import agents, circuit, health, judge, people, plan, routing, runs, status
from breaker.api.paths import reload as reloading
from breaker.api.paths.reload import Reload
from breaker.api.replies import BASE_HEADERS
from breaker.api.route.desk import Desk
from breaker.api.rules import Rules
from breaker.api.straight import Straight
from breaker.switchboard import Switchboard
from breaker.wire.signs import PHRASES, Phrase


def create_app(
    switchboard: Switchboard,
    *,
    access: Access,
    desk: Desk | None = None,
    metrics: ASGIApp | None = None,
    besides: Besides | None = None,
    ready: Callable[[], list[str]] = list,
    phrases: Sequence[Phrase] = PHRASES,
    reload: Reload | None = None,
) -> FastAPI:
    """The door's app over a switchboard that somebody else refreshes.

    `desk` is what the door shares with others and whoever made it closes; None makes one for this app alone.
    `metrics` answers /metrics, `besides` is for the page. `ready` gives reasons not to be ready yet, `phrases` are the
    gateways' words that exchanges are searched for and reports may name, `reload` reads the configuration anew; without
    it there is no path for that.
    Raises ValueError where anyone on the network could change something without a token.
    """
    return app_by(
        Rules.of(switchboard, access, phrases, switchboard.targets()),
        switchboard,
        desk or Desk.over(switchboard),
        Looking(switchboard, besides or Besides(), metrics=metrics is not None),
        metrics=metrics,
        ready=ready,
        reload=reload,
    )


def app_by(
    rules: Rules,
    switchboard: Switchboard,
    desk: Desk,
    looking: Looking,
    *,
    metrics: ASGIApp | None = None,
    ready: Callable[[], list[str]] = list,
    reload: Reload | None = None,
) -> FastAPI:
    """The same by rules that may be renewed while it answers."""
    app = _bare()
    reporting = agents.Reporting(switchboard, rules)
    deciding = runs.Deciding(switchboard)
    for router in (
        routing.router(switchboard, desk),
        plan.router(switchboard),
        agents.router(reporting.report),
        runs.router(switchboard, reporting.steps, deciding),
        judge.router(rules),
        people.router(switchboard, looking),
        status.router(switchboard, looking),
        circuit.router(switchboard),
        health.router(switchboard, ready, looking.notices),
        *([reloading.router(reload)] if reload else []),
    ):
        app.include_router(router)
    if metrics is not None:
        _add_metrics(app, metrics)

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return HTMLResponse(reference.render(request.app.openapi()), headers=reference.HEADERS)

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return Response(status_code=204, headers=BASE_HEADERS)

    app.add_middleware(Straight, answering=(reporting.straight, deciding.straight))
    app.add_middleware(Guard, access=lambda: rules.access)
    return app


def create_small_app(
    switchboard: Switchboard, *, access: Access, metrics: ASGIApp, notices: Callable[[], list[Notice]] = list
) -> FastAPI:
    """The app of a process that only probes: /livez, /readyz and /metrics, and nothing for agents or people."""
    app = _bare()
    app.state.elsewhere = "this process only probes; ask one that runs `firstbyte run` or `firstbyte serve`"
    app.include_router(health.router(switchboard, list, notices))
    _add_metrics(app, metrics)
    app.add_middleware(Guard, access=lambda: access)
    return app


def _bare() -> FastAPI:
    """An app that says all its errors as problems."""
    app = FastAPI(
        title="Firstbyte",
        version=breaker.__version__,
        docs_url=None,  # its pages load scripts from elsewhere; /docs is our own
        redoc_url=None,
        redirect_slashes=False,
        responses={"default": problems.DOCUMENTED},
        generate_unique_id_function=lambda route: route.name,
    )
    problems.install(app)
    return app


def _add_metrics(app: FastAPI, metrics: ASGIApp) -> None:
    app.router.routes.append(Route("/metrics", health.HandedIn(metrics), methods=["GET"], include_in_schema=False))
