import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breaker.answer import Ended
from breaker.verdict import Blame, judge
from tests.cases.make import every
from tests.cases.wires import WIRES
from tests.ordinary.answers import KINDS
from tests.wire_properties.reading import GOOD, MARK, PLAIN, STREAMS, before_the_end, ordinary, read

_ENDS = [Ended.COMPLETE, Ended.RESET, Ended.SILENCE]
_SEEN = list(every())


@pytest.mark.parametrize("name", GOOD)
@settings(max_examples=40)
@given(data=st.data())
def test_facts_are_the_same_however_a_good_answer_is_cut(name: str, data: st.DataObject) -> None:
    wire, body = GOOD[name]
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=40))

    assert read(wire, body, cuts=cuts, marks=(MARK,)) == read(wire, body, marks=(MARK,))


@pytest.mark.parametrize("name", GOOD)
def test_facts_are_the_same_byte_by_byte(name: str) -> None:
    wire, body = GOOD[name]

    assert read(wire, body, cuts=range(len(body)), marks=(MARK,)) == read(wire, body, marks=(MARK,))


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=40)
@given(kind=st.sampled_from(sorted(KINDS)), seed=st.integers(0, 999))
def test_facts_are_the_same_event_by_event(wire: str, kind: str, seed: int) -> None:
    body = ordinary(wire, kind, seed)
    ends = [found.end() for found in re.finditer(rb"\n\n", body)]

    assert read(wire, body, cuts=ends) == read(wire, body, cuts=[at for end in ends for at in (end - 9, end)])


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=40)
@given(data=st.data())
def test_facts_are_the_same_however_a_seen_exchange_is_cut(wire: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from([case for case in _SEEN if case["wire"] == wire]))
    body = "".join(chunk.get("data", "") for chunk in case["chunks"]).encode()
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=40))
    status = case["status"] or 200

    assert read(wire, body, cuts=cuts, status=status) == read(wire, body, status=status)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_without_its_end_mark_is_never_fine(name: str) -> None:
    wire, body = STREAMS[name]

    assert not [
        length
        for length in range(0, before_the_end(body) + 1, 3)
        if _is_fine(wire, body[:length], _ENDS[length // 3 % 3])
    ]


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_answer_that_breaks_off_is_never_fine(name: str) -> None:
    wire, body = PLAIN[name]

    assert not [length for length in range(len(body)) if _is_fine(wire, body[:length], _ENDS[length // 3 % 3])]


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=40)
@given(kind=st.sampled_from(sorted(KINDS)), seed=st.integers(0, 999), share=st.floats(0, 1))
def test_a_share_of_an_ordinary_answer_is_never_fine(wire: str, kind: str, seed: int, share: float) -> None:
    body = ordinary(wire, kind, seed)

    assert not _is_fine(wire, body[: int(before_the_end(body) * share)], Ended.COMPLETE)


def _is_fine(wire: str, body: bytes, ended: Ended) -> bool:
    return judge(read(wire, body, ended=ended)[0]).blame is Blame.OK
