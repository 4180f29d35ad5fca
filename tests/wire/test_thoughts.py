import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.wire.thoughts import Thoughts


def split(*pieces: str) -> tuple[str, str]:
    """All that is seen and all that is thought."""
    thoughts = Thoughts()
    parts = [*map(thoughts.split, pieces), thoughts.rest()]
    return "".join(seen for seen, _ in parts), "".join(thought for _, thought in parts)


@pytest.mark.parametrize(
    ("text", "seen", "thought"),
    [
        pytest.param("At nine.", "At nine.", "", id="no tag"),
        pytest.param("<think>Hm.</think>At nine.", "At nine.", "Hm.", id="thoughts first"),
        pytest.param("\n<thinking>\nHm.\n</thinking>\n\nAt nine.", "\n\nAt nine.", "\nHm.\n", id="the longer tag"),
        pytest.param("<think>a</think><think>b</think>c", "c", "ab", id="thoughts twice"),
        pytest.param("<think>Hm. <b>so</b>", "", "Hm. <b>so</b>", id="thoughts without an end"),
        pytest.param("<think>Hm.</thi", "", "Hm.</thi", id="half an end"),
        pytest.param("<think>", "", "", id="the tag alone"),
        pytest.param("<thin air>", "<thin air>", "", id="nearly a tag"),
        pytest.param("<thi", "<thi", "", id="half a tag"),
        pytest.param("  ", "  ", "", id="blanks"),
        pytest.param(" " * 20 + "a", " " * 20 + "a", "", id="many blanks"),
        pytest.param("Use <think>…</think> for it.", "Use <think>…</think> for it.", "", id="a tag that is spoken of"),
        pytest.param("", "", "", id="nothing"),
    ],
)
def test_thoughts_are_told_from_text_however_they_are_cut(text: str, seen: str, thought: str) -> None:
    assert split(text) == (seen, thought)
    assert split(*text) == (seen, thought)


@given(st.text(alphabet="<>/think ab"), st.data())
def test_no_cut_changes_it_and_nothing_is_lost(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]

    assert split(*pieces) == split(text)
    assert set(text) >= set("".join(split(text)))
