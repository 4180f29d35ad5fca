"""What an agent holds, against a real service and without one."""

import socket

from breaker.client import AsyncFirstbyte, Firstbyte, Source, Spot

SPOT: Spot = {
    "target": "zai/glm-5.3-flash",
    "base_url": "https://zai.example/v4",
    "wire": "openai-chat",
    "api_key_env": "ZAI_API_KEY",
}


def nobody() -> str:
    """An address where nothing answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_without_a_service_ever_the_fallback_is_the_primary() -> None:
    with Firstbyte(nobody(), fallback=[SPOT]) as firstbyte:
        to = firstbyte.route("coder")

    assert (to.target, to.base_url, to.role, to.source) == (SPOT["target"], SPOT["base_url"], "primary", Source.PRIMARY)


async def test_the_same_holds_for_the_async_client() -> None:
    async with AsyncFirstbyte(nobody(), fallback={"coder": [SPOT]}) as firstbyte:
        to = await firstbyte.route("coder")

    assert (to.target, to.source) == (SPOT["target"], Source.PRIMARY)
