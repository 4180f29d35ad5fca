"""Whether a task may be called done."""

from collections.abc import Sequence

import pytest

from breaker.answer import Ended, Finish
from breaker.done import Bounds, Completion, Ground, Next, Ruling, decide
from breaker.run import Fact, Outcome, Says, State, fold
from breaker.verdict import Blame, Verdict
from tests.run.made import answer, bad, check, read, said, wrote

P, X, S, F, U = State.PLANNED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNKNOWN
ACTED, DONE, NEXT = Says.ACTED, Says.DONE, Says.NEXT
R, C, N = Ground, Completion, Next


def decided(facts: Sequence[Fact], *, overfull: bool = False, **bounds: int) -> Ruling:
    return decide(fold(facts, overfull=overfull), Bounds(**bounds))


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([answer(1, tools=False)], id="an answer"),
        pytest.param([said(1, DONE, tools=False)], id="an answer that says so, where there are no tools"),
        pytest.param([said(1, NEXT, tools=False)], id="an answer that looks ahead, where there are no tools"),
        pytest.param([answer(1)], id="an answer that needed no tool"),
        pytest.param([answer(1, tool_calls=None, finish=None)], id="an answer of which little is known"),
        pytest.param([bad(1, Verdict.EMPTY), answer(2)], id="an answer at the second attempt"),
        pytest.param([answer(1, calls="aa"), said(2, DONE)], id="tools were called, and nobody follows operations"),
        pytest.param([wrote("a", 1), said(2, DONE)], id="an operation succeeded"),
        pytest.param([wrote("a", 1, F, required=False), wrote("b", 2), answer(3)], id="one failed that isn't needed"),
        pytest.param([read("a", 1, F), read("b", 2), said(3, DONE)], id="one that reads failed, and it went on"),
        pytest.param([wrote("a", 1, P, required=False), answer(3)], id="one that isn't needed never began"),
        pytest.param([wrote("a", 1, F), wrote("b", 2, S, replaces=("a",)), said(3, DONE)], id="done in another way"),
        pytest.param([check(1, Outcome.PASSED), said(2, DONE)], id="a check passed"),
        pytest.param([answer(1, calls="aa"), read("a", 2), said(3, DONE)], id="a task that was to read"),
        pytest.param([answer(1, calls="aa"), wrote("a", 2), said(3, ACTED)], id="it says that it wrote, and it has"),
        pytest.param(
            [answer(1, calls="aa"), said(2, ACTED)], id="it says that it wrote, and nobody follows operations"
        ),
        pytest.param(
            [answer(1, calls="aa"), answer(2, calls="bb"), read("a", 3), said(4, ACTED)],
            id="it says that it wrote, and one of its calls wasn't told",
        ),
        pytest.param(
            [answer(1, calls="aa", tool_calls=None), read("a", 2), said(3, ACTED)],
            id="it says that it wrote, and nobody knows how many calls there were",
        ),
        pytest.param(
            [read("a", 1), check(2, Outcome.PASSED), said(3, ACTED)], id="it says that it wrote, and a check passed"
        ),
        pytest.param([said(1, ACTED, tools=False)], id="an answer that says it wrote, where there are no tools"),
        pytest.param([check(1, Outcome.FAILED), check(2, Outcome.PASSED), answer(3)], id="a check passed at last"),
        pytest.param([answer(1), answer(2, calls="aa"), answer(3)], id="it went on after a notice"),
    ],
)
def test_it_is_done_where_all_that_is_known_agrees(facts: list[Fact]) -> None:
    ruling = decided(facts)

    assert (ruling.completion, ruling.reasons, ruling.next) == (C.COMPLETED, (R.AGREED,), N.FINISH)
    assert ruling.completion_allowed
    assert ruling.message.startswith("The task is done.")
    assert ruling.notice is None
    assert not ruling.prevented


