"""Draws a JSON schema as a list of fields, and says in words what a value may be."""

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

Described = Mapping[str, Any]  # Any: an OpenAPI document

# Deeper than this nothing is drawn: it is named.
_DEEPEST = 5
_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null", "object": "object"}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
}


def draw(schema: Described, described: Described, depth: int = 0) -> str:
    """The fields of an object, or of the objects in a list; a sentence for anything else."""
    found = _resolved(schema, described)
    if "properties" in found and depth < _DEEPEST:
        needed = found.get("required", ())
        fields = found["properties"].items()
        rows = "\n".join(_row(name, each, described, depth, name in needed) for name, each in fields)
        return f'<dl class="fields">\n{rows}\n</dl>'
    inner = [draw(each, described, depth) for each in _inside(found)]
    drawn = next((each for each in inner if each.startswith("<dl")), "")
    return drawn or f"<p>{escape(words(found))}</p>"


def words(schema: Described) -> str:
    """What a value may be: "text or null", "number, at least 0", "one of ok, failed"."""
    if "$ref" in schema:
        return "object"
    kinds = list(dict.fromkeys(_kinds(schema)))
    bounds = [
        *_length(schema),
        *(form.format(_plain(schema[name])) for name, form in _BOUNDS.items() if name in schema),
    ]
    default = schema.get("default")
    told = [f"{default!r} if left out"] if isinstance(default, (int, float)) and not isinstance(default, bool) else []
    return ", ".join([" or ".join(kinds) or "anything", *bounds, *told])


def worded(text: str) -> str:
    """A description with its `names` set apart, as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split())))


def _length(schema: Described) -> Iterator[str]:
    """How long a text may be."""
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if most is not None:
        yield f"{_plain(least)} to {_plain(most)} characters" if least else f"at most {_plain(most)} characters"
    elif least:
        yield "not empty" if least == 1 else f"at least {_plain(least)} characters"


def _plain(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:g}"


def _kinds(schema: Described) -> Iterator[str]:
    if "enum" in schema:
        yield f"one of {', '.join(str(value) for value in schema['enum'] if value is not None)}"
        if None in schema["enum"]:
            yield "null"
        return
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield words(each)
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield f"list of {words(schema.get('items', {}))}" if kind == "array" else _WORDS.get(kind, kind)


def _row(name: str, schema: Described, described: Described, depth: int, needed: bool) -> str:
    found = _resolved(schema, described)
    said = f"<span>{worded(found['description'])}</span>" if found.get("description") else ""
    inner = draw(schema, described, depth + 1)
    nested = inner if inner.startswith("<dl") else ""
    kind = f"{words(schema)}{', needed' if needed and depth == 0 and 'default' not in found else ''}"
    return f"<div><dt><code>{escape(name)}</code></dt><dd>{escape(kind)}{said}{nested}</dd></div>"


def _inside(schema: Described) -> Iterator[Described]:
    """The schemas of what a value is made of, or may be."""
    if "items" in schema:
        yield schema["items"]
    yield from schema.get("anyOf", ())
    yield from schema.get("oneOf", ())


def _resolved(schema: Described, described: Described) -> Described:
    """The schema that a reference names."""
    if "$ref" not in schema:
        return schema
    found: Described = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found
