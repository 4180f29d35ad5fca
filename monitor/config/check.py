"""Checks a document against the keys: values with their places come out, what doesn't fit becomes a fault."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from monitor.config.document import Entry, Items, Node, Scalar, Table
from monitor.config.faults import Faults, Place, Unfit, shown
from monitor.config.kinds import Kind
from monitor.config.shapes import Either, Key, Listing, Named, Section, Shape


@dataclass(frozen=True, slots=True)
class Leaf:
    """A single value; a Branch where a list's item is written as keys."""

    value: Any
    place: Place


@dataclass(frozen=True, slots=True)
class Row:
    """The values of a list that fit; `whole` when all did."""

    leaves: list[Leaf]
    place: Place
    whole: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """The values of a section, or of things by name, that fit; `broken` names those that are there and don't.

    `place` is that of its key, `places` those of the keys in it.
    """

    label: str
    place: Place
    held: "dict[str, Leaf | Row | Branch]" = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    def leaf(self, name: str) -> Leaf | None:
        """The single value of that name."""
        found = self.held.get(name)
        return found if isinstance(found, Leaf) else None

    def branch(self, name: str) -> "Branch":
        """The section of that name; an empty one where there is none."""
        found = self.held.get(name)
        return found if isinstance(found, Branch) else Branch(f"{self.label} {name}", self.place)

    def branches(self) -> "Iterator[tuple[str, Branch]]":
        """All sections in it by name."""
        for name, found in self.held.items():
            if isinstance(found, Branch):
                yield name, found

    def row(self, name: str) -> Row | None:
        """The list of that name."""
        found = self.held.get(name)
        return found if isinstance(found, Row) else None

    def rows(self) -> Iterator[tuple[str, Row]]:
        """All lists in it by name."""
        for name, found in self.held.items():
            if isinstance(found, Row):
                yield name, found


Checked = Leaf | Row | Branch
_ROOT = "the file"


def check(document: Table, root: Section, faults: Faults) -> Branch:
    """The document's values; everything that doesn't fit is in `faults` and left out."""
    return _Check(faults).section(root, document, Branch(_ROOT, document.place))


