"""LiteLLM's router, twice on one Redis, in LiteLLM's own environment: how late the second knows of a cooldown.

`python -m benchmarks._trips_litellm PORT DEPLOYMENTS` prints the seconds of each as JSON.
"""

import asyncio
import json
import os
import sys
import time
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the internet for prices

from litellm import Router  # type: ignore[import-not-found] # only its own environment has it

# The cooldowns are spread over this; the second router reads at most once a second.
SPREAD_S = 8.0
# Each agent asks this often.
PACE_S = 0.005


def _router(port: int, names: list[str]) -> Any:  # Any: what it is, its own environment says alone
    key = {"api_key": "none", "api_base": "http://127.0.0.1:9/v1"}
    models = [
        {"model_name": name, "litellm_params": {"model": f"openai/{name}", **key}, "model_info": {"id": name}}
        for name in names
    ]
    return Router(model_list=models, redis_url=f"redis://127.0.0.1:{port}", cooldown_time=600)


async def _refused(router: Any, name: str) -> float:
    """The moment from which on a router offers a model no more."""
    while True:
        try:
            await router.async_get_available_deployment(model=name, request_kwargs={})
        except Exception:  # noqa: BLE001 # it says so with an error of its own
            return time.monotonic()
        await asyncio.sleep(PACE_S)


async def _late(here: Any, there: Any, name: str, after_s: float) -> float:
    refused = asyncio.create_task(_refused(there, name))
    await asyncio.sleep(after_s)
    assert not refused.done()
    began = time.monotonic()
    here.cooldown_cache.add_deployment_to_cooldown(name, RuntimeError("slow"), 429, 600.0)
    return await refused - began


async def _main(port: int, deployments: int) -> None:
    names = [f"model-{number}" for number in range(deployments)]
    here, there = _router(port, names), _router(port, names)
    each = [_late(here, there, name, 1.0 + SPREAD_S * place / deployments) for place, name in enumerate(names)]
    print(json.dumps(await asyncio.gather(*each)))


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2])))
