"""The client needs one HTTP library of two, and loads nothing before it is needed."""

import pytest

from tests.client.test_troubles import ran

_BOTH = """
import asyncio, contextlib, sys
sys.modules[{without!r}] = None
from breaker.client import AsyncFirstbyte, Firstbyte
from breaker.client.http import httpx
from tests.api.world import good
assert httpx.__name__ == {by!r}, httpx
url = sys.argv[1]
with Firstbyte(url, fallback=[]) as firstbyte:
    to = None
    while to is None:
        to = firstbyte.known('coder')
    print(to.target, firstbyte.report(**good('a')))
    while firstbyte.waiting:
        pass
    with firstbyte.events() as events:
        while events.after is None:
            pass
print(firstbyte.dropped, firstbyte.refused)
async def step():
    async with AsyncFirstbyte(url) as firstbyte:
        to = None
        while to is None:
            to = await firstbyte.known('coder')
        print(to.target, firstbyte.report(**good('b')))
    print(firstbyte.dropped)
asyncio.run(step())
"""


@pytest.mark.parametrize(("by", "without"), [("httpx", "httpx2"), ("httpx2", "httpx")])
def test_the_client_works_with_each_library_alone(url: str, by: str, without: str) -> None:
    said = ran(_BOTH.format(by=by, without=without), url)

    assert said == "zai/glm-5.3-flash ok\n0 0\nzai/glm-5.3-flash ok\n0\n"


@pytest.mark.parametrize(
    ("loaded", "chosen"),
    [("import httpx2", "httpx2"), ("import httpx2, httpx", "httpx"), ("import httpx", "httpx"), ("pass", "httpx")],
)
def test_what_an_agent_has_loaded_already_is_used(loaded: str, chosen: str) -> None:
    said = ran(f"{loaded}\nfrom breaker.client.http import httpx\nprint(httpx.__name__)", "")

    assert said == f"{chosen}\n"


def test_loading_the_client_loads_nothing_that_a_step_may_not_need() -> None:
    late = ("asyncio", "breaker.answer", "breaker.circuit", "breaker.route", "breaker.wire", "breaker.client.running")
    said = ran(
        "import sys, httpx\nbefore = set(sys.modules)\nimport breaker.client\n"
        f"print([name for name in {late} if name in sys.modules and name not in before])",
        "",
    )

    assert said == "[]\n"
