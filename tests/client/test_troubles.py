"""The service killed, frozen, restarted, or replaced by something else, while agents go on."""

import asyncio
import itertools
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from breaker.client import AsyncFirstbyte, Firstbyte, Source, Spot
from tests.api.world import PRIMARY, good
from tests.client.serving import ROOT, Process, Service, answering, decision, eventually, nobody
from tests.client.test_firstbyte import comes_to, reached, told
from tests.processes import free_port

SPOT: Spot = {"target": PRIMARY.name, "base_url": "https://zai.example/v4", "wire": "openai-chat"}
# What stands still here stands still for ever: who waited for it would wait far longer than this.
FAR_LESS_S = 60.0

_numbers = itertools.count()


def _silent(line: socket.socket) -> None:
    while line.recv(65_536):
        pass


def _rubble(line: socket.socket) -> None:
    line.recv(65_536)
    line.sendall(b"\x00\xff\x13 rubble\r\n\r\n" * 100)


def _closing(line: socket.socket) -> None:
    line.recv(65_536)


def _dripping(line: socket.socket) -> None:
    line.recv(65_536)
    line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    line.settimeout(0.05)
    while True:
        line.sendall(b" ")
        try:
            if not line.recv(1):
                return
        except TimeoutError:
            pass


def _endless(line: socket.socket) -> None:
    line.recv(65_536)
    line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        line.sendall(b" " * 65_536)


def _endless_head(line: socket.socket) -> None:
    line.recv(65_536)
    line.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        line.sendall(b"X: y\r\n" * 1000)


def saying(status: str, body: object, *more: str) -> Callable[[socket.socket], None]:
    def behave(line: socket.socket) -> None:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(sent)}", *more, "", ""])
        while line.recv(65_536):
            line.sendall(head.encode() + sent)

    return behave


REPLACED = [
    pytest.param(_silent, id="silence"),
    pytest.param(_rubble, id="rubble"),
    pytest.param(_closing, id="a closed connection"),
    pytest.param(_dripping, id="a byte now and then"),
    pytest.param(_endless, id="an endless body"),
    pytest.param(_endless_head, id="an endless head"),
    pytest.param(saying("200 OK", b"<html>hello</html>"), id="a page"),
    pytest.param(saying("200 OK", {"routes": [], "targets": 3, "accepted": None}), id="another service's JSON"),
    pytest.param(saying("200 OK", b"[" * 100_000), id="deep JSON"),
    pytest.param(saying("200 OK", decision(valid_for_s="soon")), id="a decision of another kind"),
    pytest.param(saying("200 OK", b'{"valid_for_s": NaN}'), id="no number"),
    pytest.param(saying("304 Not Modified", b""), id="a 304 that was not asked for"),
    pytest.param(saying("200 OK", b"x", "Content-Encoding: gzip"), id="broken compression"),
    pytest.param(saying("302 Found", b"", "Location: http://127.0.0.1:9/"), id="a redirection"),
    pytest.param(saying("502 Bad Gateway", b"bad gateway"), id="a gateway's error"),
    pytest.param(saying("404 Not Found", {"detail": "not found"}), id="another service's 404"),
]


@pytest.mark.parametrize("behave", REPLACED)
def test_whatever_answers_instead_no_step_fails_or_waits(behave: Callable[[socket.socket], None]) -> None:
    with answering(behave) as url, Firstbyte(url, fallback=[SPOT]) as firstbyte:
        began = time.monotonic()
        for _ in range(20):
            assert firstbyte.report(**good(f"a{next(_numbers)}")) == "ok"
            assert firstbyte.route("coder").target == PRIMARY.name
        took_s = time.monotonic() - began
        eventually(lambda: firstbyte.besides([], "coder") is not None, "the rules are loaded")

        assert firstbyte.route("coder").source in (Source.PRIMARY, Source.LOCAL)
        assert firstbyte.waiting == 20
    assert took_s < FAR_LESS_S
    assert firstbyte.dropped == 20


