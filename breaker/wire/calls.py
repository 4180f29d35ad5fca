"""Puts tool calls together from their fragments, and checks them."""

import json
import re
from collections import Counter

# The most bytes of a tool's arguments that are kept until they can be parsed; a longer call is taken for good.
MAX_ARGUMENTS = 1024 * 1024
MAX_CALLS = 256
MAX_NAME = 256
# From this many blanks on, the end of unfinished arguments is no indent: the model is caught in them.
MOST_BLANKS = 1_000
_BLANKS = re.compile(rb"[nrt]?(\\[nrt]|\s)+")
# Nobody needs the same call with the same arguments so often at once.
MOST_ALIKE = 16


class _Call:
    """A tool call as it grows; `kept` is False once its arguments are too long to keep."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = bytearray()
        self.kept = True
        self.served = False

    @property
    def good(self) -> bool:
        if not self.name:
            return False
        if not self.kept or not self.arguments.strip():
            return True
        try:
            return isinstance(json.loads(self.arguments), dict)
        except (ValueError, RecursionError):
            return False

    @property
    def endless(self) -> bool:
        return len(self.arguments) >= MOST_BLANKS and bool(_BLANKS.fullmatch(self.arguments[-MOST_BLANKS:]))


class Calls:
    """The tool calls of one answer; `chars` counts their arguments' characters.

    Memory is bounded by `MAX_CALLS` names and `MAX_ARGUMENTS` in all.
    """

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}
        self.chars = 0

    def add(self, place: str, id: str, name: str, arguments: str, *, served: bool = False) -> None:  # noqa: A002 # the wires' word
        """A fragment of the call at `place`; the first name stays. `served` calls are the provider's to carry out."""
        call = self._at(place, id[:MAX_NAME], named=bool(name))
        if call is not None:
            call.served = call.served or served
            call.id = call.id or id[:MAX_NAME]
            call.name = call.name or name[:MAX_NAME]
            self._go_on(call, arguments)

    def has_arguments(self, place: str) -> bool:
        """Whether a call at this place has been given any."""
        call = self._calls.get(place)
        return call is not None and (bool(call.arguments) or not call.kept)

    def __contains__(self, place: str) -> bool:
        """Whether any call is known at this place."""
        return place in self._calls

    def __len__(self) -> int:
        return sum(not call.served for call in self._calls.values())

    @property
    def made(self) -> list[tuple[str, str]]:
        """Name and arguments of each call that is the caller's to carry out, as far as they are kept."""
        own = [call for call in self._calls.values() if not call.served]
        return [(call.name, call.arguments.decode(errors="replace")) for call in own]

    @property
    def places(self) -> int:
        """How many are known, those among them that are the provider's to carry out."""
        return len(self._calls)

    @property
    def bad(self) -> int:
        """How many have no name, or arguments that are no JSON object."""
        return sum(not (call.served or call.good) for call in self._calls.values())

    @property
    def endless(self) -> bool:
        """Whether a call's arguments run out into blanks, escaped or not, or the same call comes again and again."""
        alike = Counter((call.name, bytes(call.arguments)) for call in self._calls.values() if call.arguments)
        return max(alike.values(), default=0) >= MOST_ALIKE or any(call.endless for call in self._calls.values())

    def _at(self, place: str, id: str, *, named: bool) -> _Call | None:  # noqa: A002 # the wires' word
        """The call that a fragment belongs to; None where there are too many to keep."""
        call = self._calls.get(place)
        # Some hosts give every call the index 0: a new id with a name begins a new one.
        if call and named and id and call.id and call.id != id:
            self._calls[f"{place} until {len(self._calls)}"] = self._calls.pop(place)
            call = None
        if call is None and len(self._calls) < MAX_CALLS:
            call = self._calls[place] = _Call()
        return call

    def _go_on(self, call: _Call, arguments: str) -> None:
        self.chars += len(arguments)
        if self.chars > MAX_ARGUMENTS:
            call.kept = False
            call.arguments.clear()
        else:
            call.arguments += arguments.encode(errors="replace")