@pytest.mark.parametrize(
    ("facts", "completion", "reasons", "then"),
    [
        pytest.param([], C.NOT_FINISHED, [R.NO_ANSWER], N.GO_ON, id="nothing is known"),
        pytest.param(
            [answer(1), bad(2, Verdict.GATEWAY_TEXT)], C.NOT_FINISHED, [R.NOT_AN_ANSWER], N.ASK_AGAIN, id="gateway text"
        ),
        pytest.param(
            [bad(1, Verdict.CONTEXT_TOO_LONG, Blame.CALLER_FAULT)],
            C.NOT_FINISHED,
            [R.NOT_AN_ANSWER],
            N.STOP,
            id="asking again is of no use",
        ),
        pytest.param(
            [bad(1, Verdict.GATEWAY_TEXT, Blame.INCONCLUSIVE)],
            C.NOT_FINISHED,
            [R.NOT_AN_ANSWER],
            N.ASK_AGAIN,
            id="perhaps gateway text",
        ),
        pytest.param(
            [bad(1, Verdict.LENGTH, Blame.CALLER_FAULT)],
            C.NOT_FINISHED,
            [R.OUTPUT_LIMIT],
            N.ASK_AGAIN,
            id="the output limit",
        ),
        pytest.param([answer(1, calls="aa")], C.NOT_FINISHED, [R.CALLS_OPEN], N.GO_ON, id="a call"),
        pytest.param(
            [answer(1, finish=Finish.PAUSED)], C.NOT_FINISHED, [R.CALLS_OPEN], N.GO_ON, id="it waits to be asked on"
        ),
        pytest.param(
            [wrote("a", 1, X), answer(2)],
            C.NOT_FINISHED,
            [R.ANNOUNCED, R.OPERATION_OPEN],
            N.GO_ON,
            id="one is under way",
        ),
        pytest.param(
            [wrote("a", 1, P), answer(2)],
            C.NOT_FINISHED,
            [R.ANNOUNCED, R.OPERATION_MISSING],
            N.GO_ON,
            id="one has never begun",
        ),
        pytest.param(
            [wrote("a", 1, P, needs=("b",)), said(2, DONE)],
            C.NOT_FINISHED,
            [R.CLAIMED, R.OPERATION_MISSING],
            N.GO_ON,
            id="done, says the model, and one that is needed is missing",
        ),
        pytest.param([said(2, NEXT)], C.NOT_FINISHED, [R.ANNOUNCED], N.GO_ON, id="only announced"),
        pytest.param([said(2, DONE)], C.NOT_FINISHED, [R.CLAIMED], N.GO_ON, id="only claimed"),
        pytest.param([said(2, ACTED)], C.NOT_FINISHED, [R.CLAIMED], N.GO_ON, id="only claimed to have written"),
        pytest.param(
            [answer(1, calls="aa"), read("a", 2), said(3, ACTED)],
            C.NOT_FINISHED,
            [R.CLAIMED],
            N.GO_ON,
            id="it has only read, and says that it wrote",
        ),
        pytest.param(
            [read("a", 1, S, required=False), wrote("b", 2, F), said(3, DONE)],
            C.PARTIALLY_COMPLETED,
            [R.OPERATION_FAILED],
            N.STOP,
            id="done, says the model after a tool that failed",
        ),
        pytest.param([read("a", 1, F), said(2, DONE)], C.FAILED, [R.OPERATION_FAILED], N.STOP, id="all failed"),
        pytest.param([read("a", 1, U), answer(2)], C.FAILED, [R.OPERATION_UNKNOWN], N.STOP, id="nobody knows"),
        pytest.param(
            [wrote("a", 1), check(2, Outcome.FAILED), check(3, Outcome.UNKNOWN, "lint"), answer(4)],
            C.PARTIALLY_COMPLETED,
            [R.CHECK_FAILED, R.CHECK_UNKNOWN],
            N.STOP,
            id="checks speak against it",
        ),
        pytest.param(
            [wrote("a", 1, F, required=False), wrote("b", 2, P, needs=("a",)), read("c", 3), answer(4)],
            C.PARTIALLY_COMPLETED,
            [R.OPERATION_BLOCKED],
            N.STOP,
            id="one that is needed can't begin",
        ),
        pytest.param(
            [wrote("a", 1, P, needs=("b",)), wrote("b", 2, P, needs=("a",)), answer(3)],
            C.FAILED,
            [R.OPERATION_BLOCKED],
            N.STOP,
            id="two wait for each other",
        ),
        pytest.param(
            [wrote("mail", 1, needs=("refund",)), answer(2)],
            C.NOT_FINISHED,
            [R.ANNOUNCED, R.OPERATION_MISSING],
            N.GO_ON,
            id="one has happened that needs another of which nobody told",
        ),
        pytest.param(
            [read("look", 1, State.EXECUTING), answer(2)],
            C.NOT_FINISHED,
            [R.ANNOUNCED, R.OPERATION_OPEN],
            N.GO_ON,
            id="one that reads hasn't ended, and nothing has succeeded since",
        ),
        pytest.param(
            [wrote("a", 1, F, required=False), wrote("b", 2, needs=("a",)), answer(4)],
            C.PARTIALLY_COMPLETED,
            [R.OPERATION_FAILED],
            N.STOP,
            id="one has happened that needs another that failed",
        ),
    ],
)
def test_it_is_not_done(facts: list[Fact], completion: Completion, reasons: list[Ground], then: Next) -> None:
    ruling = decided(facts)

    assert (ruling.completion, list(ruling.reasons), ruling.next) == (completion, reasons, then)
    assert not ruling.completion_allowed
    assert "is not done" in ruling.message


