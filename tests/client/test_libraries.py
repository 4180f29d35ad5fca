"""The client needs one HTTP library of two, and loads nothing before it is needed."""

import pytest

from breaker.client import transport
from tests.client.serving import answering
from tests.client.test_troubles import ran, saying

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


@pytest.mark.parametrize("what", ["breaker.client", "breaker.client.transport"])
def test_loading_the_client_loads_nothing_that_a_step_may_not_need(what: str) -> None:
    late = (
        "asyncio",
        "breaker.answer",
        "breaker.attempt",
        "breaker.circuit",
        "breaker.route",
        "breaker.verdict",
        "breaker.wire",
        "breaker.client.running",
    )
    said = ran(
        f"import sys, httpx\nbefore = set(sys.modules)\nimport {what}\n"
        f"print([name for name in {late} if name in sys.modules and name not in before])",
        "",
    )

    assert said == "[]\n"


def test_all_names_of_the_transport_are_there_when_they_are_asked_for() -> None:
    assert all(isinstance(getattr(transport, name), type) for name in transport.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        transport.Nothing  # type: ignore[attr-defined] # that is what is shown # noqa: B018


_FIRST_STEP = """
import sys, httpx
from breaker.client import Decision
from breaker.client.transport import Transport
from tests.client.serving import decision
class Guide:
    def route(self, name=None):
        return Decision.read(decision(base_url=sys.argv[1] + "/v1", wire="openai-chat", api_key_env=None))
    def besides(self, tried, name=None):
        return None
    def report(self, answer):
        pass
with httpx.Client(transport=Transport(guide=Guide())) as client:
    before = set(sys.modules)
    came = client.post("http://nowhere.invalid/v1/chat/completions", json={"model": "m", "messages": []})
    print(came.json()["choices"][0]["message"]["content"])
    print(sorted(name for name in set(sys.modules) - before if name.startswith("breaker")))
"""


def test_a_transport_that_was_made_has_nothing_to_load_at_its_first_step() -> None:
    said = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
    with answering(saying("200 OK", said)) as url:
        assert ran(_FIRST_STEP, url) == "Yes.\n[]\n"