class _Check:
    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def shape(self, shape: Shape, entry: Entry, label: str) -> Checked | None:
        """What an entry holds; None where it doesn't fit."""
        node = entry.value
        match shape:
            case Kind():
                return self._leaf(shape, node, label)
            case Listing(or_all_keys=Section() as keys) if isinstance(node, Table):
                return self.section(keys, node, Branch(label, entry.place))
            case Listing():
                return self._row(shape, node, label)
            case Section():
                table = self._table(node, label, shape.keys[0].name)
                return self.section(shape, table, Branch(label, entry.place)) if table else None
            case Either(or_keys=keys) if isinstance(node, Table):
                return self.section(keys, node, Branch(label, entry.place))
            case Either(holds=kind):
                return self._leaf(kind, node, label)
            case Named():
                table = self._table(node, label, f"name-of-the-{shape.name}")
                return self._named(shape, table, Branch(label, entry.place)) if table else None

    def section(self, section: Section, table: Table, made: Branch) -> Branch:
        meant = set()
        for name, entry in table.entries.items():
            key = section.key(name)
            if key is None:
                if not (section.notes and name.startswith("x-")):
                    meant.add(self._unknown(section, name, entry, made))
            elif not _left_out(entry.value):
                self._hold(made, name, key.holds, entry, label=_label(made, key))
            elif key.required:
                made.broken.add(name)
                self._faults.add(entry.place, f"{_label(made, key)} is empty", f"fill it in: {key.line}")
        for key in section.keys:
            if key.required and key.name not in table.entries and key.name not in meant:
                self._faults.add(made.place, f"{made.label} has no {key.name}", f"add {key.name}: {key.line}")
        return made

    def _unknown(self, section: Section, name: str, entry: Entry, made: Branch) -> str | None:
        """Gives the key that was meant, as far as one can tell."""
        meant = self._faults.near(name, [key.name for key in section.keys])
        owner = next((key.name for key in section.keys if (inner := _keys_of(key.holds)) and inner.key(name)), None)
        hint = f"its keys are: {', '.join(key.name for key in section.keys)}"
        if owner:
            hint = f"write it below {owner}:"
        elif meant:
            secret = ", the name of an environment variable" if meant.endswith("_env") else ""
            hint = f"did you mean {meant}{secret}?"
        self._faults.add(entry.place, f"{made.label} has no key {shown(name)}", hint)
        return meant

    def _named(self, named: Named, table: Table, made: Branch) -> Branch | None:
        for name, entry in table.entries.items():
            if not named.pattern.fullmatch(name):
                wrong = f"{shown(name)} can't be the name of a {named.name}"
                self._faults.add(entry.place, wrong, _name_hint(named))
            self._hold(made, name, named.holds, entry, label=_named_label(named, name, made))
        if not table.entries:
            self._faults.add(made.place, f"{made.label} has nothing in it", f"add a {named.name}")
        return made

    def _hold(self, made: Branch, name: str, shape: Shape, entry: Entry, *, label: str) -> None:
        made.places[name] = entry.place
        found = self.shape(shape, entry, label)
        if found is None:
            made.broken.add(name)
        else:
            made.held[name] = found

    def _leaf(self, kind: Kind, node: Node, label: str) -> Leaf | None:
        if not isinstance(node, Scalar):
            what = "a list" if isinstance(node, Items) else "a mapping of keys"
            self._faults.add(node.place, f"{label} is {what}, not {kind.words}", "write a single value")
            return None
        value = kind.read(node)
        if isinstance(value, Unfit):
            self._faults.add(node.place, f"{label} {value.wrong}", value.hint)
            return None
        return Leaf(value, node.place)

    def _row(self, listing: Listing, node: Node, label: str) -> Row | None:
        if not isinstance(node, Items):
            what = "a mapping of keys" if isinstance(node, Table) else "empty" if node.empty else shown(node.text)
            hint = (
                f"write it between brackets: [{shown(node.text)}]"
                if isinstance(node, Scalar) and node.text
                else "write a list"
            )
            self._faults.add(node.place, f"{label} is {what}, not a list", hint)
            return None
        if not node.items and not listing.or_none:
            self._faults.add(node.place, f"{label} is empty", f"name at least one {listing.holds.words.split()[-1]}")
        found = [self._item(listing, item, f"{label}: {listing.holds.words}") for item in node.items]
        leaves = [leaf for leaf in found if leaf]
        return Row(leaves, node.place, whole=len(leaves) == len(found))

    def _item(self, listing: Listing, node: Node, label: str) -> Leaf | None:
        if listing.or_keys is None or not isinstance(node, Table):
            return self._leaf(listing.holds, node, label)
        return Leaf(self.section(listing.or_keys, node, Branch(label, node.place)), node.place)

    def _table(self, node: Node, label: str, example: str) -> Table | None:
        if isinstance(node, Table):
            return node
        if _left_out(node):
            return Table({}, node.place)
        what = "a list" if isinstance(node, Items) else shown(node.text)
        self._faults.add(
            node.place, f"{label} is {what}, not a mapping of keys", f"write below it, indented: `{example}: …`"
        )
        return None


def _keys_of(shape: Shape) -> Section | None:
    """The keys that may stand below a key."""
    return shape.or_keys if isinstance(shape, Either) else shape if isinstance(shape, Section) else None


def _left_out(node: Node) -> bool:
    return isinstance(node, Scalar) and node.empty


def _label(owner: Branch, key: Key) -> str:
    """ "door" for a section of the file, "door: port" for a value in one."""
    if owner.label == _ROOT:
        return key.name
    return f"{owner.label}{': ' if isinstance(key.holds, Kind) else ' '}{key.name}"


def _named_label(named: Named, name: str, owner: Branch) -> str:
    """ "provider zai" for what `providers` holds."""
    written = name if named.pattern.fullmatch(name) else shown(name)
    return f"{owner.label.removesuffix('s')} {written}"


def _name_hint(named: Named) -> str:
    signs = "letters, digits and ._:/@+-" if named.name == "model" else "small letters, digits and ._-"
    return f"use {signs}; begin with a letter or a digit"