@pytest.mark.parametrize("behave", [_silent, _rubble, saying("200 OK", {})], ids=["silence", "rubble", "other JSON"])
async def test_the_same_holds_in_a_loop(behave: Callable[[socket.socket], None]) -> None:
    with answering(behave) as url:
        async with AsyncFirstbyte(url, fallback=[SPOT]) as firstbyte:
            began = time.monotonic()
            targets = {(await firstbyte.route("coder")).target for _ in range(20)}
            took_s = time.monotonic() - began

    assert targets == {PRIMARY.name}
    assert took_s < FAR_LESS_S


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({}, id="the same"),
        pytest.param({"valid_for_s": 0.0}, id="one that never holds"),
        pytest.param({"valid_for_s": 1e300}, id="one that holds for ever"),
        pytest.param({"until_s": 0.0}, id="one whose end has come"),
    ],
)
def test_no_answer_makes_a_client_ask_all_the_time(other: dict[str, object]) -> None:
    asked = list[float]()

    def behave(line: socket.socket) -> None:
        while line.recv(65_536):
            asked.append(time.monotonic())
            body = json.dumps(decision(generation=len(asked), **other)).encode()
            line.sendall(
                b'HTTP/1.1 200 OK\r\nETag: "%d"\r\nContent-Length: %d\r\n\r\n' % (len(asked), len(body)) + body
            )

    with answering(behave) as url, Firstbyte(url, fallback=[SPOT]) as firstbyte:
        firstbyte.route("coder")
        eventually(lambda: asked != [] and time.monotonic() - asked[0] > 1.0, "a second has passed")
        rate = len(asked) / (time.monotonic() - asked[0])

    assert rate < 60


def steps(firstbyte: Firstbyte, over: threading.Event) -> Iterator[tuple[str, float]]:
    """Steps until it is over: where each went, and how long it had to wait for us. Every tenth is reported."""
    while not over.is_set():
        began = time.monotonic()
        to = firstbyte.route("coder")
        if (number := next(_numbers)) % 10 == 0:
            firstbyte.report(**good(f"s{number}", first_byte_s=0.1, seconds=0.2))
        yield to.target, time.monotonic() - began
        time.sleep(0.05)


def test_a_thousand_steps_at_once_go_on_whatever_becomes_of_the_service(start: Callable[[int], Process]) -> None:
    port, over = free_port(), threading.Event()
    process = start(port)
    with Firstbyte(process.url) as firstbyte, ThreadPoolExecutor(25) as pool:
        reached(firstbyte)
        eventually(lambda: firstbyte.besides([PRIMARY.name], "coder") is not None, "the plan is known")
        running = [pool.submit(lambda: list(steps(firstbyte, over))) for _ in range(25)]
        process.freeze()
        comes_to(firstbyte, PRIMARY.name, Source.KEPT)
        process.thaw()
        comes_to(firstbyte, PRIMARY.name, Source.SERVICE)
        process.kill()
        comes_to(firstbyte, PRIMARY.name, Source.KEPT)
        process = start(port)
        comes_to(firstbyte, PRIMARY.name, Source.SERVICE)
        over.set()
        taken = [step for each in running for step in each.result()]
        eventually(lambda: firstbyte.waiting == 0, "all reports were sent", within_s=240)
        last = told(process.url)
        process.kill()

    assert len(taken) > 1000
    assert {target for target, _ in taken} == {PRIMARY.name}
    assert max(took_s for _, took_s in taken) < FAR_LESS_S
    assert (firstbyte.dropped, firstbyte.refused) == (0, 0)
    assert last is not None


async def test_a_thousand_steps_in_a_loop_go_on_while_the_service_is_frozen(start: Callable[[int], Process]) -> None:
    process = await asyncio.to_thread(start, free_port())

    async def step(i: int) -> str:
        firstbyte.report(**good(f"l{i}"))
        return (await firstbyte.route("coder")).target

    async with AsyncFirstbyte(process.url) as firstbyte:
        await firstbyte.route("coder")
        process.freeze()
        began = time.monotonic()
        targets = await asyncio.gather(*(step(i) for i in range(1000)))
        took_s = time.monotonic() - began
        process.thaw()
        async with asyncio.timeout(60):
            while firstbyte.waiting:  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.01)

    assert set(targets) == {PRIMARY.name}
    assert took_s < 2 * FAR_LESS_S
    assert firstbyte.dropped == 0


