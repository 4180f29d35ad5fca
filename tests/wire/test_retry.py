import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.wire.retry import MAX_RETRY_S, retry_after_s

DATE = "Mon, 30 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"retry-after": "17"}, 17.0, id="seconds"),
        pytest.param({"retry-after": "0"}, 0.0, id="at once"),
        pytest.param({"retry-after": "0.5"}, 0.5, id="parts of a second"),
        pytest.param({"retry-after": "17", "retry-after-ms": "250"}, 0.25, id="milliseconds are finer"),
        pytest.param({"retry-after": "17", "retry-after-ms": "soon"}, 17.0, id="unreadable milliseconds"),
        pytest.param({"retry-after": "1e99"}, MAX_RETRY_S, id="for ever"),
        pytest.param({"retry-after": "-4"}, None, id="negative"),
        pytest.param({"retry-after": "nan"}, None, id="no number"),
        pytest.param({"retry-after": "soon"}, None, id="a word"),
        pytest.param({"retry-after": "Mon, 30 Nov 2026 10:01:30 GMT", "date": DATE}, 90.0, id="a date"),
        pytest.param({"retry-after": "Mon, 30 Nov 2026 09:00:00 GMT", "date": DATE}, 0.0, id="a date gone by"),
        pytest.param({"retry-after": "Mon, 30 Nov 2026 10:01:30 GMT"}, None, id="a date without the response's own"),
        pytest.param({"retry-after": "Mon, 30 Nov 99999999 10:01:30 GMT", "date": DATE}, None, id="a date far out"),
    ],
)
def test_a_wait_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


@given(st.text(), st.text(), st.text())
def test_no_header_raises(retry: str, milliseconds: str, date: str) -> None:
    found = retry_after_s({"retry-after": retry, "retry-after-ms": milliseconds, "date": date})

    assert found is None or 0 <= found <= MAX_RETRY_S
