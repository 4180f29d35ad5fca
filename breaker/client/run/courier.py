"""Tells the service of a run, and asks it whether that is done; in the client's own thread."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from breaker.client.asking import backing_off
from breaker.client.link import Link
from breaker.client.run.box import CHECKS, OPERATIONS, STEPS, Box, Entry
from breaker.client.said import parsed
from breaker.errors import DoorError, DoorGoneError, DoorRefusedError, FirstbyteError
from breaker.run import Effect, Stage, State, reading

_log = logging.getLogger(__name__)

_LIMIT_S = 2.0
# After so many questions in vain it is told when somebody asks whether the run is done, or tells more.
_MOST_FAILURES = 20
_MOST_AT_ONCE = 500
_JSON = {"Content-Type": "application/json"}


async def tell(link: Link, box: Box) -> None:
    """Tell of operations and checks as they come; steps are told as reports are."""
    if box.telling is link:
        return
    box.telling = link  # another one was a parent's, before a fork
    failures = 0
    try:
        while failures < _MOST_FAILURES and (entries := box.unsent(OPERATIONS, CHECKS)):
            try:
                await _send(link, box, entries)
                failures = 0
            except DoorError:
                failures += 1
                _give_up(box, entries)
                await asyncio.sleep(backing_off(failures))
    finally:
        box.telling = None


async def ask(
    link: Link,
    box: Box,
    params: Mapping[str, str],
    put: Callable[[dict[str, Any] | None], None],
    *,
    expected: Sequence[str],
) -> None:
    """Ask whether the run is done, and put down what the service says; None where it says nothing of use.

    `expected` are the client's own reasons.
    """
    said = None
    try:
        said = await _said(link, box, params, expected=expected)
    finally:
        put(said)


async def _said(link: Link, box: Box, params: Mapping[str, str], *, expected: Sequence[str]) -> dict[str, Any] | None:
    """What the service says of the run; None where it doesn't answer, or hasn't taken all that is known here.

    Where it has other reasons than are expected it is told all once more: its store may have lost something.
    """
    try:
        async with asyncio.timeout(_LIMIT_S):
            said = await _asked(link, box, params, box.unsent(STEPS, OPERATIONS, CHECKS))
            if said is not None and said.get("reasons") != list(expected):
                said = await _asked(link, box, params, box.own())
    except (DoorError, TimeoutError):
        return None
    return said


async def _asked(link: Link, box: Box, params: Mapping[str, str], entries: Sequence[Entry]) -> dict[str, Any] | None:
    await _send(link, box, entries)
    if box.refused:
        return None
    return parsed((await link.ask("GET", f"/runs/{box.run}/done", params=params)).body)


async def learn(link: Link, box: Box) -> None:
    """Take over which operations and checks the service knows of: another process may have begun and made them."""
    try:
        reply = await link.ask("GET", f"/runs/{box.run}", within_s=_LIMIT_S)
        known = parsed(reply.body) or {}
        told = {entry.fact.id for entry in box.own()}  # the answer may come later than what was told from here
        for said in known["operations"]:
            box.add(Entry(OPERATIONS, _stage(said), {}, sent=True))
        for said in known["checks"]:
            if said["id"] not in told:
                box.add(Entry(CHECKS, reading.check(said), {}, sent=True))
        box.behind(max((int(said["seq"]) for kind in (STEPS, OPERATIONS, CHECKS) for said in known[kind]), default=0))
    except (FirstbyteError, KeyError, TypeError, ValueError):
        return  # nothing is known of it, or nobody says
    finally:
        box.known.set()


async def _send(link: Link, box: Box, entries: Sequence[Entry]) -> None:
    """Tell of these. Raises DoorError where the service doesn't answer."""
    for kind in (STEPS, OPERATIONS, CHECKS):
        some = [entry for entry in entries if entry.kind == kind]
        for first in range(0, len(some), _MOST_AT_ONCE):
            await _post(link, box, kind, some[first : first + _MOST_AT_ONCE])


async def _post(link: Link, box: Box, kind: str, entries: Sequence[Entry]) -> None:
    now = time.monotonic()
    body = json.dumps([entry.telling(now) for entry in entries]).encode()
    try:
        reply = await link.ask("POST", f"/runs/{box.run}/{kind}", within_s=_LIMIT_S, content=body, headers=_JSON)
    except DoorRefusedError as error:
        if error.status >= 500 or error.status in (408, 429):
            raise
        if not box.refused:
            _log.warning("the service won't take what is told of a run (said once): %s", error)
        box.refused = True
        _are_sent(entries)
        return
    said = parsed(reply.body) or {}
    if "accepted" not in said:
        raise DoorGoneError(f"what answers isn't Firstbyte (status {reply.status})")
    problems = said.get("problems") or []
    if any("send it again" in str(problem) for problem in problems):
        raise DoorGoneError("the service's store doesn't answer")
    box.refused = box.refused or bool(problems) or bool(said.get("overfull"))
    box.away = False
    _are_sent(entries)


def _are_sent(entries: Sequence[Entry]) -> None:
    for entry in entries:
        entry.sent = True
        entry.told.set()


def _give_up(box: Box, entries: Sequence[Entry]) -> None:
    """Let nobody wait for a service that doesn't answer."""
    box.away = True
    for entry in entries:
        entry.told.set()


def _stage(said: Mapping[str, Any]) -> Stage:
    """An operation that the service knows, as the newest of its stages."""
    key = said["idempotency_key"]
    return Stage(
        id=str(said["id"]),
        seq=0,
        tool=str(said["tool"]),
        state=State(said["state"]),
        effect=Effect(said["effect"]),
        attempt=max(int(said["attempts"]), 1),
        needs=tuple(map(str, said["needs"])),
        replaces=tuple(map(str, said["replaces"])),
        required=bool(said["required"]),
        idempotency_key=None if key is None else str(key),
        error=None if said["error"] is None else str(said["error"]),
        retryable=bool(said["retryable"]),
    )
