"""Reads the objects of a body, be they this wire's own, an error, or what another wire says."""

from breaker.wire import READERS
from breaker.wire.faults import fault_in, fault_in_text
from breaker.wire.reader import Reader
from breaker.wire.shape import parse
from breaker.wire.sse import Event
from breaker.wire.tally import Tally

# In so many objects that aren't this wire's another wire's answer is looked for.
_MOST_NOTES = 1_000


class Objects:
    """Counts in a tally what each object says; `status` is the response's, `plain` says that the body is no stream.

    `broken` counts what no caller could read, `garbled` says that there was something that isn't JSON. `other_wire` is
    the wire of an answer that came in place of this one's, None for none.
    """

    def __init__(self, reader: Reader, tally: Tally) -> None:
        self.status: int | None = None
        self.plain = False
        self.broken = 0
        self.garbled = False
        self.other_wire: str | None = None
        self._reader = reader
        self._tally = tally
        self._notes = 0

    def read(self, name: str, body: dict[str, object], *, readable: bool) -> None:
        """Count what an object says; of one that no caller could read, only an error counts."""
        fault = fault_in(body, name=name, status=self.status or 200)
        if fault is not None:
            self._tally.add_fault(fault)
        if readable and not self._reader.read(body, self._tally) and fault is None:
            self._read_unknown(body)

    def read_others(self, event: Event) -> None:
        """Data that isn't just one object."""
        found, sound = parse(event.data)
        self.broken += not sound
        self.garbled = self.garbled or not sound
        if event.name == "error" and not found:
            self._tally.add_fault(fault_in_text(event.data))
        for body in found:
            self.read(event.name, body, readable=sound)

    def _read_unknown(self, body: dict[str, object]) -> None:
        """An object that isn't this wire's: another's, which its caller can't read, or a note."""
        if self._notes > _MOST_NOTES or not body:
            self.broken += self.plain
            return
        self._notes += 1
        others = (name for name, other in READERS.items() if other is not self._reader)
        parts = self._tally.parts
        spoken = next((name for name in others if READERS[name].read(body, self._tally)), None)
        if self._tally.parts > parts:
            self.other_wire = spoken
            return
        # Streams carry all sorts of notes between their events; a plain body of another shape is no answer.
        self.broken += self.plain
