"""`firstbyte backtest`: runs recorded answers through the rules of the service and says what they would have done."""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from breaker.policy import Policy
from monitor.backtest import trace
from monitor.backtest.faults import PictureError, PrometheusError, TraceError
from monitor.backtest.plot import Panel, draw
from monitor.backtest.plot import check as check_picture
from monitor.backtest.prometheus import Prometheus
from monitor.backtest.result import Result, as_comparison, as_json, as_table, moves_as_text
from monitor.backtest.score import score
from monitor.backtest.step import Step
from monitor.backtest.tape import run
from monitor.cli.defaults import SINCE
from monitor.cli.exits import GOOD, UnreachableError, UsageError
from monitor.cli.progress import Line
from monitor.cli.saying import say
from monitor.cli.times import seconds

DEFAULTS = "defaults"

# What each policy made of one trace.
_Results = list[Result]


class _Rules(NamedTuple):
    """A policy and what it is called."""

    name: str
    policy: Policy


class _Trace(NamedTuple):
    """Recorded answers and what they are called; `lost` as in Result."""

    name: str
    steps: list[Step]
    lost: int | None = None


def backtest(args: argparse.Namespace) -> int:
    """Say what the rules would have done with recorded answers."""
    _check_words(args)
    try:
        if args.plot:
            check_picture(Path(args.plot))
        rules = [_rules(args.policy), *([_rules(args.compare)] if args.compare else [])]
        with Line() as line:
            results = [_played(each, rules, line) for each in _traces(args, line)]
        if args.plot:
            draw(list(_panels(results, rules)), Path(args.plot))
    except (TraceError, PictureError) as error:
        raise UsageError(str(error)) from None
    except PrometheusError as error:
        raise UnreachableError(str(error)) from None
    say(_objects(results) if args.json else _text(results))
    return GOOD


def _check_words(args: argparse.Namespace) -> None:
    if not any(_is_address(name) for name in args.traces):
        for word in ("target", "since"):
            if getattr(args, word) is not None:
                raise UsageError(f"--{word} chooses from what a Prometheus has stored; give its address as TRACE")
    if args.traces.count("-") > 1:
        raise UsageError("the standard input can be read once; give - once")


def _is_address(name: str) -> bool:
    return name.startswith(("http://", "https://"))


# Policies


def _rules(file: str | None) -> _Rules:
    """The policy of a file; the defaults where none is named, never what a configuration here says."""
    if file is None:
        return _Rules(DEFAULTS, Policy())
    try:
        from monitor.config import ConfigError, policy_in
    except ModuleNotFoundError as error:
        raise _needs("a policy in a file", error) from None
    try:
        return _Rules(file, policy_in(Path(file)))
    except ConfigError as error:
        raise UsageError(f"the policy can't be used\n{error}") from None


def _needs(what: str, error: ModuleNotFoundError) -> UsageError:
    if error.name is None or error.name.partition(".")[0] in ("breaker", "monitor"):
        raise error
    return UsageError(f"{what} needs the package {error.name!r}; in a clone: pip install '.[service]'")


# Traces


def _traces(args: argparse.Namespace, line: Line) -> Iterator[_Trace]:
    for name in args.traces:
        if _is_address(name):
            yield from _stored(name, args, line)
        else:
            yield _Trace(name, trace.read(name))


def _stored(url: str, args: argparse.Namespace, line: Line) -> Iterator[_Trace]:
    """What a Prometheus has stored of each target."""
    try:
        from monitor.backtest import history
    except ModuleNotFoundError as error:
        raise _needs("a Prometheus as TRACE", error) from None
    since_s = seconds(args.since or SINCE)
    if not history.LEAST_S <= since_s <= history.MOST_S:
        raise UsageError(
            f"--since {args.since} is too {'little' if since_s < history.LEAST_S else 'much'}; choose 1m to 400d"
        )
    with Prometheus(url) as server:
        for target in args.target or history.targets_of(server, since_s):
            passing = _told(line, f"reading {target}")
            found = history.history(server, target, since_s, passing=passing)
            yield _Trace(f"{target} ({server.name})", found.steps, found.lost)


def _told(line: Line, doing: str) -> Callable[[float], None]:
    return lambda share: line.tick(lambda: f"{doing}, {share:.0%}")


# Results


def _played(each: _Trace, rules: Sequence[_Rules], line: Line) -> _Results:
    played = []
    for name, policy in rules:
        made = run(each.steps, policy, passing=_told(line, f"playing {each.name}"))
        played.append(Result(trace=each.name, policy=name, run=made, score=score(made), lost=each.lost))
    return played


def _panels(results: Sequence[_Results], rules: Sequence[_Rules]) -> Iterator[Panel]:
    for played in results:
        for result, (name, policy) in zip(played, rules, strict=True):
            title = f"{result.trace}, {name}" if len(rules) > 1 else result.trace
            yield Panel(title, result.run, policy.slow_s)


def _objects(results: Sequence[_Results]) -> str:
    """One object for one trace, a list for several."""
    objects = [as_json(*played) for played in results]
    return json.dumps(objects[0] if len(objects) == 1 else objects)


def _text(results: Sequence[_Results]) -> str:
    parts = [moves_as_text(result, named=len(played) > 1) for played in results for result in played]
    if len(results[0]) > 1:
        parts += [as_comparison(*played) for played in results]
    else:
        parts.append(as_table(result for (result,) in results))
    return "\n\n".join(parts)
