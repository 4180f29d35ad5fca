"""Numbers that can be set for all, for a provider and for a model: the nearest wins."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Generic, TypeVar

from breaker.policy import Policy, flaws
from monitor.config.check import Branch
from monitor.config.faults import Faults, Place
from monitor.settings import ProbeShape

T = TypeVar("T", Policy, ProbeShape)


@dataclass(frozen=True, slots=True)
class Layered(Generic[T]):
    """What holds in the end, and for each field that was set the section that set it."""

    value: T
    set_by: dict[str, Branch]
    broken: frozenset[str]


def layered(base: T, sections: Sequence[Branch]) -> Layered[T]:
    """`base` with what the sections say, the farthest first."""
    values: dict[str, object] = {}
    set_by: dict[str, Branch] = {}
    broken: set[str] = set()
    for section in sections:
        broken = (broken - section.held.keys()) | section.broken
        for name in section.held:
            if leaf := section.leaf(name):
                values[name] = leaf.value
                set_by[name] = section
    return Layered(replace(base, **values), set_by, frozenset(broken))  # type: ignore[arg-type]  # the keys' kinds are the fields'


def check_policy(policy: Layered[Policy], otherwise: Branch, faults: Faults) -> None:
    """Add the policy's flaws, each at the line that is nearest to its cause; `otherwise` where no line is."""
    for flaw in flaws(policy.value):
        named = _fields_in(f"{flaw.field} {flaw.wrong} {flaw.hint}")
        if policy.broken.intersection(named):
            continue
        culprit = next((name for name in named if name in policy.set_by), None)
        section = policy.set_by[culprit] if culprit else otherwise
        place = _place(section, culprit)
        faults.add(place, f"{section.label}: {flaw.field} {flaw.wrong}", flaw.hint)


def _place(section: Branch, field: str | None) -> Place:
    leaf = section.leaf(field) if field else None
    return leaf.place if leaf else section.place


def _fields_in(text: str) -> list[str]:
    """The policy's fields that a text names, in its order."""
    known = {field.name for field in fields(Policy)}
    return [word for word in re.findall(r"\w+", text) if word in known]
