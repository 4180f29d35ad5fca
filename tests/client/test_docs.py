"""What docs/client.md says can be done."""

import re
import textwrap
import threading

from breaker.client import AsyncFirstbyte, Decision, Firstbyte, Moved, Source
from tests.client.serving import ROOT, Service, eventually
from tests.client.test_events import hold
from tests.client.test_troubles import ran

PAGE = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
FIRST, EVENTS, RUN = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_its_first_lines_work(url: str) -> None:
    code = FIRST.replace("Firstbyte(fallback", "Firstbyte(sys.argv[1], fallback")

    assert ran(f"import sys\n{code}\nprint(to.target, firstbyte.dropped)", url) == "zai/glm-5.3-flash 0\n"


def test_its_lines_for_moves_work(service: Service) -> None:
    said = list[str]()
    code = f"import sys\nfrom breaker.client import Firstbyte\n{EVENTS}".replace(
        "Firstbyte()", "Firstbyte(sys.argv[1])"
    )
    reading = threading.Thread(target=lambda: said.append(ran(code, service.url)))
    reading.start()
    opened = False

    def told() -> bool:
        nonlocal opened
        opened = not opened
        hold(service.url, opened=opened)  # until the reader is there
        return said != []

    eventually(told, "a move is told")
    reading.join(20)

    assert re.fullmatch(r"zai/glm-5\.3-flash held-(open|closed) by hand, anna: new plan\n", said[0])


def test_it_tells_of_all_that_is_added_to_a_decision_and_of_each_source() -> None:
    told = set(re.findall(r"`(\w+)`", PAGE))

    assert set(Source) <= told
    assert {"switched", "source", "slow_s", "silence_s", "able"} <= told & set(Decision.__dataclass_fields__)
    assert {"target", "before", "after", "cause", "why"} <= set(Moved.__dataclass_fields__)


def test_it_tells_of_every_method_and_argument() -> None:
    public = {name for kind in (Firstbyte, AsyncFirstbyte) for name in dir(kind) if not name.startswith("_")}
    public -= {"answer", "do", "is_silent", "now", "place"}  # for runs, which are its own
    arguments = {"url", "token", "fallback", "session", "strict"}

    assert public - {"close", "aclose"} - {"url"} == {
        "besides", "dropped", "events", "expect", "known", "refused", "report", "route", "run", "waiting",
    }  # fmt: skip
    assert {f"`{name}" for name in (public - {"aclose"}) | arguments} <= set(re.findall(r"`\w+", PAGE))


def test_its_lines_for_a_task_work(url: str) -> None:
    code = "import sys\nfrom breaker.client import Firstbyte\nwith Firstbyte(sys.argv[1]) as firstbyte:\n"

    said = ran(code + textwrap.indent(RUN, "    "), url)

    assert said.strip() == "The task is not done. The model hasn't answered."
