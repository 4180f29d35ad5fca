"""Looks behind the store's back: what it keeps, what it announced, and that reading leaves it as it was."""

from dataclasses import dataclass
from typing import Any, cast

import redis

from breaker.circuit import Circuit, Move
from breaker.store import codec
from breaker.store.redis import CHANNEL
from tests.store.machine.clock import key
from tests.store_server import StoreServer

_MARK = "that is all"
# Far more than a busy machine makes a server late.
_PATIENT_S = 60.0


@dataclass
class Watch:
    """One target in one store."""

    server: StoreServer
    target: str

    def __post_init__(self) -> None:
        """Begin to listen."""
        self.raw = cast("Any", self.server.raw())
        self._ears = self.raw.pubsub()
        self._ears.subscribe(CHANNEL)
        self._ears.get_message(timeout=_PATIENT_S)

    def circuit(self) -> Circuit:
        """The circuit as it stands there."""
        return codec.read_circuit(self.raw.hmget(key(self.target, "circuit"), codec.CIRCUIT_FIELDS))

    def moves(self, newest: int) -> list[Move]:
        """The newest so many moves, oldest first."""
        found = [codec.read_move(text) for text in self.raw.lrange(key(self.target, "moves"), 0, newest - 1)]
        assert None not in found
        return [move for move in found if move is not None][::-1]

    def move_count(self) -> int:
        """How many moves the ledger holds."""
        return int(self.raw.llen(key(self.target, "moves")))

    def announced(self) -> list[Circuit]:
        """What was announced since the last call."""
        self.raw.publish(CHANNEL, _MARK)
        heard = []
        while (said := self._ears.get_message(timeout=_PATIENT_S)) is None or said["data"] != _MARK:
            assert said is not None, "the announcements have ended"
            read = codec.read_announcement(said["data"])
            assert read is not None
            assert read[0] == self.target
            heard.append(read[1])
        return heard

    def everything(self) -> dict[str, tuple[object, int]]:
        """All keys, with what they hold and how long they will."""
        bare = cast("Any", redis.Redis(unix_socket_path=str(self.server.socket), protocol=2))
        with bare:
            return {name: (bare.dump(name), bare.expiretime(name)) for name in sorted(bare.keys())}

    def close(self) -> None:
        """Stop listening."""
        self._ears.close()
        self.raw.close()
