"""Reads the answers that agents report, each by itself: a malformed one takes no other with it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum

from breaker.answer import FACTS, MAX_ID, MAX_NUMBER, MAX_TARGET, STATUSES, Answer, Fact, Source
from breaker.api.problems import ProblemError, shortened, unknown_name
from breaker.api.shapes import FlawShape
from breaker.errors import BadFactError, UnknownNameError
from breaker.wire import READERS

MAX_REPORTS = 1000


def items(value: object) -> list[object]:
    """The reports in a body's value: one object, or a list of them. Raises ProblemError for anything else."""
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list):
        raise ProblemError(400, "no-report", "send one report as an object, or several as a list of objects")
    if not 1 <= len(value) <= MAX_REPORTS:
        raise ProblemError(400, "no-report", f"{len(value)} reports at once; send 1 to {MAX_REPORTS}")
    return value


class Reader:
    """Reads reports of the targets that there are when one comes; `phrases` are the ids that a report may name."""

    def __init__(self, targets: Callable[[], Collection[str]], phrases: Collection[str]) -> None:
        self._targets = targets
        self._phrases = frozenset(phrases)

    def read(self, index: int, item: object) -> Answer | FlawShape:
        """The answer in a report, or what is wrong with it; `index` is its place among those that came with it."""
        try:
            return self._answer(item)
        except BadFactError as error:
            return {"index": index, "id": id_of(item), "field": error.field, "wrong": str(error)}
        except UnknownNameError as error:
            return {"index": index, "id": id_of(item), "field": "target", "wrong": unknown_name(error).detail}

    def known(self, index: int, answer: Answer) -> Answer | FlawShape:
        """An answer that was read already, unless its target isn't there any more."""
        if answer.target in (targets := self._targets()):
            return answer
        wrong = unknown_name(UnknownNameError("target", shortened(answer.target), targets)).detail
        return {"index": index, "id": answer.id, "field": "target", "wrong": wrong}

    def _answer(self, item: object) -> Answer:
        if not isinstance(item, dict):
            raise BadFactError("a report must be an object of facts")
        try:
            read = Answer.from_facts({**item, "source": Source.REPORT})
        except BadFactError:
            _check_plain(item)
            raise
        if not read.id.isprintable():
            raise _unprintable("id")
        if read.phrase is not None and read.phrase not in self._phrases:
            remedy = "leave it out, or configure the phrase under `phrases`"
            raise BadFactError(f"phrase is not the id of a known phrase; {remedy}", "phrase")
        if read.other_wire is not None and read.other_wire not in READERS:
            raise BadFactError(
                f"other_wire is not the name of a wire; it is one of: {', '.join(READERS)}", "other_wire"
            )
        if read.confirms is not None:
            raise BadFactError("'confirms' belongs to probes; leave it out", "confirms")
        if read.target not in (targets := self._targets()):
            raise UnknownNameError("target", shortened(read.target), targets)
        return read


def schema(more: Mapping[str, object], *, needed: Collection[str] = ()) -> dict[str, object]:
    """A report as JSON Schema, with `more` properties, some of them needed."""
    facts = [field for field in fields(Answer) if field.name not in ("source", "confirms")]
    return {
        "type": "object",
        "properties": {**{field.name: _schema_of(FACTS[field.name]) for field in facts}, **more},
        "required": [*(field.name for field in facts if field.default is MISSING), *needed],
        "additionalProperties": False,
    }


def id_of(item: object) -> str | None:
    """A report's id as it may be said again; None where it has none that can."""
    found = item.get("id") if isinstance(item, dict) else None
    return found if isinstance(found, str) and 0 < len(found) <= MAX_ID and found.isprintable() else None


def _check_plain(item: dict[str, object]) -> None:
    """Find what may not be said again, before anybody says it."""
    for name, value in item.items():
        if len(name) > 64 or not name.isidentifier():
            raise BadFactError("a name that is no fact's; a report holds facts and nothing else")
        if isinstance(value, (dict, list)):
            raise BadFactError(f"{name} is made of several values; each fact is one", name)
        if isinstance(value, str) and not value.isprintable():
            raise _unprintable(name)
        # A number in JSON may have thousands of digits.
        if isinstance(value, int) and not 0 <= value <= MAX_NUMBER:
            raise BadFactError(f"{name} must be a number from 0 to 1e12", name)


def _unprintable(name: str) -> BadFactError:
    return BadFactError(f"{name} has characters that can't be printed", name)


def _schema_of(fact: Fact) -> Mapping[str, object]:
    names: dict[type, str] = {float: "number", int: "integer", bool: "boolean"}
    name = names.get(fact.kind, "string")
    shape: dict[str, object] = {"type": [name, "null"] if fact.optional else name}
    if issubclass(fact.kind, StrEnum):
        shape["enum"] = [*fact.kind, *([None] if fact.optional else [])]
    elif name == "string":
        shape |= {"minLength": 1, "maxLength": MAX_TARGET if fact.name == "target" else MAX_ID}
    elif fact.name == "status":
        shape |= {"minimum": STATUSES[0], "maximum": STATUSES[1]}
    elif name in ("number", "integer"):
        shape |= {"minimum": 0, "maximum": MAX_NUMBER}
    return shape