REFUND: list[Fact] = [
    wrote("update_customer", 2),
    wrote("refund", 4, U),
    wrote("send_email", 5, P, needs=("refund",)),
    answer(6),
]


def test_a_refund_of_which_nobody_knows_is_named_and_so_is_what_waits_for_it() -> None:
    ruling = decided(REFUND)

    assert ruling.completion is C.PARTIALLY_COMPLETED
    assert ruling.reasons == (R.OPERATION_UNKNOWN, R.OPERATION_BLOCKED)
    assert [one.id for one in ruling.succeeded] == ["update_customer"]
    assert [one.id for one in ruling.unknown] == ["refund"]
    assert [one.id for one in ruling.never_started] == ["send_email"]
    assert ruling.message == (
        "The task is not done, only part of it is. Done: `update_customer`. Nobody knows whether it happened (look"
        " before it is done again): `refund`. Not started: `send_email`, which needs refund."
    )


def test_what_was_found_out_later_completes_it() -> None:
    known: list[Fact] = [*REFUND, wrote("refund", 7), wrote("send_email", 8), answer(9)]

    assert decided(known).completion_allowed


@pytest.mark.parametrize(
    ("last", "claimed"),
    [
        pytest.param(answer(1), True, id="a final answer"),
        pytest.param(bad(1, Verdict.EMPTY), True, id="an empty one"),
        pytest.param(bad(1, Verdict.GATEWAY_TEXT, status=None), True, id="a gateway's"),
        pytest.param(bad(1, Verdict.OK, Blame.OK, ended=Ended.CANCELLED), True, id="closed at its end mark"),
        pytest.param(bad(1, Verdict.CANCELLED, ended=Ended.CANCELLED, end_mark=False), False, id="given up"),
        pytest.param(bad(1, Verdict.CUT, ended=Ended.RESET), False, id="broken off, which raises"),
        pytest.param(bad(1, Verdict.HTTP_ERROR, status=500), False, id="an error, which raises"),
        pytest.param(answer(1, calls="aa"), False, id="a call"),
    ],
)
def test_an_agent_takes_any_end_without_a_call_for_the_end_of_its_task(last: Fact, *, claimed: bool) -> None:
    ruling = decided([last])

    assert ruling.claimed is claimed
    assert ruling.prevented is (claimed and not ruling.completion_allowed)


def test_a_task_is_handed_back_twice_with_a_notice_and_no_more() -> None:
    facts: list[Fact] = [wrote("a", 1, P)]
    seen = []
    for seq in (2, 3, 4):
        facts.append(said(seq, NEXT))
        ruling = decided(facts)
        seen.append((ruling.hand_backs, ruling.next, ruling.notice))

    notice = "You have announced a next step and called no tool. The task is still open: do it now. Still to do: `a`."
    assert seen == [(0, N.GO_ON, notice), (1, N.GO_ON, notice), (2, N.STOP, None)]


def test_how_often_it_is_handed_back_may_be_chosen() -> None:
    assert decided([said(1, DONE)], hand_backs=0).next is N.STOP


@pytest.mark.parametrize(
    ("verdict", "blame", "times"),
    [
        pytest.param(Verdict.LENGTH, Blame.CALLER_FAULT, 2, id="cut off at the limit"),
        pytest.param(Verdict.EMPTY, Blame.PROVIDER_FAILURE, 5, id="none"),
    ],
)
def test_nobody_is_asked_again_for_ever(verdict: Verdict, blame: Blame, times: int) -> None:
    facts: list[Fact] = [answer(0)]
    seen = []
    for seq in range(1, times + 2):
        facts.append(bad(seq, verdict, blame))
        seen.append(decided(facts).next)

    assert seen == [N.ASK_AGAIN] * times + [N.STOP]


def loop(*calls: str, tokens: int = 40, after: Sequence[Fact] = ()) -> list[Fact]:
    return [*(answer(seq, calls=one, completion_tokens=tokens) for seq, one in enumerate(calls, 1)), *after]


