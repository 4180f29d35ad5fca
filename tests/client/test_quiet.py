import logging
from collections.abc import Callable

import httpx
import pytest

from breaker.client import Door, Firstbyte
from breaker.errors import DoorError

RUN = "goal-of-nobody-else"


def follow_a_run(url: str) -> None:
    """Ask where to, tell of a call that writes, and ask whether the task is done."""
    with Firstbyte(url, session="session-of-nobody-else") as firstbyte:
        firstbyte.known("coder")
        with firstbyte.run(RUN) as run:
            run.tool(refund, effect="write")(7)
            run.done()


def refund(order: int) -> str:
    return f"order {order} is paid back"


def look_at_it(url: str) -> None:
    with Door(url) as door:
        door.run(RUN)


def hear_of_moves(url: str) -> None:
    with Firstbyte(url) as firstbyte, firstbyte.events(route=RUN) as moves, pytest.raises(DoorError):
        next(iter(moves))


@pytest.mark.parametrize("does", [follow_a_run, look_at_it, hear_of_moves])
def test_no_line_of_an_agents_log_names_its_runs_because_of_us(
    url: str, caplog: pytest.LogCaptureFixture, does: Callable[[str], None]
) -> None:
    follow_a_run(url)
    caplog.set_level(logging.DEBUG)
    does(url)

    assert "nobody-else" not in caplog.text
    assert not [record for record in caplog.records if record.name == httpx.__name__]


def test_a_service_that_is_away_or_refuses_is_told_without_naming_runs(
    guarded: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for url in (guarded, "http://127.0.0.1:9"):
        follow_a_run(url)

    assert "going on without the service" in caplog.text
    assert "nobody-else" not in caplog.text


def test_the_agents_own_requests_stand_in_its_log_as_ever(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with Firstbyte(url) as firstbyte, httpx.Client(base_url=url) as client:
        firstbyte.known("coder")
        client.get("/livez")

    assert [record.getMessage() for record in caplog.records if record.name == httpx.__name__] == [
        f'HTTP Request: GET {url}/livez "HTTP/1.1 200 OK"'
    ]
