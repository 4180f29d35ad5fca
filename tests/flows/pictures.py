"""Makes the pictures of the docs from the running product: `python -m tests.flows.pictures FOLDER`."""

import asyncio
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from monitor.simulator import Replay
from tests.flows.replay import TRACE, draw, play
from tests.processes import environment, started


async def six_hours(picture: Path) -> str:
    """Play the whole trace, sixty times faster, and draw it; gives what it came to."""
    replay = Replay.from_csv(TRACE)
    with tempfile.TemporaryDirectory() as folder:
        played = await play(replay, speed=60, for_s=replay.end_s + 60, data=Path(folder))
    draw(played, picture)
    open_s = sum(until - since for since, until in played.open_spans()) * played.speed
    spans = f"open for {open_s / 60:.0f} of {replay.end_s / 60:.0f} min"
    return f"{len(played.judged)} answers, {len(played.moves)} moves, {spans}"


async def status(picture: Path) -> str:
    """Photograph the demonstration's page while its primary is out."""
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder))
        async with started("run", env=env, cwd=Path(folder)) as demo:
            await demo.line(r"\(backup, slow", within_s=60)
            url = (await demo.line(r"Status page +(http://\S+)"))[1]
            await asyncio.to_thread(photograph, url, picture, Path(folder) / "profile")
    return url


def photograph(url: str, picture: Path, profile: Path) -> None:
    """A picture of a page as a browser shows it."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
    quiet = "--disable-background-networking --disable-component-update --disable-sync --no-first-run --disable-gpu"
    size = "--window-size=1200,1000 --hide-scrollbars --force-device-scale-factor=1"
    kept = f"--user-data-dir={profile}"
    words = [browser, "--headless", "--no-sandbox", kept, *quiet.split(), *size.split(), f"--screenshot={picture}", url]
    subprocess.run(words, check=True, capture_output=True, timeout=60)


async def _all(folder: Path) -> None:
    print("status.png:", await status(folder / "status.png"), flush=True)  # noqa: T201
    print("six-hours.png: seven minutes from now", flush=True)  # noqa: T201
    print("six-hours.png:", await six_hours(folder / "six-hours.png"), flush=True)  # noqa: T201


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    asyncio.run(_all(Path(sys.argv[1])))
