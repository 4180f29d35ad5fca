"""Good answers in each wire, and their reading in any cut of the bytes."""

import itertools
import random
import re
import time
from collections.abc import Iterable, Sequence

from breaker.answer import Answer, Ended, Source
from breaker.wire.reading import Reading
from tests.cases import gemini
from tests.cases.said import Call, Said, joined, words
from tests.cases.wires import CHAT, GEMINI, WIRES, plain, stream
from tests.ordinary.answers import KINDS

MARK = "A-17"
# What takes so much of a processor's time for so little hangs; a machine that is busy with others takes no more of it.
HANGS_S = 10.0
_SAID = {
    "text": Said(text=(*words("Größe 12 µm, 「風」 🛶🏔️ — the mark is "), MARK, " ।")),
    "one word": Said(text=("Yes",), written=1),
    "a call": Said(calls=(Call("open", {"path": "日誌/🛶.md", "at": [1, 2]}), Call("close", {}))),
    "all of it": Said(text=("So: ", "open it."), thoughts=("First ", "this."), calls=(Call("open", {"path": "x"}),)),
    "uncounted": Said(text=("The third ", "lock."), read=None),
}
# Streamed answers by name, each with its wire and bytes.
STREAMS: dict[str, tuple[str, bytes]] = {
    f"{wire}, {name}": (wire, joined(stream(wire, said))) for wire in WIRES for name, said in _SAID.items()
}
STREAMS["gemini, a list"] = (GEMINI, joined(gemini.array(_SAID["text"])))
STREAMS["openai-chat, lines of json"] = (
    CHAT,
    (
        b'{"model":"oak","message":{"role":"assistant","content":"Gr\xc3\xb6\xc3\x9fe"},"done":false}\n'
        b'{"model":"oak","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n'
    ),
)
PLAIN: dict[str, tuple[str, bytes]] = {
    f"{wire}, {name}, plain": (wire, plain(wire, said).data) for wire in WIRES for name, said in _SAID.items()
}
GOOD = STREAMS | PLAIN


# Where the event begins that ends an answer: quotes inside of a text are escaped, so no text can say the same.
_END = re.compile(rb'"(finish_reason|stop_reason|finishReason)": ?"|"done":true|event: response.completed\n')


def before_the_end(body: bytes) -> int:
    """How many bytes come before the end mark."""
    found = _END.search(body)
    assert found is not None
    return found.start()


def ordinary(wire: str, kind: str, seed: int) -> bytes:
    """The bytes of an ordinary answer of a kind."""
    return joined(stream(wire, KINDS[kind](random.Random(seed))))


def read(
    wire: str,
    body: bytes,
    *,
    cuts: Iterable[int] = (),
    status: int = 200,
    streamed: bool = True,
    ended: Ended = Ended.COMPLETE,
    marks: Sequence[str] = (),
) -> tuple[Answer, str | None]:
    """The facts and the last word of an exchange whose bytes came within one moment, cut at `cuts`."""
    began = time.thread_time()
    reading = Reading(wire, streamed=streamed, prompt_bytes=3_000, marks=marks, max_tokens=900)
    reading.headers(status, {}, 0.1)
    edges = [0, *sorted(cuts), len(body)]
    for at, until in itertools.pairwise(edges):
        reading.feed(body[at:until], 0.2)
    answer = reading.end(ended, 0.3, target="here/model", id="a1", source=Source.REPORT)
    assert time.thread_time() - began < HANGS_S
    return answer, reading.finish_word
