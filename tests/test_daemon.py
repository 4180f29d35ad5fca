"""What the service refuses before it has begun."""

from dataclasses import replace
from pathlib import Path

import pytest

from breaker.policy import Policy
from monitor.daemon import bind, service
from monitor.settings import Door
from monitor.simulator import Simulator
from tests.service import plan, settings


async def test_no_door_without_tokens_is_opened_to_others(tmp_path: Path) -> None:
    """The configuration refuses it too; this holds for settings that came another way."""
    async with Simulator({"first/m": "healthy"}) as providers:
        chosen = settings([plan(providers, "first/m", Policy())], tmp_path)
        exposed = replace(chosen, door=Door(host="0.0.0.0", port=0))
        with bind(chosen.door) as listening, pytest.raises(ValueError, match="that needs tokens"):
            async with service(exposed, {}, listening):
                pass
