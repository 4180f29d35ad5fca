"""Writes the files of exchanges: `python -m tests.cases.make`."""

from collections.abc import Iterator
from pathlib import Path

from tests.cases import chat_dialects, every_wire, gateways, other_dialects, statuses
from tests.cases.case import Case
from tests.cases.said import dump

HERE = Path(__file__).parent
FILES = {
    "every-wire": every_wire.cases,
    "gateways": gateways.cases,
    "statuses": statuses.cases,
    "chat-dialects": chat_dialects.cases,
    "other-dialects": other_dialects.cases,
}


def lines(name: str) -> Iterator[str]:
    """The lines of one file."""
    return (dump(case) + "\n" for case in FILES[name]())


def every() -> Iterator[Case]:
    """Every exchange of every file."""
    return (case for cases in FILES.values() for case in cases())


if __name__ == "__main__":
    for name in FILES:
        (HERE / f"{name}.jsonl").write_text("".join(lines(name)), encoding="utf-8")
