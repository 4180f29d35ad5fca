"""The Lua scripts that ship in this package, run by their digest."""

import hashlib
from collections.abc import Sequence
from importlib.resources import files

from redis.asyncio import Redis
from redis.exceptions import NoScriptError


class Script:
    """A script of this package, made of one or more files; the server keeps its text after the first call, until it
    restarts.
    """

    def __init__(self, *names: str) -> None:
        folder = files("breaker.store")
        self._text = "\n".join(folder.joinpath(f"{name}.lua").read_text(encoding="utf-8") for name in names)
        # The protocol's own name for a script, not a matter of security.
        self._digest = hashlib.sha1(self._text.encode(), usedforsecurity=False).hexdigest()

    async def run(self, server: Redis, keys: Sequence[str], args: Sequence[str | int]) -> object:
        """The script's reply; one round trip, or two where the server has to be given the text again."""
        try:
            return await _send(server, "EVALSHA", self._digest, len(keys), *keys, *args)
        except NoScriptError:
            return await _send(server, "EVAL", self._text, len(keys), *keys, *args)


async def _send(server: Redis, *words: str | int) -> object:
    return await server.execute_command(*words)  # type: ignore[no-untyped-call] # redis-py leaves it untyped


RECORD = Script("circuit", "record")
APPLY = Script("circuit", "apply")
CLAIM = Script("claim")
TAKE = Script("take")
UNCLAIM = Script("unclaim")
