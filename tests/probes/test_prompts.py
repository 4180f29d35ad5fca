import json
import random
import re
import zlib

import pytest

from breaker.wire import READERS
from monitor.probe import filler, prompts
from monitor.probe.tools import TOOLS
from monitor.settings import ProbeShape

MARK = re.compile(r"FB-[0-9A-F]{8}")


def build(seed: int, **shape: object) -> prompts.Probe:
    return prompts.build(ProbeShape(**shape), random.Random(seed))  # type: ignore[arg-type] # a shape's numbers


@pytest.mark.parametrize("stable", [False, True], ids=["fresh", "stable prefix"])
@pytest.mark.parametrize("tokens", [1_000, 9_000, 60_000])
def test_a_probe_is_as_large_as_its_shape_says(tokens: int, stable: bool) -> None:
    question = build(1, prompt_tokens=tokens, stable_prefix=stable, max_tokens=77).question

    assert question.prompt_bytes == pytest.approx(tokens * prompts.BYTES_PER_TOKEN, rel=0.01)
    assert question.max_tokens == 77


@pytest.mark.parametrize("wire", READERS)
def test_the_request_of_each_wire_is_no_smaller_than_the_question(wire: str) -> None:
    question = build(1).question

    assert len(json.dumps(READERS[wire].request("m", question, streamed=True).body)) > question.prompt_bytes * 0.99


@pytest.mark.parametrize("stable", [False, True], ids=["fresh", "stable prefix"])
def test_the_marks_stand_at_start_middle_and_end_and_nowhere_else(stable: bool) -> None:
    question, marks = build(1, stable_prefix=stable)
    places = [found.start() / len(question.prompt) for found in MARK.finditer(question.prompt)]

    assert tuple(MARK.findall(question.prompt)) == marks
    assert len(set(marks)) == 3
    assert places[0] < 0.05
    assert 0.45 < places[1] < 0.55
    assert places[2] > 0.95
    assert MARK.search(question.system + json.dumps([dict(tool.schema) for tool in question.tools])) is None


def test_two_probes_differ_from_the_first_line_of_each_part_on() -> None:
    one, two = build(1).question, build(2).question

    assert one.system.splitlines()[0] != two.system.splitlines()[0]
    assert one.tools[0].description != two.tools[0].description
    assert len(set(one.prompt.splitlines()) & set(two.prompt.splitlines())) < 20


def test_with_a_stable_prefix_only_what_follows_the_last_mark_differs() -> None:
    (one, one_marks), (two, two_marks) = build(1, stable_prefix=True), build(2, stable_prefix=True)

    assert (one.system, one.tools) == (two.system, two.tools)
    assert one.prompt.split(one_marks[2]) == two.prompt.split(two_marks[2])
    assert one_marks[:2] == two_marks[:2]
    assert one_marks[2] != two_marks[2]


def test_the_same_random_source_gives_the_same_probe() -> None:
    assert build(7) == build(7)


def test_a_shape_smaller_than_the_bare_question_gives_the_bare_question() -> None:
    question, marks = build(1, prompt_tokens=1)

    assert question.tools == ()
    assert all(mark in question.prompt for mark in marks)
    assert question.prompt_bytes < 2_000


def test_a_model_that_can_call_no_tools_gets_a_question_of_the_same_size_without_any() -> None:
    question = prompts.build(ProbeShape(), random.Random(1), tools=False).question

    assert question.tools == ()
    assert question.prompt_bytes == pytest.approx(build(1).question.prompt_bytes, rel=0.01)


def test_the_filler_is_no_repetition() -> None:
    text = "".join(filler.lines(random.Random(1), 30_000)).encode()

    assert len(zlib.compress(text)) / len(text) > 0.25
    assert len(set(text.splitlines())) > 0.8 * len(text.splitlines())


@pytest.mark.parametrize("size", [-5, 0, 1, 2, 79, 4_000])
def test_the_filler_has_exactly_its_size(size: int) -> None:
    text = "".join(filler.lines(random.Random(size), size))

    assert len(text.encode()) == max(size, 0)
    assert text.isascii()
    assert not text or text.endswith("\n")


def test_the_tools_are_those_of_an_agent() -> None:
    names = [tool.name for tool in TOOLS]

    assert len(set(names)) == len(names) >= 10
    for tool in TOOLS:
        assert tool.schema["type"] == "object"
        assert set(tool.schema["required"]) <= set(tool.schema["properties"])  # type: ignore[call-overload] # a schema
