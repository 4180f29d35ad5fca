"""`firstbyte run` without a configuration: the service, simulated providers, and a story told in plain lines."""

import asyncio
import json
import time
from collections.abc import Mapping

from breaker.api.notices import Notice
from monitor import demonstration
from monitor.cli.exits import GOOD, UsageError
from monitor.cli.saying import say
from monitor.config import ConfigError
from monitor.daemon import Ears, service
from monitor.listening import bind
from monitor.outlet import unread
from monitor.settings import Settings
from monitor.simulator import Simulator

_STDOUT = 1
# How often to look whether anybody is left who reads the story.
_LOOK_S = 0.5


async def demonstrate(environ: Mapping[str, str]) -> int:
    """Play the story once, then go on as a service until cancelled, or until nobody is left who could read it."""
    try:
        async with asyncio.timeout(None) as limit:
            watching = asyncio.create_task(_watch(limit))
            try:
                await _demonstrate(environ)
            finally:
                watching.cancel()
    except TimeoutError:
        if not limit.expired():
            raise
    return GOOD


async def _watch(limit: asyncio.Timeout) -> None:
    while not unread(_STDOUT):  # noqa: ASYNC110 # it has no event
        await asyncio.sleep(_LOOK_S)
    limit.reschedule(asyncio.get_running_loop().time())


async def _demonstrate(environ: Mapping[str, str]) -> None:
    began = time.monotonic()

    def tell(line: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {line}")

    async with demonstration.simulator() as providers:
        settings = _settings(providers, environ)
        listening = bind(settings.door)
        story = demonstration.Story(providers, settings.plans[demonstration.PRIMARY].policy.slow_s, tell)
        ears = Ears(judged=(story.judged,), moved=(story.moved,), notes=(Notice(demonstration.NOTE),))
        say("There is no firstbyte.yaml here, so this is a demonstration; `firstbyte init` writes one.")
        say(demonstration.NOTE)
        async with service(settings, {}, listening, ears=ears) as running:
            assert running.url is not None
            say(f"Status page     {running.url}/")
            say(f"For agents      curl '{running.url}/route?route=coder'")
            target, wrong = demonstration.PRIMARY, json.dumps({"behaviour": "empty"})
            say(f"Let one fail    curl '{providers.control_url}/targets?target={target}' -d '{wrong}'")
            say(f"Other failures  {providers.control_url}/behaviours")
            say("")
            await story.play(running.board, running.url)
            say("")
            say(f"That was the story. Everything goes on: look at {running.url}/ ; Ctrl-C ends it.")
            await asyncio.get_running_loop().create_future()


def _settings(providers: Simulator, environ: Mapping[str, str]) -> Settings:
    try:
        return demonstration.settings(providers, environ)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"can't write {error.filename}: {error.strerror}; set FIRSTBYTE_DATA to a folder") from None
