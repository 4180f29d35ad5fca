"""Puts the door together."""

from collections.abc import Callable, Collection, Sequence

from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import breaker
from breaker.api import problems, reference
from breaker.api.access import Access, Guard
from breaker.api.desk import Desk
from breaker.api.looking import Besides, Looking
from breaker.api.notices import Notice
from breaker.api.paths import agents, circuit, health, judge, people, plan, routing, runs, status
from breaker.api.paths import reload as reloading
from breaker.api.paths.reload import Reload
from breaker.api.replies import BASE_HEADERS
from breaker.api.straight import Straight
from breaker.switchboard import Switchboard
from breaker.wire.phrases import phrase_ids
from breaker.wire.signs import PHRASES, Phrase


def create_app(
    switchboard: Switchboard,
    *,
    access: Access,
    desk: Desk | None = None,
    metrics: ASGIApp | None = None,
    besides: Besides | None = None,
    looking: Looking | None = None,
    ready: Callable[[], list[str]] = list,
    phrases: Sequence[Phrase] = PHRASES,
    reload: Reload | None = None,
    targets: Collection[str] | None = None,
) -> FastAPI:
    """The door's app over a switchboard that somebody else refreshes.

    `desk` is what the door shares with others and whoever made it closes; None makes one for this app alone.
    `metrics` answers /metrics, `besides` is for the page, or `looking` where that is there already. `ready` gives
    reasons not to be ready yet, `phrases` are the gateways' words that exchanges are searched for and reports may
    name, `reload` reads the configuration anew; without it there is no path for that. `targets` are
    those that there are about to be; None: the switchboard's.
    Raises ValueError where anyone on the network could change something without a token.
    """
    if access.open_to_others:
        raise ValueError(f"the door is bound to {access.host!r}, which others can reach; that needs tokens")
    app = _bare()
    reporting = agents.Reporting(
        switchboard, phrase_ids(phrases), switchboard.targets() if targets is None else targets
    )
    looking = looking or Looking(switchboard, besides or Besides(), metrics=metrics is not None)
    deciding = runs.Deciding(switchboard)
    for router in (
        routing.router(switchboard, desk or Desk.over(switchboard)),
        plan.router(switchboard),
        agents.router(reporting.report),
        runs.router(switchboard, reporting.steps, deciding),
        judge.router(phrases),
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
        # Not the app itself: FastAPI remembers functions for long, and an old app with each.
        return HTMLResponse(reference.render(request.app.openapi()), headers=reference.HEADERS)

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return Response(status_code=204, headers=BASE_HEADERS)

    app.add_middleware(Straight, answering=(reporting.straight, deciding.straight))
    app.add_middleware(Guard, access=access)
    return app


def create_small_app(
    switchboard: Switchboard, *, access: Access, metrics: ASGIApp, notices: Callable[[], list[Notice]] = list
) -> FastAPI:
    """The app of a process that only probes: /livez, /readyz and /metrics, and nothing for agents or people."""
    app = _bare()
    app.state.elsewhere = "this process only probes; ask one that runs `firstbyte run` or `firstbyte serve`"
    app.include_router(health.router(switchboard, list, notices))
    _add_metrics(app, metrics)
    app.add_middleware(Guard, access=access)
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
