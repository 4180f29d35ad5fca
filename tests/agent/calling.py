"""A model that calls a tool, and what a provider before it may fail with."""

from breaker.answer import Ended
from breaker.exchange import Exchange
from tests.cases.said import Call, Said
from tests.cases.wires import plain, stream

# Where nothing has been shown yet.
FAILURES = ["gateway_text", "cut,tokens=5"]
CALLED = Said(calls=(Call("depth_of", {"lock": 3}),), read=200)


def exchange(wire: str, said: Said, *, streamed: bool) -> Exchange:
    """What is said, as a provider sends it."""
    pieces = stream(wire, said) if streamed else [plain(wire, said)]
    kind = "text/event-stream" if streamed else "application/json"
    return Exchange(
        id="made",
        wire=wire,
        streamed=streamed,
        status=200,
        headers={"content-type": kind},
        chunks=tuple((0.01 * at, piece.data) for at, piece in enumerate(pieces)),
        ended=Ended.COMPLETE,
        end_at_s=0.01 * len(pieces),
    )
