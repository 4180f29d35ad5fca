"""The metrics of agents' tasks, each child bound once."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry

from breaker.done import Completion, Ground
from breaker.done.words import OVER
from breaker.run import State
from breaker.switchboard import Concluded, Staged
from monitor.metrics import names
from monitor.metrics.series import Number


class RunMetrics:
    """Decisions, claims of completion and operations, as this process hears of them; each is told to one process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        decisions, operations = names.RUN_DECISIONS.numbers(registry), names.RUN_OPERATIONS.numbers(registry)
        self._of_providers = names.PREVENTED.numbers(registry), names.CLAIMED.numbers(registry)
        self._prevented: dict[str, Number] = {}
        self._claimed: dict[str, Number] = {}
        self._decisions = {pair: decisions.labels(*(word.value for word in pair)) for pair in possible()}
        self._operations = {state: operations.labels(state.value) for state in State}

    def renew(self, providers: Iterable[str]) -> None:
        """Count for these providers from now on; of others all is removed."""
        known = tuple(dict.fromkeys(providers))
        for gone in set(self._claimed) - set(known):
            for counter in self._of_providers:
                counter.remove(gone)
        prevented, claimed = self._of_providers
        self._prevented = {name: prevented.labels(name) for name in known}
        self._claimed = {name: claimed.labels(name) for name in known}

    def staged(self, staged: Staged) -> None:
        """Count an operation that has come to another stage."""
        self._operations[staged.stage.state].inc()

    def concluded(self, concluded: Concluded) -> None:
        """Count a decision, and a claim of completion where it is one."""
        ruling, provider = concluded.ruling, concluded.provider
        self._decisions[ruling.completion, ruling.reason].inc()
        if concluded.claim and provider in self._claimed:  # another replica may know others
            self._claimed[provider].inc()
            if ruling.prevented:
                self._prevented[provider].inc()


def possible() -> list[tuple[Completion, Ground]]:
    """Every decision there can be, with the reason that decides it."""
    pairs = []
    for reason in Ground:
        if reason is Ground.AGREED:
            found = [Completion.COMPLETED]
        elif reason in OVER:
            found = [Completion.PARTIALLY_COMPLETED, Completion.FAILED]
        else:
            found = [Completion.NOT_FINISHED]
        pairs += [(completion, reason) for completion in found]
    return pairs
