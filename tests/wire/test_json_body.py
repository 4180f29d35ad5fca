import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.wire.json_body import ArrayEvents
from breaker.wire.sse import MAX_EVENT

_values = st.recursive(
    st.none() | st.integers() | st.text(alphabet='ab{}[]"\\,é'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='a"\\{]'), inner, max_size=3),
    max_leaves=8,
)


def cut(body: bytes, cuts: list[int]) -> list[str]:
    """What a body's elements are, read in pieces."""
    events = ArrayEvents()
    edges = [0, *sorted(cuts), len(body)]
    found = [event.data for a, b in itertools.pairwise(edges) for event in events.feed(body[a:b])]
    return found + [event.data for event in events.close()]


@given(
    st.lists(st.dictionaries(st.text(alphabet='a"\\{]'), _values, max_size=3)),
    st.sampled_from([None, 2]),
    st.booleans(),
    st.data(),
)
def test_each_element_is_an_event_however_it_is_cut(
    elements: list[object], indent: int | None, escaped: bool, data: st.DataObject
) -> None:
    body = json.dumps(elements, indent=indent, ensure_ascii=escaped).encode()
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=12))

    assert [json.loads(event) for event in cut(body, cuts)] == elements


@pytest.mark.parametrize(
    ("body", "events"),
    [
        pytest.param(b"[]", [], id="an empty list"),
        pytest.param(b'[{"a": 1},\r\n', ['{"a": 1}'], id="cut between elements"),
        pytest.param(b'[{"a": 1}\n,{"b', ['{"a": 1}', '{"b'], id="cut within one"),
        pytest.param(b'[{"a": "}\\', ['{"a": "}\\'], id="cut within a text"),
        pytest.param(b'[{"a": 1}]\n{"error": {}}', ['{"a": 1}', '{"error": {}}'], id="more behind it"),
        pytest.param(b'[{"a": 1}]\n\n', ['{"a": 1}'], id="blank lines behind it"),
    ],
)
def test_bodies_are_read_to_their_end(body: bytes, events: list[str]) -> None:
    assert cut(body, []) == events
    assert cut(body, [*range(len(body))]) == events


def test_an_element_comes_as_soon_as_it_is_whole() -> None:
    events = ArrayEvents()

    assert [event.data for event in events.feed(b'[{"a": 1}')] == ['{"a": 1}']
    assert list(events.feed(b',\n{"b": 2')) == []
    assert [event.data for event in events.feed(b"}")] == ['{"b": 2}']


def test_an_element_that_is_too_long_is_dropped_and_counted() -> None:
    events = ArrayEvents()
    body = b'[{"a": "' + b"x" * MAX_EVENT + b'"},{"b": 2}]'

    assert [event.data for event in events.feed(body)] == ['{"b": 2}']
    assert events.dropped == 1
