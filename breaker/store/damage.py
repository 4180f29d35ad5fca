"""Names a target's keys that hold something else than Firstbyte keeps there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from breaker.errors import DamagedStoreError
from breaker.store.call import command
from breaker.store.servers import Servers

KINDS = {
    "circuit": "hash",
    "moves": "list",
    "probes": "list",
    "reports": "list",
    "ids": "zset",
    "bins": "list",
    "usual": "string",
    "slots": "hash",
    "samples": "list",
    "claim": "string",
    "probed": "hash",
}


def keys_of(target: str, *names: str) -> list[str]:
    """The keys of a target; what stands in braces decides the cluster's slot."""
    return [f"firstbyte:{{{target}}}:{name}" for name in names]


@asynccontextmanager
async def named(servers: Servers, target: str) -> AsyncIterator[None]:
    """Let an error of keys of another kind, in work on a target, name those keys."""
    try:
        yield
    except DamagedStoreError:
        keys = keys_of(target, *KINDS)
        kinds = await servers.send([command("TYPE", key) for key in keys])
        found = zip(keys, KINDS.values(), kinds, strict=True)
        raise DamagedStoreError(
            servers.place, [key for key, kind, there in found if isinstance(there, str) and there not in (kind, "none")]
        ) from None
