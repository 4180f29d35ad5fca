"""Reads what a report says of its place in a run."""

from collections.abc import Mapping
from typing import NamedTuple

from breaker.answer import Answer, Part
from breaker.errors import BadFactError
from breaker.run import Says, Step, digests, reading, step
from breaker.verdict import Judgement

_NAMES = ("run", "seq", "calls", "says")
_MOST_CALLS = 256


class Place(NamedTuple):
    """Where an answer stands: in which run, at which place, and what of it only a run needs."""

    run: str
    seq: int
    calls: str | None
    says: Says | None

    def step(self, answer: Answer, judgement: Judgement) -> Step | None:
        """The answer as a step; None for a part that is none yet."""
        if answer.part is Part.LATE:
            return None
        return step(answer, judgement, seq=self.seq, calls=self.calls, says=self.says)


def apart(item: object, run: str | None) -> tuple[object, Place | None]:
    """A report without what concerns its run, and that; `run` is the one that all belong to, None where each says it.

    Raises BadFactError, which quotes nothing.
    """
    if not isinstance(item, dict) or (run is None and "run" not in item):
        return item, None
    facts = {name: value for name, value in item.items() if name not in _NAMES}
    return facts, _place(item, run)


def _place(item: Mapping[str, object], run: str | None) -> Place:
    named = item.get("run", run)
    if run is not None and named != run:
        raise BadFactError("run is another than the path's; leave it out", "run")
    name = reading.run_id(named)
    if item.get("seq") is None:
        raise BadFactError("'seq' is missing; a step's place in its run is a number that rises", "seq")
    calls, says = item.get("calls"), item.get("says")
    return Place(
        run=name,
        seq=reading.seq(item["seq"]),
        calls=None if calls is None else _calls(name, calls),
        says=None if says is None else reading.says(says),
    )


def _calls(run: str, value: object) -> str | None:
    """A digest of the calls, where they came as they are: nothing of them is kept."""
    if isinstance(value, str):
        return reading.digest("calls", value)
    if isinstance(value, list) and len(value) <= _MOST_CALLS and all(map(_is_call, value)):
        return digests.calls(run, [(call["name"], call.get("arguments")) for call in value])
    raise BadFactError("calls must be a digest, or a list of objects with `name` and `arguments`", "calls")


def _is_call(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and value.keys() <= {"name", "arguments"}


def schema() -> dict[str, object]:
    """What a report may say of its place in a run, as JSON Schema; without `run`."""
    call = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "arguments": {}},
        "additionalProperties": False,
    }
    return {
        "seq": {"type": "integer", "minimum": 0, "maximum": reading.MAX_SEQ},
        "calls": {
            "oneOf": [
                {"type": "string", "pattern": f"^{reading.DIGEST.pattern}$"},
                {"type": "array", "items": call, "maxItems": _MOST_CALLS},
            ]
        },
        "says": {"type": "string", "enum": list(Says)},
    }
