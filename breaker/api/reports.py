"""Reads the answers that agents report, each by itself: a malformed one takes no other with it."""

import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum

from breaker.answer import MAX_ID, MAX_NUMBER, MAX_TARGET, Answer, Source
from breaker.api.problems import ProblemError, shortened
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


def answer(item: object, targets: Collection[str], phrases: Collection[str]) -> Answer:
    """The answer in a report; `phrases` are the ids that it may name.

    Raises BadFactError, or UnknownNameError for a target that isn't configured.
    """
    if not isinstance(item, dict):
        raise BadFactError("a report must be an object of facts")
    for name, value in item.items():
        _check_plain(name, value)
    read = Answer.from_facts({**item, "source": Source.REPORT.value})
    if read.phrase is not None and read.phrase not in phrases:
        raise BadFactError(
            "phrase is not the id of a known phrase; leave it out, or configure the phrase under `phrases`"
        )
    if read.other_wire is not None and read.other_wire not in READERS:
        raise BadFactError(f"other_wire is not the name of a wire; it is one of: {', '.join(READERS)}")
    if read.confirms is not None:
        raise BadFactError("'confirms' belongs to probes; leave it out")
    if read.target not in targets:
        raise UnknownNameError("target", shortened(read.target), targets)
    return read


def schema() -> dict[str, object]:
    """A report as JSON Schema."""
    hints = typing.get_type_hints(Answer)
    facts = [field for field in fields(Answer) if field.name not in ("source", "confirms")]
    return {
        "type": "object",
        "properties": {field.name: _schema_of(field.name, hints[field.name]) for field in facts},
        "required": [field.name for field in facts if field.default is MISSING],
        "additionalProperties": False,
    }


def _check_plain(name: str, value: object) -> None:
    """Names are said again in errors, so each is one word; values are kept, so nothing holds what can't be printed."""
    if len(name) > 64 or not name.isidentifier():
        raise BadFactError("a name that is no fact's; a report holds facts and nothing else")
    if isinstance(value, (dict, list)):
        raise BadFactError(f"{name} is made of several values; each fact is one")
    if isinstance(value, str) and not value.isprintable():
        raise BadFactError(f"{name} has characters that can't be printed")
    # Checked before it is said again or made a float: a number in JSON may have thousands of digits.
    if isinstance(value, int) and not 0 <= value <= MAX_NUMBER:
        raise BadFactError(f"{name} must be a number from 0 to 1e12")


def _schema_of(field: str, hint: object) -> Mapping[str, object]:
    kind = typing.get_args(hint)[0] if isinstance(hint, types.UnionType) else hint
    names: dict[object, str] = {float: "number", int: "integer", bool: "boolean"}
    name = names.get(kind, "string")
    shape: dict[str, object] = {"type": [name, "null"] if isinstance(hint, types.UnionType) else name}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        shape["enum"] = [member.value for member in kind] + ([None] if isinstance(hint, types.UnionType) else [])
    elif name == "string":
        shape |= {"minLength": 1, "maxLength": MAX_TARGET if field == "target" else MAX_ID}
    elif name in ("number", "integer"):
        shape |= {"minimum": 0, "maximum": MAX_NUMBER}
    return shape
