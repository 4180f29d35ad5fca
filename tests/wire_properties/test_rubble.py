import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from breaker.answer import Ended
from breaker.verdict import judge
from tests.cases.said import dump, event
from tests.cases.wires import WIRES
from tests.wire_properties.reading import GOOD, PLAIN, STREAMS, read

_ENDS = [Ended.COMPLETE, Ended.RESET, Ended.SILENCE]
_SCRAPS = [
    b"data: ",
    b"\n\n",
    b"\r",
    b"event: error\n",
    b'{"error":',
    b"[DONE]",
    b"\xf0\x9f",
    b'"\\ud83d"',
    b"[" * 50,
    b"{" * 50,
]


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=60)
@given(body=st.binary(max_size=400), status=st.sampled_from([200, 400, 429, 500]), ended=st.sampled_from(_ENDS))
@example(body=b"data: " + b'{"a":' * 20_000 + b"\n\n", status=200, ended=Ended.COMPLETE)
@example(body=b"[" * 100_000, status=200, ended=Ended.COMPLETE)
@example(body=b'{"n": ' + b"9" * 9_000 + b"}", status=200, ended=Ended.COMPLETE)
@example(body=b"data: " * 9_000, status=500, ended=Ended.RESET)
def test_no_bytes_raise(wire: str, body: bytes, status: int, ended: Ended) -> None:
    for streamed in (True, False):
        judge(read(wire, body, status=status, streamed=streamed, ended=ended)[0])


@pytest.mark.parametrize("name", GOOD)
@settings(max_examples=30)
@given(data=st.data())
def test_no_change_of_a_good_answer_raises(name: str, data: st.DataObject) -> None:
    wire, body = GOOD[name]
    changed = bytearray(body)
    for _ in range(data.draw(st.integers(1, 5))):
        at, until = sorted((data.draw(st.integers(0, len(changed))), data.draw(st.integers(0, len(changed)))))
        changed[at : min(until, at + 60)] = data.draw(st.sampled_from(_SCRAPS) | st.binary(max_size=20))

    judge(read(wire, bytes(changed))[0])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("x" * 300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_BODIES = {name: (wire, json.loads(body)) for name, (wire, body) in PLAIN.items()}
_EVENTS = {
    name: (wire, [json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: {")])
    for name, (wire, body) in STREAMS.items()
    if body.startswith((b"data: ", b"event: "))
}


@pytest.mark.parametrize("name", _BODIES)
@settings(max_examples=30)
@given(data=st.data())
def test_no_plain_answer_with_values_of_other_types_raises(name: str, data: st.DataObject) -> None:
    wire, body = _BODIES[name]

    judge(read(wire, dump(_twisted(body, data)).encode(errors="replace"), streamed=False)[0])


@pytest.mark.parametrize("name", _EVENTS)
@settings(max_examples=30)
@given(data=st.data())
def test_no_event_with_values_of_other_types_raises(name: str, data: st.DataObject) -> None:
    wire, events = _EVENTS[name]
    place = data.draw(st.integers(0, len(events) - 1))
    changed = [*events[:place], _twisted(events[place], data), *events[place + 1 :]]

    judge(read(wire, b"".join(event(one).data for one in changed))[0])


def _twisted(value: object, data: st.DataObject) -> object:
    """The value with something else in one place."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 5)):
        name = data.draw(st.sampled_from(sorted(value)))
        return {**value, name: _twisted(value[name], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 5)):
        place = data.draw(st.integers(0, len(value) - 1))
        return [*value[:place], _twisted(value[place], data), *value[place + 1 :]]
    return data.draw(_JSON)
