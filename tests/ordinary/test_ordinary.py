import random

import pytest

from breaker.answer import Answer, Ended, Source
from breaker.verdict import Blame, Verdict, judge
from breaker.wire.reading import Reading
from tests.cases.said import Said
from tests.cases.wires import WIRES, plain, stream
from tests.ordinary.answers import KINDS

# So many of each kind, in each wire, streamed and plain.
EACH = 16


def read(wire: str, said: Said, *, streamed: bool) -> Answer:
    reading = Reading(wire, streamed=streamed, prompt_bytes=_asked(said), max_tokens=16_000)
    reading.headers(200, {}, 0.2)
    for place, piece in enumerate(stream(wire, said) if streamed else [plain(wire, said)]):
        reading.feed(piece.data, 0.3 + place / 100)
    return reading.end(Ended.COMPLETE, 9.0, target="here/model", id="a", source=Source.REPORT)


def _asked(said: Said) -> int:
    """Text of about four bytes a token."""
    return (said.read or 0) * 4


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_ordinary_answer_is_no_failure(kind: str, wire: str, streamed: bool) -> None:
    for seed in range(EACH):
        said = KINDS[kind](random.Random(f"{kind} {seed}"))

        judgement = judge(read(wire, said, streamed=streamed))

        wanted = Verdict.TOOL_CALL if said.calls else Verdict.OK
        assert (judgement.verdict, judgement.blame) == (wanted, Blame.OK), (seed, said.whole[:200], judgement.why)


def test_there_are_three_hundred_different_answers_and_more() -> None:
    said = {str(make(random.Random(f"{kind} {seed}"))) for kind, make in KINDS.items() for seed in range(EACH)}

    assert len(said) >= 300
