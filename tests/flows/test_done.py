"""An agent that believes any end of a stream, through the real SDK, and what it hears when it asks if it is done."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.flows.scripted import Stage, Story, calls, says, stage

ANNOUNCES = "I have looked at the order. Next, I will refund it."
CLAIMS = "I have refunded the order and sent the e-mail. Task Complete"


@pytest_asyncio.fixture
async def on(tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(tmp_path) as made:
        yield made


EACH = pytest.mark.parametrize("awaits", [False, True], ids=["sync", "async"])


@EACH
async def test_one_that_does_all_of_it_is_done(on: Stage, *, awaits: bool) -> None:
    story = Story([calls("look", order=7), calls("refund", order=7), calls("send_email", to="Anna"), says(CLAIMS)])
    done = await on.play(story, "goal-17", awaits=awaits)

    assert (done.decision, done.reasons) == ("completed", ("agreed",))
    assert done.succeeded == ("look", "refund", "send_email")


@EACH
async def test_one_that_stops_to_announce_its_next_step_is_handed_its_task_back_twice(
    on: Stage, *, awaits: bool
) -> None:
    story = Story([calls("look", order=7), says(ANNOUNCES)])
    done = await on.play(story, "goal-17", awaits=awaits)
    notices = [one["content"] for one in story.messages if one["role"] == "user"][1:]

    assert (done.decision, done.reason, done.next) == ("not_finished", "announced", "stop")
    assert story.asked == 4
    assert len(notices) == 2
    assert all("announced a next step" in notice for notice in notices)


@EACH
async def test_one_that_goes_on_after_a_notice_is_done(on: Stage, *, awaits: bool) -> None:
    turns = [calls("look", order=7), says(ANNOUNCES), calls("refund", order=7), says(CLAIMS)]
    done = await on.play(Story(turns), "goal-17", awaits=awaits)

    assert done.completion_allowed


@EACH
async def test_one_that_repeats_itself_is_stopped(on: Stage, *, awaits: bool) -> None:
    story = Story([calls("look", order=7)])
    done = await on.play(story, "goal-17", awaits=awaits)

    assert (done.decision, done.reason, done.next) == ("not_finished", "same_calls", "stop")
    assert story.asked == 3


@EACH
async def test_one_that_claims_to_be_done_after_a_failed_tool_is_not(on: Stage, *, awaits: bool) -> None:
    story = Story([calls("refund", order=7), says("DONE")], {"refund": '{"success": false, "error": "closed"}'})
    done = await on.play(story, "goal-17", awaits=awaits)

    assert (done.decision, done.reason, done.next) == ("failed", "operation_failed", "stop")
    assert "`refund`" in done.message


@EACH
async def test_one_whose_refund_was_never_answered_starts_no_mail(on: Stage, *, awaits: bool) -> None:
    turns = [calls("refund", order=7), calls("refund", order=7), calls("send_email", to="Anna"), says(CLAIMS)]
    story = Story(turns, {"refund": TimeoutError()})
    done = await on.play(story, "goal-17", awaits=awaits)

    assert story.called == ["refund"]
    assert (done.unknown, done.never_started) == (("refund",), ("send_email",))
    assert done.decision == "failed"


@EACH
async def test_one_that_runs_into_the_output_limit_is_asked_again(on: Stage, *, awaits: bool) -> None:
    story = Story([calls("refund", order=7), says("I have refunded the", finish="length"), says(CLAIMS)])
    done = await on.play(story, "goal-17", awaits=awaits)

    assert story.asked == 3
    assert done.completion_allowed


@EACH
async def test_one_whose_last_answer_is_always_cut_off_is_never_done(on: Stage, *, awaits: bool) -> None:
    story = Story([says("I have refunded the", finish="length")])
    done = await on.play(story, "goal-17", awaits=awaits)

    assert (done.decision, done.reason, done.verdict, done.next) == ("not_finished", "output_limit", "length", "stop")
    assert story.asked == 3


@EACH
async def test_a_task_without_tools_is_its_answer(on: Stage, *, awaits: bool) -> None:
    story = Story([says("Order 7 was placed in May.")])
    done = await on.play(story, "goal-17", awaits=awaits)

    assert done.completion_allowed


@EACH
async def test_what_was_prevented_is_counted_by_provider_and_nothing_that_was_said_is_kept(
    on: Stage, tmp_path: Path, *, awaits: bool
) -> None:
    story = Story([calls("refund", order=7, note="ACCT-5512-8841"), says("DONE")], {"refund": "Error: no order"})
    await on.play(story, "goal-17", awaits=awaits)
    async with httpx.AsyncClient(base_url=on.url, trust_env=False, timeout=60) as door:
        said = (await door.get("/runs")).json()
        run = (await door.get("/runs/goal-17")).text
    kept = _kept(tmp_path)

    assert said["claims"] == [{"provider": "a", "claimed": 1, "prevented": 1}]
    assert "refund" in run
    for secret in ("ACCT-5512-8841", "no order", "Refund order 7", "goal-17"):
        assert secret not in kept
    assert "ACCT-5512-8841" not in run


def _kept(folder: Path) -> str:
    """All that the store's files hold."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode(errors="replace")
