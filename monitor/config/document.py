"""Reads YAML into tables, lists and texts that know their places; what a text means is not decided here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.error import Mark, MarkedYAMLError
from yaml.reader import ReaderError

from monitor.config.faults import ConfigError, Faults, Place, may_be_key, shown, unreadable
from monitor.config.source import place_after, text_of

# The deepest sensible file has six levels.
MAX_DEPTH = 16
# Aliases may repeat what is written; more than this, all told, isn't meant for us.
MAX_NODES = 50_000


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single text; `plain` when it was written without quotes."""

    text: str
    plain: bool
    place: Place

    @property
    def empty(self) -> bool:
        """Whether nothing is there: no text, `~` or `null`."""
        return self.plain and self.text in {"", "~", "null", "Null", "NULL"}


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: "list[Node]"
    place: Place


@dataclass(frozen=True, slots=True)
class Entry:
    """A key's place and its value."""

    place: Place
    value: "Node"


@dataclass(frozen=True, slots=True)
class Table:
    """Keys with values, in the order of the file."""

    entries: dict[str, Entry]
    place: Place


Node = Scalar | Items | Table


def read(path: Path, faults: Faults) -> Table:
    """The file's top level; duplicate keys go into `faults`.

    Raises ConfigError with one fault where nothing can be read.
    """
    return _Reading(str(path), faults).table_of(text_of(path))


class _Loader(yaml.SafeLoader):
    """Composes nodes and makes no objects; no tags, no depth beyond MAX_DEPTH."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None):
            raise ComposerError(None, None, f"the tag {_written(event.tag)} has no meaning here", event.start_mark)
        if self._depth >= MAX_DEPTH:
            raise ComposerError(None, None, f"more than {MAX_DEPTH} levels", event.start_mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def _written(tag: str) -> str:
    return shown(tag.replace("tag:yaml.org,2002:", "!!"))


# PyYAML's words for the usual mistakes, and what to do about them.
_HINTS = {
    r"'\t'": "indent with blanks, not with tabs",
    "could not find expected ':'": "is there a colon and a blank after the key on the line before?",
    "mapping values are not allowed": "each key needs a colon and a blank after it, also on the line before; "
    'indent all keys of one level alike; put a text with ": " in it between quotes',
    "expected <block end>": "indent all keys of one level alike",
    "expected ',' or": "is a bracket or a comma missing?",
    "but found another document": "remove the second `---`",
    "unexpected end of stream": "a quote or bracket is opened and not closed",
    "undefined alias": "a text that begins with * needs quotes",
    "has no meaning": "remove it; a text that begins with ! needs quotes",
    "levels": "a configuration needs no more than six",
    "cannot start any token": "put the text between quotes",
    "an escape": "look for a backslash between double quotes, and double it or use single quotes",
    "special characters": "remove the character; it can't be seen in most editors",
}
_PROBLEM_SHOWN = 120
_OTHER_HINT = "look at this line and the one before it"


class _Reading:
    """One file on its way from text to nodes of our own."""

    def __init__(self, source: str, faults: Faults) -> None:
        self._source = source
        self._faults = faults
        self._done: dict[int, tuple[Node, int]] = {}
        self._open: set[int] = set()

    def table_of(self, text: str) -> Table:
        root = self._compose(text)
        if root is None:
            raise unreadable(
                Place(self._source, 1, 1), "the file is empty", "`firstbyte init` writes one to begin with"
            )
        node, _ = self._node(root)
        if not isinstance(node, Table):
            what = "a list" if isinstance(node, Items) else shown(node.text)
            hint = "begin with keys: `providers:` and `routes:`"
            raise unreadable(node.place, f"the file is {what}, not a mapping of keys", hint)
        return node

    def _compose(self, text: str) -> yaml.Node | None:
        try:
            return yaml.compose(text, Loader=_Loader)
        except MarkedYAMLError as error:
            raise self._syntax(error) from None
        except (ValueError, OverflowError):
            # An escape such as "\U00110000" names a character that can't be.
            raise self._syntax_at(Place(self._source), "an escape is not a character") from None
        except ReaderError as error:
            place = place_after(self._source, text[: error.position])
            raise self._syntax_at(
                place, f"special characters are not allowed (U+{ord(text[error.position]):04X})"
            ) from None

    def _syntax(self, error: MarkedYAMLError) -> ConfigError:
        began, here = error.context_mark, error.problem_mark
        since = f" (what began in line {began.line + 1})" if began and here and began.line < here.line else ""
        return self._syntax_at(self._place(here) if here else Place(self._source), error.problem or "", since)

    def _syntax_at(self, place: Place, problem: str, since: str = "") -> ConfigError:
        hint = next((hint for sign, hint in _HINTS.items() if sign in problem), _OTHER_HINT)
        said = "it says something that may be a key (not shown)" if may_be_key(problem) else problem[:_PROBLEM_SHOWN]
        return unreadable(place, f"this is not YAML: {said.removeprefix('but ')}", hint + since)

    def _place(self, mark: Mark) -> Place:
        return Place(self._source, mark.line + 1, mark.column + 1)

    def _node(self, node: yaml.Node) -> tuple[Node, int]:
        """Our own node and how many nodes it stands for; one that aliases share is made once."""
        if id(node) in self._open:
            raise unreadable(self._place(node.start_mark), "this contains itself", "remove the alias inside it")
        if id(node) not in self._done:
            self._open.add(id(node))
            self._done[id(node)] = made = self._made(node)
            self._open.remove(id(node))
            if made[1] > MAX_NODES:
                wrong = f"with its aliases this stands for more than {MAX_NODES} values"
                raise unreadable(made[0].place, wrong, "use fewer aliases")
        return self._done[id(node)]

    def _made(self, node: yaml.Node) -> tuple[Node, int]:
        place = self._place(node.start_mark)
        match node:
            case yaml.MappingNode():
                return self._table(node, place)
            case yaml.SequenceNode():
                parts = [self._node(item) for item in node.value]
                return Items([part for part, _ in parts], place), 1 + sum(size for _, size in parts)
            case yaml.ScalarNode():
                return Scalar(node.value, node.style is None, place), 1
            case _:
                raise AssertionError(node)

    def _table(self, node: yaml.MappingNode, place: Place) -> tuple[Table, int]:
        entries: dict[str, Entry] = {}
        merged: list[Table] = []
        size = 1
        for key, value in node.value:
            made, weight = self._node(value)
            size += weight
            if key.tag == "tag:yaml.org,2002:merge":
                merged += self._merged(made)
            else:
                self._enter(entries, key, made)
        for table in merged:
            entries = {**table.entries, **entries}
        return Table(entries, place), size

    def _merged(self, node: Node) -> list[Table]:
        """What `<<` brings in; of several, the first wins."""
        nodes = node.items if isinstance(node, Items) else [node]
        for other in nodes:
            if not isinstance(other, Table):
                self._faults.add(
                    other.place, "<< brings in something that has no keys", "give it an alias of a mapping"
                )
        return [other for other in nodes if isinstance(other, Table)]

    def _enter(self, entries: dict[str, Entry], key: yaml.Node, value: Node) -> None:
        place = self._place(key.start_mark)
        if not isinstance(key, yaml.ScalarNode):
            self._faults.add(place, "a key must be a text", "write `name: value`")
        elif key.value in entries:
            line = entries[key.value].place.line
            self._faults.add(
                place, f"the key {shown(key.value)} is here twice, first in line {line}", "remove one of them"
            )
        else:
            entries[key.value] = Entry(place, value)
