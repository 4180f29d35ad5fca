"""A real cut of the network, where the system lets us have networks of our own."""

import asyncio
import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.fixtures import _worker_server, server, store_url
from tests.processes import ROOT

__all__ = ["_worker_server", "server", "store_url"]

_OWN = ("unshare", "-rn")


def _possible() -> bool:
    """Whether this system has the tools and lets us use them."""
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    tried = [*_OWN, "ip", "link", "add", "one", "type", "veth", "peer", "name", "other"]
    return subprocess.run(tried, check=False, capture_output=True, timeout=120).returncode == 0


if _possible():

    @pytest.mark.parametrize("end", ["near", "far"], ids=["nobody can be reached", "silence"])
    async def test_a_cut_of_our_network_moves_nothing_and_all_goes_on_after_it(store_url: str, end: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *_OWN,
            *(sys.executable, "-m", "tests.flows.cut", store_url, end),
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(90):
                said, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()

        assert json.loads(said) == {"suspected": True, "moves": []}
