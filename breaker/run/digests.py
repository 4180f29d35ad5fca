"""Digests of what a run must compare and may not know: tool calls, arguments, results. Keyed by the run's own id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

_SIZE = 16


def key_of(run: str) -> str:
    """The name under which a run is kept; its id can't be read from it."""
    return hashlib.blake2b(run.encode(), digest_size=_SIZE, person=b"firstbyte-run").hexdigest()


def digest(run: str, text: str) -> str:
    """A digest of a text, of no use to anybody who hasn't the run's id; the same text in another run has another."""
    key = hashlib.blake2b(run.encode(), digest_size=32, person=b"firstbyte-key").digest()
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=_SIZE, key=key).hexdigest()


def calls(run: str, made: Iterable[tuple[str, object]]) -> str | None:
    """A digest of the tools that an answer calls, by name and arguments and in any order; None where it calls none.

    Arguments in JSON are compared by what they say, not by how they are written.
    """
    each = sorted(text_of([name, plain(arguments)]) for name, arguments in made)
    return digest(run, "\n".join(each)) if each else None


def text_of(value: object) -> str:
    """Any value as a text, the same for values that say the same where they are made of JSON's kinds."""
    for write in (_sorted, repr):
        try:
            return write(value)
        except Exception:  # noqa: BLE001, S112 # whatever a value is, and its own `__repr__` does
            continue
    return repr(type(value))


def _sorted(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def plain(arguments: object) -> object:
    """Arguments as a value, where they came as text that is JSON."""
    if isinstance(arguments, (bytes, bytearray)):
        arguments = arguments.decode(errors="replace")
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
