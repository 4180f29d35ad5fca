"""What the description of a configuration is made of: keys, sections, things under names, lists."""

import re
from dataclasses import dataclass

from monitor.config.kinds import Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """One key. `default` is what holds without it, as the docs write it ("" where the line says it)."""

    name: str
    holds: "Shape"
    line: str
    required: bool = False
    default: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A fixed set of keys; `notes` allows others that begin with `x-`, for anchors."""

    name: str
    keys: tuple[Key, ...]
    notes: bool = False

    def key(self, name: str) -> Key | None:
        """The key of that name."""
        return next((key for key in self.keys if key.name == name), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """Things under names that the user gives; `name` says what such a thing is ("provider")."""

    name: str
    pattern: re.Pattern[str]
    holds: "Shape"


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """A list of values of one kind; an item may be written as keys instead where `or_keys` says which, the whole list
    where `or_all_keys` does. With `or_none` it may be empty.
    """

    holds: Kind
    or_none: bool = False
    or_keys: Section | None = None
    or_all_keys: Section | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Either:
    """A single value, or the same written as keys."""

    holds: Kind
    or_keys: Section


Shape = Kind | Section | Named | Listing | Either
