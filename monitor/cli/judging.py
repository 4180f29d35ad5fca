"""`firstbyte judge`: reads recorded exchanges, one a line, and says what each was."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from breaker.errors import BadExchangeError
from breaker.exchange import Exchange, Played, play
from breaker.verdict import Verdict
from breaker.wire.signs import PHRASES, Phrase
from monitor.cli.comparing import Comparison
from monitor.cli.exits import BAD, GOOD, USAGE, UsageError
from monitor.cli.progress import Progress
from monitor.cli.saying import say

# A longer line is no answer of a model; it is read past without being held.
MAX_LINE = 128 * 1024 * 1024


def judge(args: argparse.Namespace) -> int:
    """Say what each exchange was, or compare that with what was expected; bad where one differs."""
    phrases = _phrases(args.config)
    compared = Comparison() if args.check else None
    try:
        with _opened(args.file) as file, Progress(file, shown=args.check or not sys.stdout.isatty()) as progress:
            faults = _judge_all(progress.following(_lines(file)), phrases, compared)
    except BrokenPipeError:  # the output's, not the file's
        raise
    except OSError as error:
        raise UsageError(f"can't read {args.file}: {error.strerror}") from None
    if compared is None:
        return USAGE if faults else GOOD
    say(compared.as_text())
    if not compared.number and not faults:
        raise UsageError(f"{args.file} holds no exchange")
    return USAGE if faults else BAD if compared.misses else GOOD


def _judge_all(
    lines: Iterable[tuple[int, bytes | None]], phrases: Sequence[Phrase], compared: Comparison | None
) -> int:
    """Judge line by line; how many couldn't be read. Each of those is named and holds up no other."""
    faults = 0
    for number, line in lines:
        try:
            said = _parsed(line)
            exchange = Exchange.read(said)
            found = as_json(exchange, play(exchange, phrases=phrases))
            if compared is None:
                say(json.dumps(found, ensure_ascii=False))
            else:
                compared.add(found, said.get("expect"))
        except BadExchangeError as error:
            faults += 1
            print(f"firstbyte: line {number}: {error}", file=sys.stderr, flush=True)  # noqa: T201 # a command line speaks
    return faults


def as_json(exchange: Exchange, played: Played) -> dict[str, Any]:
    """What `firstbyte judge` says of one exchange."""
    judgement = played.judgement
    verdict = judgement.verdict
    return {
        "id": exchange.id,
        "verdict": verdict.value,
        **({"status": exchange.status} if verdict is Verdict.HTTP_ERROR else {}),
        "class": judgement.blame.value,
        "cause": judgement.cause and judgement.cause.value,
        "confidence": judgement.confidence.value,
        "first_byte_ms": _ms(played.first_byte_s),
        "finish_reason": played.finish_word,
        "why": judgement.why,
    }


def _ms(seconds: float | None) -> int | float | None:
    """Milliseconds as the exchange wrote them: a whole number stays one."""
    if seconds is None:
        return None
    ms = round(seconds * 1000, 3)
    return int(ms) if ms.is_integer() else ms


def _phrases(config: str | None) -> tuple[Phrase, ...]:
    """The phrases to look for; only a configuration needs the packages of the service."""
    if config is None:
        return PHRASES
    try:
        from monitor.config import ConfigError, phrases_in
    except ModuleNotFoundError as error:
        if error.name != "yaml":
            raise
        raise UsageError("--config needs the package 'yaml'; in a clone: pip install '.[service]'") from None
    try:
        return phrases_in(Path(config))
    except ConfigError as error:
        raise UsageError(f"the configuration can't be used\n{error}") from None


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb")


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Each line that isn't blank with its number, from 1; None for one that is too long."""
    number, whole = 0, True
    while piece := file.readline(MAX_LINE):
        began, whole = whole, piece.endswith(b"\n")
        if not began:
            continue
        number += 1
        if len(piece) == MAX_LINE and not whole:
            yield number, None
        elif piece.strip():
            yield number, piece


def _parsed(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise BadExchangeError(f"it is longer than {MAX_LINE} bytes; write one exchange a line")
    try:
        said = json.loads(line.removeprefix(b"\xef\xbb\xbf"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise BadExchangeError("it is not JSON; write one exchange a line, as a JSON object") from None
    if not isinstance(said, dict):
        raise BadExchangeError("it is no JSON object; write one exchange a line, as a JSON object")
    return said


def _no_number(_: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")
