"""Servers that take reports: Firstbyte itself on a store of its own, and a bare FastAPI route that reads a body."""

import asyncio
import contextlib
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import Response

from benchmarks._machine import pin
from benchmarks._reports_load import PATH, name_of
from benchmarks._route_servers import Serving, started
from breaker.policy import Policy
from breaker.route import Route
from breaker.target import Provider, Target
from monitor.daemon import Parts, service
from monitor.listening import bind
from monitor.loop import until_done
from monitor.settings import Door, Settings, TargetPlan

TARGETS = 50


@contextlib.contextmanager
def firstbyte(cores: set[int], store_url: str) -> Iterator[Serving]:
    """The service without probes, on a store that runs elsewhere."""
    with _python(cores, "firstbyte", store_url) as serving:
        yield serving


@contextlib.contextmanager
def bare(cores: set[int]) -> Iterator[Serving]:
    """A FastAPI route that reads a body and says as much as Firstbyte does of one report."""
    with _python(cores, "bare", "") as serving:
        yield serving


@contextlib.contextmanager
def _python(cores: set[int], *words: str) -> Iterator[Serving]:
    with started("benchmarks._reports_servers", ",".join(map(str, cores)), *words) as serving:
        _until_it_answers(serving)
        yield serving


def _until_it_answers(serving: Serving) -> None:
    ends = time.monotonic() + 20
    while True:
        assert time.monotonic() < ends, "the server doesn't answer"
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{serving.port}/livez", timeout=10):
            return


async def _firstbyte(store_url: str) -> None:
    provider = Provider(name="provider", base_url="https://api.example/v1", wire="openai-chat")
    targets = tuple(Target(provider=provider, model=name_of(number).partition("/")[2]) for number in range(TARGETS))
    plans = tuple(TargetPlan(target=target, policy=Policy()) for target in targets)
    with tempfile.TemporaryDirectory(prefix="firstbyte-") as folder:
        chosen = Settings(
            targets=plans,
            routes=(Route(name="coder", targets=targets),),
            door=Door(port=0),
            data=Path(folder),
            store_url=store_url,
        )
        listening = bind(chosen.door)
        async with service(chosen, {}, listening, parts=Parts(probes=False)) as running:
            print(str(running.url).rpartition(":")[2], flush=True)
            await asyncio.to_thread(sys.stdin.read)


async def _bare() -> None:
    app = FastAPI()
    said = b'{"accepted": 1, "problems": [], "answers": [{"verdict": "ok", "class": "ok", "id": "..."}]}'

    @app.post(PATH, status_code=202)
    async def report(request: Request) -> Response:
        await request.body()
        return Response(said, 202, media_type="application/json")

    @app.get("/livez")
    async def livez() -> Response:
        return Response()

    listening = bind(Door(port=0))
    print(listening.getsockname()[1], flush=True)
    server = uvicorn.Server(uvicorn.Config(app, access_log=False, log_config=None, lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


def _main(cores: str, kind: str, words: Sequence[str]) -> None:
    pin(int(core) for core in cores.split(","))
    until_done(_firstbyte(words[0]) if kind == "firstbyte" else _bare())


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], sys.argv[3:])
