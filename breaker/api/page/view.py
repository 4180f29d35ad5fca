"""All that the page shows at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from breaker.api.headline import Known
from breaker.api.notices import Aside, Notice, Spent
from breaker.circuit import Move
from breaker.history import NOTHING, History
from breaker.route import Decision
from breaker.switchboard import Standing
from breaker.target import Target


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """All that the page shows, as it was at `now` (the store's time).

    `spent` is what probes have cost today, None where nobody probes here; `asides` are further sections.
    """

    decisions: Sequence[Decision]
    standings: Sequence[Standing]
    moves: Sequence[tuple[str, Move]]
    notices: Sequence[Notice]
    now: float
    known: Known
    metrics: bool = False
    histories: Mapping[str, History] = field(default_factory=dict)
    spent: Sequence[Spent] | None = None
    asides: Sequence[Aside] = ()
    by_name: Mapping[str, Standing] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Find each target's standing without a search."""
        object.__setattr__(self, "by_name", {standing.target.name: standing for standing in self.standings})

    def standing(self, target: Target) -> Standing:
        """How a target of a route stands."""
        return self.by_name[target.name]

    def history(self, target: Target) -> History:
        """What is known of a target's last day."""
        return self.histories.get(target.name, NOTHING)
