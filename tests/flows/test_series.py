"""A series of tasks as it once was run: seven of 46 were called done and weren't, and some never came to an end.

Each answer is bytes as a provider sent them, read and judged as every other; agents believed any end of them.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import httpx
import pytest

from breaker.answer import Answer, Ended
from breaker.exchange import Exchange, play
from tests.api.conftest import _worker_server, app, door, routes, server, store, switchboard
from tests.api.world import PRIMARY
from tests.cases.chat import stream
from tests.cases.said import Call, Said, words
from tests.cases.wires import CHAT

__all__ = ["_worker_server", "app", "door", "routes", "server", "store", "switchboard"]

# What the requests came to: some 9,300 tokens of prompt, tools offered.
PROMPT_BYTES, PROMPT_TOKENS = 37_200, 9_300
GATEWAY = "The request could not be completed. Please retry later, or reduce the request parameters/content."
REPORTS = (
    "The function now returns the sum, and all 14 tests pass.",
    "I moved the settings into a file of their own and updated the two callers. Task complete.",
    "Done. The log shows one error at 04:12, caused by a missing column; the migration adds it.",
    "任务完成。三个文件已更新,测试全部通过。",
    "Here is the summary that you asked for: revenue grew in May, costs stayed as they were.",
    "The endpoint answers 404 for unknown orders now. Let me know if the wording should differ.",
)
TRUE, EMPTY, GATEWAYS, LOOPS = 39, 1, 6, 4


@dataclass(frozen=True)
class Task:
    """The answers of a task in their order, and whether it was really done."""

    name: str
    answers: tuple[Exchange, ...]
    verdict: str  # of the last answer
    reason: str


def exchange(said: Said) -> Exchange:
    pieces = [piece.data for piece in stream(replace(said, read=said.read or PROMPT_TOKENS))]
    return Exchange(
        wire=CHAT,
        streamed=True,
        prompt_bytes=PROMPT_BYTES,
        tools=True,
        max_tokens=8_000,
        status=200,
        headers={"content-type": "text/event-stream"},
        chunks=tuple((0.8 + 0.02 * place, data) for place, data in enumerate(pieces)),
        ended=Ended.COMPLETE,
        end_at_s=0.8 + 0.02 * len(pieces),
    )


def calling(number: int, *, loop: bool = False) -> Exchange:
    path = "src/main.py" if loop else f"src/part_{number}.py"
    return exchange(Said(text=("I look at it.",), calls=(Call("read_file", {"path": path}),), read=None, written=60))


def series() -> Iterator[Task]:
    chance = random.Random(46)
    for number in range(TRUE + EMPTY + GATEWAYS):
        turns = [calling(turn) for turn in range(chance.randint(1, 9))]
        if number < TRUE:
            last = exchange(Said(text=words(chance.choice(REPORTS)), read=None, written=90))
            yield Task(f"true-{number}", (*turns, last), "ok", "agreed")
        elif number < TRUE + EMPTY:
            yield Task(f"empty-{number}", (*turns, exchange(Said(read=None, written=0))), "empty", "not_an_answer")
        else:
            # Sent as one piece, 18 tokens, and half of the prompt counted.
            last = exchange(Said(text=(GATEWAY,), read=4_518, written=18))
            yield Task(f"gateway-{number}", (*turns, last), "gateway_text", "not_an_answer")
    for number in range(LOOPS):
        turns = [calling(turn) for turn in range(number)]
        yield Task(f"loop-{number}", (*turns, *(calling(0, loop=True),) * 3), "tool_call", "same_calls")


TASKS = list(series())


async def told(door: httpx.AsyncClient, task: Task) -> dict[str, object]:
    """Tell of a task as its agent did, last things first, and ask whether it is done."""
    steps, operations = [], []
    for turn, answer in enumerate(task.answers):
        name = f"{task.name}-{turn}"
        played = play(answer).answer
        calls = [{"name": "read_file", "arguments": {"path": _path(answer)}}] if played.tool_calls else None
        steps.append({**facts(played), "id": name, "seq": 2 * turn, **({"calls": calls} if calls else {})})
        if calls:
            told = {"id": name, "seq": 2 * turn + 1, "tool": "read_file", "state": "succeeded"}
            operations.append(told)
    for kind, said in (("operations", operations), ("steps", steps[::-1])):
        if said:
            reply = await door.post(f"/runs/{task.name}/{kind}", json=said)
            assert (reply.status_code, reply.json()["problems"]) == (202, [])
    done: dict[str, object] = (await door.get(f"/runs/{task.name}/done")).json()
    return done


def facts(answer: Answer) -> dict[str, object]:
    found = {name: value for name, value in answer.facts().items() if name != "source"}
    return {**found, "target": PRIMARY.name}


def _path(answer: Exchange) -> str:
    """The file that a turn reads."""
    body = b"".join(data for _, data in answer.chunks)
    return "main" if b"main.py" in body else body.partition(b"part_")[2].partition(b".")[0].decode()


async def test_all_seven_untrue_completions_are_refused_and_no_true_one(door: httpx.AsyncClient) -> None:
    done = {task.name: await told(door, task) for task in TASKS}
    refused = {name for name, said in done.items() if not said["completion_allowed"]}
    claims = (await door.get("/runs")).json()["claims"]

    assert refused == {task.name for task in TASKS if task.reason != "agreed"}
    assert len(refused) == EMPTY + GATEWAYS + LOOPS
    assert claims == [{"provider": "zai", "claimed": 46, "prevented": 7}]


@pytest.mark.parametrize("task", [task for task in TASKS if task.reason != "agreed"], ids=lambda task: task.name)
async def test_each_is_refused_for_the_right_reason(door: httpx.AsyncClient, task: Task) -> None:
    said = await told(door, task)
    last = said["last"]

    assert isinstance(last, dict)
    assert (said["reason"], last["detector"]["verdict"]) == (task.reason, task.verdict)
    assert said["next"] == ("stop" if task.reason == "same_calls" else "ask_again")


async def test_the_records_tell_a_wrong_verdict_from_a_failing_provider(door: httpx.AsyncClient) -> None:
    """The protocol ended well, the detector said that it was no answer, and the task's own check didn't know."""
    task = next(task for task in TASKS if task.verdict == "gateway_text")
    await told(door, task)
    await door.post(
        f"/runs/{task.name}/checks", json={"id": "c", "seq": 99, "name": "files_changed", "outcome": "unknown"}
    )
    said = (await door.get(f"/runs/{task.name}/done")).json()

    assert said["last"]["protocol"] == {"ended": "complete", "status": 200, "end_mark": True, "finish": "stop"}
    assert (said["last"]["detector"]["verdict"], said["last"]["detector"]["confidence"]) == ("gateway_text", "high")
    assert said["checks"][0]["outcome"] == "unknown"
    assert said["reasons"] == ["not_an_answer", "check_unknown"]
