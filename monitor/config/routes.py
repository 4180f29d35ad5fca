"""Makes the routes of checked values, and finds targets that no route leads to."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from breaker.route import Route, share_of
from breaker.target import Target
from monitor.config.check import Branch, Leaf, Row
from monitor.config.faults import Faults, shown
from monitor.settings import TargetPlan


@dataclass(frozen=True, slots=True)
class _Written:
    """A route as it is written: a list of targets, or keys with such a list; `row` None where the list doesn't fit."""

    name: str
    row: Row | None
    share: Leaf | None


def routes(root: Branch, plans: Sequence[TargetPlan], faults: Faults) -> tuple[Route, ...]:
    """The routes; worth something only if no fault was added."""
    targets = {plan.name: plan.target for plan in plans}
    written = list(_rows(root.branch("routes")))
    meant: set[str] = set()
    made = []
    for each in written:
        named: dict[str, Leaf] = {}
        for leaf in each.row.leaves if each.row else ():
            meant.add(_check_step(each.name, leaf, named, targets, faults))
            named.setdefault(leaf.value, leaf)
        share = each.share.value if each.share else 1.0
        known = tuple(targets[target] for target in named if target in targets)
        made.append(Route(name=each.name, targets=known, max_open_share=share))
        _check_share(each, len(named), faults)
    whole = all(each.row and each.row.whole for each in written)
    if written and whole and not root.branch("routes").broken:
        _check_unrouted(root.branch("providers"), targets, meant, faults)
    return tuple(made)


def _rows(section: Branch) -> Iterator[_Written]:
    for name, found in section.held.items():
        if isinstance(found, Branch):
            yield _Written(name, found.row("targets"), found.leaf("max_open_share"))
        elif isinstance(found, Row):
            yield _Written(name, found, None)


def _check_share(written: _Written, count: int, faults: Faults) -> None:
    """A share of so many targets that allows not even one to stay out."""
    if written.share is None or count == 0 or share_of(count, written.share.value) > 0:
        return
    none = "its one target could never be taken out" if count == 1 else f"of {count} targets none could be taken out"
    wrong = f"route {written.name}: max_open_share is {written.share.value:g}: {none}"
    hint = "leave it out" if count == 1 else f"choose {math.ceil(100 / count) / 100:g} or more, or leave it out"
    faults.add(written.share.place, wrong, hint)


def _check_step(
    route: str, leaf: Leaf, before: Mapping[str, Leaf], targets: Mapping[str, Target], faults: Faults
) -> str:
    """Gives the target that was meant, as far as one can tell."""
    name = str(leaf.value)
    if name in before:
        wrong = f"route {route}: {name} is here twice, first in line {before[name].place.line}"
        faults.add(leaf.place, wrong, "remove one of them")
    if name in targets:
        return name
    near = faults.near(name, targets)
    hint = f"did you mean {near}?" if near else f"there are: {', '.join(list(targets)[:5]) or 'none'}"
    faults.add(leaf.place, f"route {route}: there is no target {shown(name)}", hint)
    return near or name


def _check_unrouted(providers: Branch, targets: Mapping[str, Target], meant: set[str], faults: Faults) -> None:
    """A target in no route would be probed, and paid, for nothing."""
    for name, target in targets.items():
        if name not in meant:
            place = providers.branch(target.provider.name).branch("models").places[target.model]
            faults.add(
                place, f"{name} is in no route: it would be probed for nothing", "add it to a route, or remove it"
            )
