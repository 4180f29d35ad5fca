"""What the page tells of agents' tasks."""

import httpx
import pytest

from breaker.api.runs import tasks
from breaker.done import Completion, Ground
from breaker.switchboard import Switchboard
from breaker.switchboard.last_runs import Last, LastRun
from tests.api.scenes import NOW
from tests.api.test_page import Reader
from tests.api.test_runs import calling, done, final, tell
from tests.store_server import StoreServer

UNFINISHED = Completion.NOT_FINISHED


def run(**facts: object) -> LastRun:
    known: dict[str, object] = {
        "mark": "9a1f03c4",
        "ago_s": 12.0,
        "completion": Completion.COMPLETED,
        "reason": Ground.AGREED,
        "provider": "zai",
        "verdict": "ok",
        "answers": 3,
        "operations": 1,
        "prevented": False,
    }
    return LastRun(**(known | facts))  # type: ignore[arg-type] # facts of a run


@pytest.mark.parametrize(
    ("found", "text", "more"),
    [
        pytest.param(run(), "9a1f03c4 is done", "3 answers, 1 operation, last asked: zai", id="done"),
        pytest.param(
            run(
                completion=Completion.NOT_FINISHED, reason=Ground.NOT_AN_ANSWER, verdict="gateway_text", prevented=True
            ),
            "9a1f03c4 would have been called done, and wasn't",
            "the last answer was none: gateway text, 3 answers, 1 operation, last asked: zai",
            id="prevented",
        ),
        pytest.param(
            run(completion=Completion.FAILED, reason=Ground.OPERATION_FAILED, answers=1, operations=2),
            "9a1f03c4 has failed",
            "operation failed, 1 answer, 2 operations, last asked: zai",
            id="failed",
        ),
        pytest.param(
            run(completion=UNFINISHED, reason=Ground.NO_ANSWER, provider=None, verdict=None, answers=0),
            "9a1f03c4 isn't finished",
            "no answer, 0 answers, 1 operation",
            id="not finished",
        ),
        pytest.param(
            run(completion=Completion.PARTIALLY_COMPLETED, reason=Ground.CHECK_FAILED),
            "9a1f03c4 is done in part",
            "check failed, 3 answers, 1 operation, last asked: zai",
            id="in part",
        ),
    ],
)
def test_a_task_is_told_in_plain_words(found: LastRun, text: str, more: str) -> None:
    (line,) = tasks.section(Last(runs=(found,), claimed={}, prevented={}), NOW).lines

    assert (line.at, line.text, line.more) == (NOW - 12, text, more)
    assert line.well is (found.completion is Completion.COMPLETED)


@pytest.mark.parametrize(
    ("claimed", "prevented", "words"),
    [
        ({}, {}, "No task has been called done yet."),
        ({"zai": 1}, {}, "A task was called done once, and each time it was."),
        (
            {"zai": 1046, "openrouter": 4, "own": 9},
            {"zai": 7, "openrouter": 1},
            "1,059 times; 8 times it wasn't, and that was prevented (openrouter 1 of 4, zai 7 of 1,046).",
        ),
    ],
    ids=["none", "all true", "some untrue"],
)
def test_it_is_told_how_often_a_claim_was_untrue(
    claimed: dict[str, int], prevented: dict[str, int], words: str
) -> None:
    assert tasks.section(Last(runs=(), claimed=claimed, prevented=prevented), NOW).text.endswith(words)


async def test_a_task_that_was_not_done_is_on_the_page(door: httpx.AsyncClient) -> None:
    await tell(door, "goal-1", "steps", calling("a", 1), final("b", 2, text_chars=0))
    await done(door, "goal-1")

    said = Reader((await door.get("/")).text).words

    assert "Agents' tasks" in said
    assert "done once; once it wasn't, and that was prevented (zai 1 of 1)." in said
    assert "the last answer was none: empty" in said
    assert "goal-1" not in said


async def test_where_no_task_is_known_there_is_no_section(switchboard: Switchboard) -> None:
    assert await tasks.Tasks(switchboard).asides() == []


async def test_while_the_store_is_gone_the_last_known_tasks_stay(
    door: httpx.AsyncClient, switchboard: Switchboard, server: StoreServer
) -> None:
    await tell(door, "goal-1", "steps", final("a", 1))
    await done(door, "goal-1")
    found = tasks.Tasks(switchboard)
    before = await found.asides()
    server.kill()
    found._read_at = None

    assert await found.asides() == before != []
