"""Bodies of which all is sound are read at once, and read the same as one by one."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breaker.answer import FACTS, Answer, Fact
from breaker.api import bodies, reports
from breaker.api.problems import ProblemError
from breaker.api.reports import Reader
from breaker.api.reports.sound import MAX_BYTES, Sound
from tests.api.world import BACKUP, PRIMARY, failed, good

NAMES, PHRASES, MOST = (PRIMARY.name, BACKUP.name), ("no-channel", "like-quota"), 5
SOUND = Sound(NAMES, PHRASES, MOST)
READER = Reader(lambda: NAMES, PHRASES)


def one_by_one(body: bytes) -> list[object]:
    """What is read of each report; empty where the body is none of reports."""
    try:
        items = reports.items(bodies.parsed(body))
    except ProblemError:
        return []
    return [READER.read(index, item) for index, item in enumerate(items)]


def check(body: bytes) -> list[Answer] | None:
    """Read a body both ways; gives what was read at once."""
    found = SOUND.read(body)
    if found is not None:
        read = one_by_one(body)
        assert found == read
        assert [list(map(repr, one.facts().items())) for one in found] == [
            list(map(repr, one.facts().items())) for one in read if isinstance(one, Answer)
        ]
    return found


def value_of(fact: Fact) -> st.SearchStrategy[object]:
    """Values that a fact may have, and some that it may not."""
    fitting: st.SearchStrategy[object]
    if fact.name == "target":
        fitting = st.sampled_from(NAMES)
    elif fact.words is not None:
        fitting = st.sampled_from(list(fact.words))
    elif fact.kind is float:
        fitting = st.floats(0, 1e12) | st.integers(0, 10**12)
    elif fact.kind is int:
        fitting = st.integers(0, 10**12)
    elif fact.kind is bool:
        fitting = st.booleans()
    else:
        fitting = st.sampled_from([*PHRASES, "openai-chat", "step-7", "ß", "x" * 64])
    return st.one_of(*[fitting] * 20, st.none(), ODD) if not fact.optional else st.one_of(*[fitting] * 20, ODD)


ODD = st.sampled_from(
    [
        None,
        True,
        1,
        0,
        -1,
        -0.0,
        1.5,
        1e999,
        math.nan,
        10**13,
        10**400,
        2**53 + 1,
        "",
        "psst",
        "x" * 65,
        "\x00",
        "\ud800",
    ]
) | st.sampled_from([[], {}, [1], "stop", "final", "report", "probe", "complete", "pending"])
NEEDED = {"target": value_of(FACTS["target"]), "id": st.sampled_from(["a", "step-7", "ü-1"])} | {
    name: value_of(FACTS[name]) for name in ("ended", "seconds")
}
MORE = {name: value_of(fact) for name, fact in FACTS.items() if name not in NEEDED}
REPORT = st.fixed_dictionaries(NEEDED, optional=MORE | {"text": ODD})
KEPT = st.sets(st.sampled_from([*MORE, "text"]), max_size=6)


def sparse(facts: dict[str, object], kept: set[str]) -> dict[str, object]:
    """A report as agents make them: most have few facts."""
    return {name: value for name, value in facts.items() if name in NEEDED or name in kept}


@settings(max_examples=600)
@given(
    found=st.lists(st.builds(sparse, REPORT, KEPT), min_size=1, max_size=MOST + 1), alone=st.booleans(), data=st.data()
)
def test_what_is_read_at_once_is_what_is_read_one_by_one(found: list[object], alone: bool, data: st.DataObject) -> None:
    text = json.dumps(found[0] if alone else found, ensure_ascii=data.draw(st.booleans()))
    body = text.encode(errors="surrogatepass")
    check(body)
    place = data.draw(st.integers(0, len(body)))
    check(
        body[:place]
        + data.draw(st.sampled_from([b"", b"\n", b" ", b"0", b"-", b"NaN", b'"', b"\xff", b","]))
        + body[place:]
    )


@pytest.mark.parametrize(
    "body", [good("a"), [good("a")], [good(f"{i}") for i in range(MOST)], [failed("a"), good("ß")]]
)
def test_what_agents_send_is_read_at_once(body: object) -> None:
    found = check(json.dumps(body).encode())

    assert found is not None


def test_every_fact_that_a_report_may_have_is_read_at_once() -> None:
    values: dict[type, object] = {float: 1, int: 3, bool: True, str: "step"}
    facts = {name: next(iter(fact.words)) if fact.words else values[fact.kind] for name, fact in FACTS.items()}
    facts |= {"target": PRIMARY.name, "phrase": PHRASES[0], "other_wire": "openai-chat", "source": "report"}
    facts |= {"confirms": None, "part": "final", "status": 200}

    found = check(json.dumps(facts).encode())

    assert found is not None
    assert found[0].facts().keys() == FACTS.keys() - {"source", "confirms", "part", "streamed"}


ASIDE: list[object] = [
    pytest.param(b'{"seconds": NaN, ' + json.dumps(good()).encode()[1:], id="no JSON"),
    pytest.param(json.dumps(good()).encode("utf-16"), id="of another encoding"),
    pytest.param(b"\xef\xbb\xbf" + json.dumps(good()).encode(), id="with a byte order mark"),
    pytest.param(b" " + json.dumps(good()).encode(), id="with a blank before"),
    pytest.param(json.dumps({**good(), "source": "probe"}).encode(), id="of somebody who says that it's a probe"),
    pytest.param(json.dumps([good()]).encode() + b" " * MAX_BYTES, id="long"),
    pytest.param(json.dumps([good()] * (MOST + 1)).encode(), id="too many"),
    pytest.param(b"[]", id="none"),
    pytest.param(json.dumps({**good(), "confirms": "x"}).encode(), id="that confirms"),
    pytest.param(json.dumps(good(target=BACKUP) | {"target": "other/target"}).encode(), id="of an unknown target"),
    pytest.param(json.dumps(good("\x7f")).encode(), id="with an id that can't be printed"),
]


@pytest.mark.parametrize("body", ASIDE)
def test_all_else_is_left_to_be_read_one_by_one(body: bytes) -> None:
    assert SOUND.read(body) is None


@pytest.mark.parametrize(
    ("twice", "seconds"),
    [
        (b'"seconds": "x", "seconds": 2', 2.0),
        (b'"seconds": 1, "seconds": 2', 2.0),
        (b'"seconds": [{}], "seconds": 2', 2.0),
    ],
)
def test_of_a_fact_that_is_told_twice_the_last_one_counts(twice: bytes, seconds: float) -> None:
    told = b'{"target": "%s", "id": "a", "ended": "complete", %s}' % (PRIMARY.name.encode(), twice)

    found = check(told)

    assert found is None or found[0].seconds == seconds
