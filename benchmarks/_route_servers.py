"""Servers that say the same: Firstbyte itself, a bare ASGI application and nginx, each in a process on one core."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope

from benchmarks._machine import pin
from breaker.policy import Policy
from breaker.route import Route
from breaker.target import Provider, Target
from monitor.daemon import Parts, service
from monitor.listening import bind
from monitor.loop import until_done
from monitor.settings import Door, Settings, TargetPlan

PLAIN = "/route?route=coder"
# What differs from step to step: the lane reads it anew each time.
STEP = f"{PLAIN}&needs=tools,vision&input_tokens=120000&session=3f0c9d1e"
# Another parameter says nothing, but with it a question isn't plain, and the app answers it.
BY_THE_APP = "/route?route=coder&asked=otherwise"


@dataclass(frozen=True)
class Serving:
    """A server that runs, by its process and where it listens."""

    pid: int
    port: int

    def get(self, path: str) -> bytes:
        """What it says."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            said: bytes = answer.read()
            return said

    def cpu_s(self) -> float:
        """The seconds that the process has worked."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        """The bytes of memory that it holds, and shares with nobody else."""
        rows = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()
        return next(int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:"))


@contextlib.contextmanager
def firstbyte(cores: set[int]) -> Iterator[Serving]:
    """The service, without probes."""
    with _python("firstbyte", cores) as serving:
        yield serving


@contextlib.contextmanager
def bare(cores: set[int], size: int) -> Iterator[Serving]:
    """A bare ASGI application on uvicorn that answers with so many bytes."""
    with _python(f"bare={size}", cores) as serving:
        yield serving


def has_nginx() -> bool:
    """Whether nginx is installed."""
    return _nginx() is not None


@contextlib.contextmanager
def nginx(cores: set[int], size: int) -> Iterator[Serving]:
    """Nginx with one worker, that answers with so many bytes."""
    with bind(Door(port=0)) as listening:
        port = listening.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="firstbyte-") as folder:
        conf = Path(folder) / "nginx.conf"
        conf.write_text(_NGINX.format(folder=folder, port=port, body="x" * size))
        process = subprocess.Popen([_nginx() or "nginx", "-c", str(conf)], preexec_fn=lambda: pin(cores))
        serving = Serving(process.pid, port)
        try:
            _until_it_answers(serving)
            yield serving
        finally:
            process.terminate()
            process.wait(10)


_NGINX = """\
daemon off; master_process off; worker_processes 1; error_log stderr crit; pid {folder}/pid;
events {{ worker_connections 2048; }}
http {{
    access_log off; keepalive_requests 1000000000; default_type application/json;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
    scgi_temp_path {folder};
    server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ return 200 "{body}"; }} }}
}}
"""


def _nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


@contextlib.contextmanager
def _python(kind: str, cores: set[int]) -> Iterator[Serving]:
    with started("benchmarks._route_servers", kind, *map(str, cores)) as serving:
        _until_it_answers(serving)
        yield serving


@contextlib.contextmanager
def started(*words: str) -> Iterator[Serving]:
    """A server of a module of ours with its words, that prints its port and lives as long as its input."""
    process = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Serving(process.pid, int(process.stdout.readline()))
    finally:
        process.communicate()  # its input's end lets it stop


def _until_it_answers(serving: Serving) -> None:
    ends = time.monotonic() + 20
    while not _answers(serving):
        assert time.monotonic() < ends, "the server doesn't answer"
        time.sleep(0.02)


def _answers(serving: Serving) -> bool:
    with contextlib.suppress(OSError):
        return bool(serving.get(PLAIN))
    return False


def _settings(data: Path) -> Settings:
    names = ("first", "second")
    providers = (Provider(name=name, base_url="https://api.example/v1", wire="openai-chat") for name in names)
    targets = tuple(Target(provider=provider, model="model-of-some-size") for provider in providers)
    plans = tuple(TargetPlan(target=target, policy=Policy()) for target in targets)
    return Settings(targets=plans, routes=(Route(name="coder", targets=targets),), door=Door(port=0), data=data)


async def _firstbyte() -> None:
    with tempfile.TemporaryDirectory(prefix="firstbyte-") as folder:
        chosen = _settings(Path(folder))
        listening = bind(chosen.door)
        async with service(chosen, {}, listening, parts=Parts(probes=False)) as running:
            print(str(running.url).rpartition(":")[2], flush=True)
            await asyncio.to_thread(sys.stdin.read)


async def _bare(size: int) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % size)]
    body = b"x" * size

    async def app(scope: Scope, _: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        assert scope["type"] == "http"
        await send({"type": "http.response.start", "status": 200, "headers": headers, "trailers": False})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    listening = bind(Door(port=0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, http="httptools", access_log=False, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


def _main(kind: str, cores: Sequence[str]) -> None:
    pin({int(core) for core in cores})
    name, _, size = kind.partition("=")
    until_done(_bare(int(size)) if name == "bare" else _firstbyte())


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
