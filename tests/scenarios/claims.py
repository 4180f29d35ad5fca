"""Claims on a target in a real store, whose time passes at a word."""

from dataclasses import dataclass

import pytest

from breaker.store.redis import RedisStore
from tests.scenarios.story import PRIMARY
from tests.store_server import StoreServer

KEY = f"firstbyte:{{{PRIMARY.name}}}:claim"


@dataclass
class Claims:
    """Asks for the one claim on a target; `for_s` is how long one lasts that nobody gives back or renews."""

    store: RedisStore
    for_s: float = 130.0

    async def ask(self, who: str) -> bool:
        """Whether this one may try."""
        return await self.store.claim(PRIMARY.name, who, self.for_s)

    def left_s(self, server: StoreServer) -> float:
        """How long the claim still lasts."""
        with server.raw() as raw:
            return int(raw.pttl(KEY)) / 1000

    def let_time_pass(self, server: StoreServer, by_s: float) -> None:
        """Make the claim older, without waiting."""
        left_s = self.left_s(server) - by_s
        with server.raw() as raw:
            raw.pexpire(KEY, round(left_s * 1000))  # what is past its end is gone


@pytest.fixture
def claims(store: RedisStore) -> Claims:
    """Claims in an empty store."""
    return Claims(store)
