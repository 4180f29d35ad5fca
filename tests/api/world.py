"""The providers, routes and reports that the door's tests speak of."""

import time
from dataclasses import replace

from breaker.circuit import Cause, Move, State
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.target import Ability, Provider, Target

URL = "http://127.0.0.1:8642"

_ZAI = Provider(name="zai", base_url="https://zai.example/v4", wire="openai-chat", api_key_env="ZAI_API_KEY")
_OPEN = Provider(name="openrouter", base_url="https://or.example/v1", wire="openai-chat", api_key_env="OR_API_KEY")
_OWN = Provider(name="own", base_url="http://own.example/v1", wire="anthropic-messages")

PRIMARY = Target(provider=_ZAI, model="glm-5.3-flash")
BACKUP = Target(provider=_OPEN, model="z-ai/glm-5.3-flash")
OTHER = Target(provider=_OWN, model="small")

TEXT = Target(provider=_OWN, model="text", can=(), max_input_tokens=32_000)
EYES = Target(provider=_ZAI, model="eyes", can=(Ability.TOOLS, Ability.VISION), max_input_tokens=64_000)
MIXED = Route(name="mixed", targets=(TEXT, EYES))

ROUTES = (Route(name="coder", targets=(PRIMARY, BACKUP)), Route(name="reviewer", targets=(OTHER,)))


def good(name: str = "good", target: Target = PRIMARY, **facts: object) -> dict[str, object]:
    """A report of a good answer."""
    return {
        "target": target.name,
        "id": name,
        "ended": "complete",
        "seconds": 9.1,
        "status": 200,
        "first_byte_s": 1.4,
        "end_mark": True,
        "text_chars": 812,
        **facts,
    }


def failed(name: str, target: Target = PRIMARY, **facts: object) -> dict[str, object]:
    """A report of an HTTP 500."""
    return {"target": target.name, "id": name, "ended": "complete", "seconds": 0.4, "status": 500, **facts}


def slow(name: str, target: Target = PRIMARY) -> dict[str, object]:
    """A report of an answer whose first byte came too late."""
    return good(name, target, first_byte_s=43.0, seconds=51.0)


async def closes(board: Switchboard, store: RedisStore, target: Target, ago_s: float = 0.0) -> None:
    """A target's circuit that was open has closed so long ago, and the board knows."""
    reading = await store.look(target.name)
    at, generation = reading.now - ago_s, reading.circuit.generation + 1
    circuit = replace(reading.circuit, generation=generation, cause=Cause.RECOVERED, moved_at=at, open_until=None)
    move = Move(at=at, before=State.OPEN, after=State.CLOSED, cause=Cause.RECOVERED, why="a test", circuit=circuit)
    assert await store.apply(target.name, move, reading.circuit) is not None
    await board.refresh()


def part_gone(board: Switchboard, target: Target, for_s: float) -> None:
    """Let the part of the store where a target lies be gone for so long; the rest is fresh for all of a slow test."""
    now = time.monotonic()
    board._snapshot.was_read(now + 1000.0, now + 1000.0, {target.name: "is gone"})
    board._snapshot.behind[target.name] = now - for_s
