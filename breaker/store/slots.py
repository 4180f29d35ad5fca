"""A cluster's slots: which one a key is in, and which node has which, as a node tells it."""

from typing import Any, NamedTuple

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from breaker.errors import StoreGoneError
from breaker.store.address import Host

SLOTS = REDIS_CLUSTER_HASH_SLOTS
_NAMELESS = ("", "?")


class Range(NamedTuple):
    """Slots that one node has, with both ends."""

    first: int
    last: int
    host: Host


def slot_of(key: str) -> int:
    """The slot that a key is in."""
    slot: int = key_slot(key.encode())
    return slot


def named(name: str | None, asked: Host) -> str:
    """A node's name as a node tells it; one without a name is the one asked."""
    return asked.name if name is None or name in _NAMELESS else name


def read_ranges(reply: Any, asked: Host, place: str) -> tuple[Range, ...]:  # whatever a server says
    """All ranges in the reply to CLUSTER SLOTS; a node without a name is the one asked. Raises StoreGoneError."""
    try:
        found = [Range(first, last, Host(named(owner[0], asked), owner[1])) for first, last, owner, *_ in reply]
        if all(0 <= one.first <= one.last < SLOTS for one in found):
            return tuple(sorted(found))
    except (TypeError, ValueError, IndexError):
        pass
    trouble = "talks as no node of a cluster does"
    raise StoreGoneError(f"the server at {place} {trouble}", trouble)