ROUND = ("a1", "b2") * 4


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        pytest.param(loop("a1", "a1", "a1"), R.SAME_CALLS, id="the same three times"),
        pytest.param(
            [*loop("a1", "a1"), bad(3, Verdict.EMPTY), answer(4, calls="a1"), wrote("a", 5)],
            R.SAME_CALLS,
            id="a failed attempt between them",
        ),
        pytest.param(loop(*ROUND), R.POSSIBLE_DEAD_LOOP, id="two in turn"),
        pytest.param(loop("a1", "a1"), R.CALLS_OPEN, id="the same twice"),
        pytest.param(loop("a1", "a1", "a1", "b2"), R.CALLS_OPEN, id="it has found out"),
        pytest.param(loop(*ROUND[:7], "c3"), R.CALLS_OPEN, id="something new at last"),
        pytest.param(loop(*ROUND[:6]), R.CALLS_OPEN, id="not for long yet"),
        pytest.param(
            loop(*ROUND, after=[answer(9, calls="a1", completion_tokens=90)]), R.CALLS_OPEN, id="it has grown"
        ),
        pytest.param(
            loop(*ROUND, after=[read("poll", 0, result="ff" * 8), read("poll2", 7, result="ee" * 8)]),
            R.CALLS_OPEN,
            id="it has learnt something",
        ),
        pytest.param(
            loop(*ROUND, after=[read("poll", 0, result="ff" * 8), read("poll2", 7, result="ff" * 8)]),
            R.POSSIBLE_DEAD_LOOP,
            id="it has learnt the same again",
        ),
        pytest.param([answer(seq, calls=None, tool_calls=1) for seq in range(9)], R.CALLS_OPEN, id="unknown calls"),
    ],
)
def test_a_run_that_goes_round_is_stopped(facts: list[Fact], reason: Ground) -> None:
    ruling = decided(facts)

    assert ruling.reason is reason
    assert (ruling.next is N.STOP) is (reason is not R.CALLS_OPEN)
    assert ruling.completion is C.NOT_FINISHED


def test_a_final_answer_ends_a_round() -> None:
    assert decided([*loop("a1", "a1", "a1"), answer(9)]).completion_allowed


def test_a_run_ends_at_its_limit_of_answers() -> None:
    open_ones = [answer(seq, calls=f"{seq:02}") for seq in range(50)]

    assert decided(open_ones[:49]).reason is R.CALLS_OPEN
    assert decided(open_ones).reasons == (R.STEP_LIMIT, R.CALLS_OPEN)
    assert decided(open_ones).next is N.STOP
    assert "after 50 answers" in decided(open_ones).message
    assert decided(open_ones[:5], steps=5).reason is R.STEP_LIMIT
    assert decided([*open_ones[:49], answer(99)]).completion_allowed


def test_of_a_run_that_is_not_kept_whole_nobody_can_say() -> None:
    ruling = decided([answer(1)], overfull=True)

    assert (ruling.reasons, ruling.next) == ((R.OVERFULL,), N.STOP)


def test_the_verdict_of_the_last_answer_is_told() -> None:
    ruling = decided([bad(1, Verdict.EMPTY)])

    assert ruling.verdict is Verdict.EMPTY
    assert decided([]).verdict is None
    assert ruling.message == "The task is not done. The last answer was none: a test (empty)."


def test_the_message_names_a_tool_once_and_of_many_the_first() -> None:
    looked = [read("look", number)._replace(id=f"l{number}") for number in range(8)]
    many = [read(f"tool{number}", 10 + number) for number in range(30)]
    message = decided([*looked, *many, answer(99)]).message

    assert message.startswith("The task is done. Done: `look` (8 times), `tool0`, ")
    assert message.endswith("`tool18` and 11 more.")


def test_the_message_lists_what_failed_and_which_checks() -> None:
    message = decided(
        [wrote("a", 1, F, error="http_400"), wrote("b", 2, X), check(3, Outcome.FAILED), answer(4)]
    ).message

    assert "Failed: `a` (http_400)." in message
    assert "Not ended: `b`." in message
    assert "Checks that failed: `tests`." in message


def test_what_may_have_happened_is_named_to_the_user_though_it_is_not_needed() -> None:
    mail, post = (wrote(name, 1, state, required=False) for name, state in (("mail", U), ("post", X)))
    ruling = decided([mail, post, read("look", 1, U), wrote("update", 2), answer(3)])

    assert (ruling.completion, ruling.reasons) == (C.COMPLETED, (R.AGREED,))
    assert ruling.message == (
        "The task is done. Done: `update`. Nobody knows whether it happened (look before it is done again): `mail`."
        " Not ended: `post`."
    )


def test_who_says_that_something_was_written_after_mere_readings_is_told_so() -> None:
    told: list[Fact] = [answer(1, calls="aa"), read("look", 2), said(3, ACTED)]
    ruling, stopped = decided(told), decided([*told, said(4, ACTED), said(5, ACTED)])

    assert ruling.notice == (
        "You have said that you changed something, but no tool that does so was called."
        " Do what is left, or say what keeps you from it."
    )
    assert (stopped.completion, stopped.next, stopped.notice) == (C.NOT_FINISHED, N.STOP, None)
    assert stopped.message == (
        "The task is not done. The model says that it has changed something, but nothing shows that it has."
        " Done: `look`."
    )