def ran(code: str, *words: str) -> str:
    """What a process says that runs this code, its errors too."""
    command = [sys.executable, "-W", "error", "-c", code, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    return done.stdout + done.stderr


_HEAD = """
import os, sys, time
from breaker.client import Firstbyte
from tests.api.world import good
from tests.client.test_firstbyte import reached
firstbyte = Firstbyte(sys.argv[1])
"""


def test_what_waits_is_sent_when_the_interpreter_ends(url: str) -> None:
    said = ran(_HEAD + "print(reached(firstbyte).role, firstbyte.report(**good('at-exit')))", url)

    assert said == "primary ok\n"
    eventually(lambda: (told(url) or {}).get("id") == "at-exit", "the report counts")


_FORKED = """
import multiprocessing, sys
from breaker.client import Firstbyte
from tests.api.world import good
from tests.client.test_firstbyte import reached
def work():
    firstbyte = Firstbyte(sys.argv[1])
    print(reached(firstbyte).role, firstbyte.report(**good("forked")), flush=True)
for turn in range(3):  # each has a second to send it, which a busy machine may take away
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join()
"""


def test_what_waits_is_sent_when_a_process_of_multiprocessing_ends(url: str) -> None:
    assert ran(_FORKED, url).count("primary ok\n") == 3
    eventually(lambda: (told(url) or {}).get("id") == "forked", "the report counts")


def test_the_interpreter_ends_soon_where_nobody_takes_what_waits() -> None:
    with answering(_silent) as url:
        began = time.monotonic()
        said = ran(_HEAD + "print(firstbyte.report(**good('never')))", url)

    assert said == "ok\n"
    assert time.monotonic() - began < 3 * FAR_LESS_S


def test_a_client_that_is_forgotten_sends_what_waits(url: str) -> None:
    firstbyte = Firstbyte(url)
    firstbyte.report(**good("forgotten"))
    del firstbyte

    eventually(lambda: (told(url) or {}).get("id") == "forgotten", "the report counts")
    eventually(lambda: not any(t.name == "firstbyte" for t in threading.enumerate()), "its thread has ended")


_HALF_LOADED = """
import contextlib, os, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside a thread
from breaker.client import Firstbyte
from breaker.errors import DoorGoneError
class Slow:
    begun = threading.Event()
    def find_spec(self, name, path, target=None):
        if name == sys.argv[2]:
            self.begun.set()
            time.sleep(0.1)
sys.meta_path.insert(0, Slow())
firstbyte = Firstbyte(sys.argv[1])
firstbyte.report(target="zai/glm-5.3-flash", ended="complete", status=200, seconds=2.0)
print("loading", Slow.begun.wait(60), flush=True)
child = os.fork()
till = time.monotonic() + 60
while firstbyte.besides(["zai/glm-5.3-flash"], "coder") is None and time.monotonic() < till:
    with contextlib.suppress(DoorGoneError):
        firstbyte.route("coder")
    time.sleep(0.01)
found = firstbyte.besides(["zai/glm-5.3-flash"], "coder") is not None
os.write(1, (b"parent %d\\n" if child else b"child %d\\n") % found)
if child:
    os.waitpid(child, 0)
else:
    os._exit(0)
"""


@pytest.mark.parametrize("module", ["breaker.client.asking", "httpcore._async"], ids=["of its own", "of the library"])
def test_a_process_that_is_forked_while_the_client_loads_has_all_that_it_needs(url: str, module: str) -> None:
    said = ran(_HALF_LOADED, url, module).splitlines()

    assert said[0] == "loading True"
    assert sorted(said[1:]) == ["child 1", "parent 1"]


def test_a_forked_process_has_a_client_of_its_own(url: str) -> None:
    said = ran(
        "import warnings; warnings.simplefilter('ignore', DeprecationWarning)  # a fork beside a thread\n"
        + _HEAD
        + """
from tests.api.world import PRIMARY
from tests.client.serving import eventually
reached(firstbyte)
eventually(lambda: firstbyte.besides([PRIMARY.name], "coder") is not None, "all is loaded")
firstbyte.report(**good('parent'))
child = os.fork()
if child == 0:
    print(reached(firstbyte).role, firstbyte.report(**good('child')), flush=True)
    firstbyte.close()
    print('child', firstbyte.waiting, firstbyte.dropped, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(reached(firstbyte).role, firstbyte.report(**good('parent-again')))
firstbyte.close()
print('parent', firstbyte.waiting, firstbyte.dropped)
""",
        url,
    )

    assert said == "primary ok\nchild 0 0\nprimary ok\nparent 0 0\n"


def test_a_signal_that_interrupts_a_step_may_report_too() -> None:
    with Firstbyte(nobody(), fallback=[SPOT]) as firstbyte:
        before = signal.signal(signal.SIGALRM, lambda *_: firstbyte.report(**good(f"sig{next(_numbers)}")))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            for _ in range(3000):
                firstbyte.report(**good(f"m{next(_numbers)}"))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

        assert firstbyte.waiting >= 3000


def test_a_service_that_comes_later_is_found(server: object, start: Callable[[int], Process]) -> None:
    port = free_port()
    with Firstbyte(f"http://localhost:{port}", fallback=[SPOT]) as firstbyte:
        assert firstbyte.route("coder").source is Source.PRIMARY
        start(port)

        comes_to(firstbyte, PRIMARY.name, Source.SERVICE)


def test_services_that_come_and_go_leave_nothing_behind(service: Service) -> None:
    for _ in range(5):
        with Firstbyte(service.url) as firstbyte:
            reached(firstbyte)

    eventually(lambda: not any(t.name == "firstbyte" for t in threading.enumerate()), "all threads have ended")
