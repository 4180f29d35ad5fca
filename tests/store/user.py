"""Another process that uses a data folder: prints the server's URL and stops when its input ends."""

import asyncio
import sys
from pathlib import Path

from breaker.store.embedded import EmbeddedStore


async def main() -> None:
    """Use the folder until the input ends."""
    embedded = EmbeddedStore(Path(sys.argv[1]))
    print(await embedded.start(), flush=True)  # noqa: T201 # whoever started this process reads it
    await asyncio.to_thread(sys.stdin.read)
    await embedded.stop()


asyncio.run(main())
