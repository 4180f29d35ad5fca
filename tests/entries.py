"""Judged answers for tests that need a log: each is one line."""

from breaker.answer import Answer, Ended, Part, Source
from breaker.log import Entry, Log
from breaker.verdict import judge


def entry(
    at: float,
    *,
    began: float | None = None,
    source: Source = Source.PROBE,
    first_byte_s: float | None = 1.0,
    status: int | None = 200,
    ended: Ended = Ended.COMPLETE,
    name: str | None = None,
    confirms: str | None = None,
    suspect: bool = False,
    seconds: float = 2.0,
    late: bool = False,
    streamed: bool = True,
) -> Entry:
    """An answer that counted at `at`; its request began two seconds before unless said otherwise."""
    answer = Answer(
        target="p/m",
        id=name or f"{source.value}-{at:g}",
        source=source,
        part=Part.LATE if ended is Ended.PENDING else Part.FINAL,
        ended=ended,
        status=status,
        first_byte_s=first_byte_s,
        seconds=seconds,
        confirms=confirms,
        suspect_timing=suspect,
        streamed=streamed,
    )
    judgement = judge(answer)
    return Entry(
        answer=answer,
        verdict=judgement.verdict,
        blame=judgement.blame,
        at=at,
        began=at - 2.0 if began is None else began,
        late=late or ended is Ended.PENDING,
    )


def good(at: float, **facts: object) -> Entry:
    """A good, quick answer."""
    return entry(at, **facts)  # type: ignore[arg-type] # facts of entry()


def slow(at: float, **facts: object) -> Entry:
    """A good answer whose first byte came after 43 s."""
    return entry(at, **{"first_byte_s": 43.0, "seconds": 44.0, **facts})  # type: ignore[arg-type] # facts of entry()


def silent(at: float, **facts: object) -> Entry:
    """A late part: 40 s have passed and nothing has come."""
    chosen = {"ended": Ended.PENDING, "first_byte_s": None, "seconds": 40.0, "status": None, "began": at - 40, **facts}
    return entry(at, **chosen)  # type: ignore[arg-type] # facts of entry()


def failed(at: float, **facts: object) -> Entry:
    """An HTTP 500."""
    return entry(at, **{"status": 500, "first_byte_s": None, **facts})  # type: ignore[arg-type] # facts of entry()


def refused(at: float, **facts: object) -> Entry:
    """A request that was the caller's fault."""
    return entry(at, **{"status": 400, "first_byte_s": None, **facts})  # type: ignore[arg-type] # facts of entry()


def by_agent(made: Entry) -> Entry:
    """The same answer, seen by an agent."""
    from dataclasses import replace

    return replace(made, answer=replace(made.answer, source=Source.REPORT))


def probes(*entries: Entry) -> Log:
    """A log of probes alone."""
    return Log(probes=entries)


def reports(*entries: Entry) -> Log:
    """A log of agents' reports alone."""
    return Log(reports=tuple(by_agent(e) for e in entries))
