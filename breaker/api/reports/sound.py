"""Reads a body of reports at once, where nothing is wrong with any of them: that takes half the time."""

from collections.abc import Collection
from dataclasses import MISSING, fields

from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as schemas
from pydantic_core.core_schema import CoreSchema

from breaker.answer import FACTS, Answer, Fact, Source
from breaker.errors import BadFactError
from breaker.wire import READERS

# What is longer would keep others waiting for more than a millisecond.
MAX_BYTES = 65_536
# No JSON, though this parser takes them.
_NO_NUMBERS = (b"NaN", b"Infinity")
_REPORT = Source.REPORT
_KINDS: dict[type, CoreSchema] = {
    float: schemas.float_schema(strict=True),
    int: schemas.int_schema(strict=True),
    bool: schemas.bool_schema(strict=True),
    str: schemas.str_schema(strict=True),
}


class Sound:
    """Reads sound reports of these targets, at most so many; `phrases` are the ids that a report may name.

    What it reads, `Reader` reads the same; what it leaves may be sound all the same.
    """

    def __init__(self, targets: Collection[str], phrases: Collection[str], most: int) -> None:
        words = {"target": targets, "phrase": phrases, "other_wire": READERS, "confirms": ()}
        facts = [
            schemas.dataclass_field(
                each.name, _schema(FACTS[each.name], each.default, words.get(each.name)), kw_only=True
            )
            for each in fields(Answer)
        ]
        report = schemas.dataclass_schema(
            Answer,
            schemas.dataclass_args_schema("Answer", facts, extra_behavior="forbid"),
            list(FACTS),
            post_init=True,
            slots=True,
        )
        self._one = SchemaValidator(report)
        self._several = SchemaValidator(schemas.list_schema(report, min_length=1, max_length=most))

    def read(self, body: bytes) -> list[Answer] | None:
        """All reports of a body, in their order; None where they have to be read one by one."""
        if len(body) > MAX_BYTES or any(word in body for word in _NO_NUMBERS):
            return None
        try:
            alone = body.startswith(b"{")
            found = [self._one.validate_json(body)] if alone else self._several.validate_json(body)
        except (ValidationError, BadFactError):
            return None
        return found if all(one.id.isprintable() and one.source is _REPORT for one in found) else None


def _schema(fact: Fact, default: object, words: Collection[str] | None) -> CoreSchema:
    """What a fact may be; `words` are all that it may say. Whether it is in range, an answer finds out itself."""
    if words is not None:
        schema: CoreSchema = schemas.literal_schema(list(words)) if words else schemas.none_schema()
    elif fact.words is not None:
        schema = schemas.enum_schema(fact.kind, list(fact.words.values()), strict=True)
    else:
        schema = _KINDS[fact.kind]
    if fact.optional:
        schema = schemas.nullable_schema(schema)
    return schema if default is MISSING else schemas.with_default_schema(schema, default=default)
