"""What the store writes is read back, and what it can't read hurts nobody."""

import json
from dataclasses import replace

import pytest

from breaker.answer import Answer
from breaker.circuit import Cause, Circuit, Held, Measure, Move, State
from breaker.log import Entry, Weight
from breaker.store import codec
from breaker.verdict import judge
from tests.store.answers import TARGET, failed, good, late, refused, weighed

# What no number and no patience is enough for.
ENDLESS, BOTTOMLESS = "9" * 401, "[" * 100_000
HELD = Held(opened=True, who="ann", why="a trial", since=1.7e9 + 0.123456, until=1.7e9 + 60)
CIRCUITS = [
    Circuit(),
    Circuit(epoch="e", generation=3, cause=Cause.SLOW, moved_at=1.7e9 + 0.654321, open_until=1.7e9 + 600.000001),
    Circuit(epoch="e", generation=12, cause=Cause.RECOVERED, moved_at=1.7e9, held=HELD),
    Circuit(epoch="e", generation=2**40, open_until=0.0),
]


def values(circuit: Circuit, **changes: str | None) -> list[str | None]:
    """A circuit's fields as the server gives them."""
    return list(({**codec.write_circuit(circuit)} | changes).values())


def entry(**changes: object) -> Entry:
    answer = good("a", squeeze=0.5)
    judgement = judge(answer)
    made = Entry(answer=answer, verdict=judgement.verdict, blame=judgement.blame, at=1.7e9 + 0.25, began=1.7e9)
    return replace(made, **changes)  # type: ignore[arg-type] # fields of Entry


def written(**changes: object) -> str:
    """An entry as the script writes it."""
    answer = good("a", squeeze=0.5)
    said = json.loads("{" + codec.write_members(weighed(answer)))
    return json.dumps({"id": "a", "at": 1.7e9 + 0.25, "began": 1.7e9, "late": False, "kind": "ok"} | said | changes)


@pytest.mark.parametrize("circuit", CIRCUITS)
def test_a_circuit_comes_back(circuit: Circuit) -> None:
    assert codec.read_circuit(values(circuit)) == circuit
    assert codec.read_announcement(codec.write_announcement(TARGET, circuit)) == (TARGET, circuit)


@pytest.mark.parametrize(
    "changes",
    [
        {"epoch": None},
        {"generation": "x"},
        {"moved_at": ""},
        {"open_until": "soon"},
        {"held": "{}"},
        {"held": "[1"},
        {"held": BOTTOMLESS},
        {"held": f'{{"opened":true,"who":"ann","why":"","since":0,"until":{ENDLESS}}}'},
    ],
    ids=lambda changes: "-".join(f"{name} {value}"[:24] for name, value in changes.items()),
)
def test_a_damaged_circuit_is_none_at_all(changes: dict[str, str | None]) -> None:
    assert codec.read_circuit(values(CIRCUITS[1], **changes)) == Circuit()


def test_a_circuit_that_is_not_there_has_never_moved() -> None:
    assert codec.read_circuit([None] * 6) == Circuit()


def test_a_cause_of_another_version_leaves_the_circuit_open() -> None:
    assert codec.read_circuit(values(CIRCUITS[1], cause="weather")) == replace(CIRCUITS[1], cause=None)


def test_an_entry_comes_back() -> None:
    assert codec.read_entry(written(), {}) == entry()
    assert codec.read_entry(written(late=True), {}) == entry(late=True)


def test_an_entry_of_an_answer_just_written_is_not_read_from_its_text() -> None:
    answer = weighed(good("a", squeeze=0.5))
    times = '"at":1700000000.25,"began":1700000000.0,"late":false'
    text = f'{{"id":"a",{times},"kind":"ok",{codec.write_members(answer)}'

    found = codec.read_entry(text, {codec.write_members(answer): answer})

    assert found == codec.read_entry(text, {}) == entry()
    assert found.answer is answer.answer


def test_a_fact_of_another_version_is_left_out() -> None:
    facts = good("a", squeeze=0.5).facts() | {"mood": "fine"}

    assert codec.read_entry(written(answer=facts), {}) == entry()


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": "unheard-of"},
        {"blame": None},
        {"at": "now"},
        {"answer": None},
        {"answer": {"id": "a"}},
        {"answer": good("a").facts() | {"ended": "exploded"}},
        {"answer": good("a").facts() | {"seconds": -1}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_entry_of_another_version_is_left_out(changes: dict[str, object]) -> None:
    assert codec.read_entry(written(**changes), {}) is None


@pytest.mark.parametrize(
    "text",
    ["", "hush", "[]", "3", "null", '{"answer":{}}', "\x00", BOTTOMLESS, f'{{"at":{ENDLESS}}}'],
    ids=lambda text: repr(text[:24]),
)
def test_nonsense_is_left_out(text: str) -> None:
    assert codec.read_entry(text, {}) is None
    assert codec.read_move(text) is None
    assert codec.read_announcement(text) is None


@pytest.mark.parametrize("circuit", CIRCUITS)
def test_a_move_comes_back_with_its_answers(circuit: Circuit) -> None:
    move = Move(
        at=1.7e9 + 0.000001,
        before=State.CLOSED,
        after=State.OPEN,
        cause=Cause.ERRORS,
        why="2 in a row: “bad” é",
        circuit=circuit,
        answers=(entry(), entry(late=True)),
        measures=(Measure("slow_s", 43.1, 40.0), Measure("slow_row", 2, 2)),
    )

    assert codec.read_move(codec.write_move(move)) == move


@pytest.mark.parametrize(
    ("answer", "weight", "kind"),
    [
        (good("a"), Weight.GOOD, "ok"),
        (good("a"), Weight.SLOW, "late"),
        (failed("a"), Weight.FAILED, "failure"),
        (failed("a"), Weight.REFUSED, "nothing"),
        (failed("a"), Weight.THROTTLED, "nothing"),
        (refused("a"), Weight.NOTHING, "nothing"),
        (late("a"), Weight.SLOW, "late"),
    ],
    ids=lambda value: value.value if isinstance(value, Weight) else "",
)
def test_each_answer_is_of_one_kind(answer: Answer, weight: Weight, kind: str) -> None:
    assert codec.kind(answer, weight) == kind


@pytest.mark.parametrize(
    "text", ["", "1 2 3", "1 2 3 4 5 six", "1 2 3 4 5 6 7", f"{ENDLESS} 2 3 4 5 6"], ids=lambda text: text[:24]
)
def test_a_bin_of_another_version_is_left_out(text: str) -> None:
    assert codec.read_bin(text) is None


@pytest.mark.parametrize("text", ["", "960 0 what", f"{ENDLESS} 960 0 0 ok{' 0' * 12}"], ids=lambda text: text[:24])
def test_a_slot_of_another_version_is_left_out(text: str) -> None:
    assert codec.read_slot(text) is None


def test_what_is_written_is_one_line_of_ascii() -> None:
    answer = weighed(good("é\n\t\ud800"))
    line = codec.write_weighed(answer, 0.0, codec.write_members(answer))

    assert line.endswith("\n")
    assert line.isascii()
    assert [part.isprintable() for part in line[:-1].split("\t")] == [True] * 3
