"""Answers for tests of the store: each is one line."""

from breaker.answer import Answer, Ended, Finish, Part, Source
from breaker.history import Keep
from breaker.log import Entry, weigh
from breaker.policy import Policy
from breaker.store.contract import Reading, Weighed
from breaker.store.redis import RedisStore
from breaker.verdict import judge

TARGET = "zai/glm-5.3-flash"
NOW = 1000.0  # monotonic
KEEP = Keep.of(Policy(), Source.PROBE)


def good(name: str, *, target: str = TARGET, source: Source = Source.REPORT, **facts: object) -> Answer:
    """A complete answer of two seconds."""
    chosen: dict[str, object] = {"seconds": 2.0, "first_byte_s": 1.0, "status": 200, "text_chars": 9} | facts
    return Answer(target=target, id=name, source=source, ended=Ended.COMPLETE, finish=Finish.STOP, **chosen)  # type: ignore[arg-type]


def failed(name: str, **facts: object) -> Answer:
    """An HTTP 500."""
    return good(name, **{"status": 500, "first_byte_s": None, **facts})  # type: ignore[arg-type] # facts of good()


def refused(name: str, **facts: object) -> Answer:
    """A request that was the caller's fault."""
    return good(name, **{"status": 400, "first_byte_s": None, **facts})  # type: ignore[arg-type] # facts of good()


def late(name: str, *, target: str = TARGET, source: Source = Source.REPORT, seconds: float = 40.0) -> Answer:
    """The first part of an answer: 40 s have passed in silence."""
    return Answer(target=target, id=name, source=source, ended=Ended.PENDING, part=Part.LATE, seconds=seconds)


def probe(name: str, **facts: object) -> Answer:
    """A probe's good answer."""
    return good(name, source=Source.PROBE, **facts)  # type: ignore[arg-type] # facts of good()


async def record(store: RedisStore, *answers: Answer) -> Reading:
    """Judge and record one after the other; gives the last reading."""
    for answer in answers:
        reading = await store.record([weighed(answer)], NOW, KEEP)
    return reading


def weighed(answer: Answer, waited_s: float = 0.0) -> Weighed:
    """An answer that has waited for so long at NOW."""
    judgement = judge(answer)
    entry = Entry(answer=answer, verdict=judgement.verdict, blame=judgement.blame, at=0.0, began=0.0)
    weight = weigh(entry, Policy())
    return Weighed(answer=answer, judgement=judgement, weight=weight, since=NOW - waited_s)


def names(entries: tuple[Entry, ...]) -> list[str]:
    """The ids of entries, in their order."""
    return [entry.answer.id for entry in entries]
