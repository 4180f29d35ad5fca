"""Reports, and waits until they count: the door answers before the store has heard of them."""

import asyncio

import httpx


async def report(door: httpx.AsyncClient, reports: object) -> httpx.Response:
    """Send one report or several, all of which the door must take, and wait until the store has them."""
    answer = await door.post("/reports", json=reports)
    assert (answer.status_code, answer.json()["problems"]) == (202, [])
    await recorded(door)
    return answer


async def recorded(door: httpx.AsyncClient) -> None:
    """Wait until no answer waits."""
    async with asyncio.timeout(120):
        while (await door.get("/readyz")).json()["answers"]["waiting"]:  # noqa: ASYNC110 # it may be another process
            await asyncio.sleep(0.002)
