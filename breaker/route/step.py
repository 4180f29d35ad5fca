"""Which targets can't take a step: it needs what they can't, or its prompt is longer than they take."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from breaker.target import Ability, Target


@dataclass(frozen=True, slots=True)
class Unable:
    """A target that can't take a step: what it lacks, and its limit where the prompt is longer (None: it isn't)."""

    target: str
    lacks: tuple[Ability, ...]
    max_input_tokens: int | None

    @property
    def far(self) -> tuple[int, int]:
        """How far it is from what is needed: by more abilities, or by as many and a smaller limit."""
        return len(self.lacks), -(self.max_input_tokens or 0)


def unable(targets: Sequence[Target], needs: Collection[Ability], input_tokens: int = 0) -> tuple[Unable, ...]:
    """Those of the targets that can't take a step, in their order. What isn't known of a target speaks for it.

    Steps for which this is the same are the same to a route, so few different ones come of any number of steps.
    """
    return tuple(_unable(targets, needs, input_tokens))


def _unable(targets: Sequence[Target], needs: Collection[Ability], input_tokens: int) -> Iterator[Unable]:
    for target in targets:
        most, can = target.max_input_tokens, target.can
        lacks = () if can is None else tuple(one for one in Ability if one in needs and one not in can)
        too_long = most is not None and input_tokens > most
        if lacks or too_long:
            yield Unable(target.name, lacks, most if too_long else None)
