"""Pays for probes: keeps each provider's spending in the store and says when a budget runs out."""

import logging
import time
from collections.abc import Sequence
from typing import Protocol

from breaker.answer import Answer
from breaker.api.notices import Notice, Spent, warning
from breaker.errors import StoreError, StoreGoneError
from breaker.logged import BUDGET, STORE_TROUBLE
from monitor.budget import SLOWED, Cost, Level, Purse, cost, day_of
from monitor.metrics import Metrics
from monitor.settings import TargetPlan

_log = logging.getLogger(__name__)


class Spending(Protocol):
    """The part of a store that sums up what is spent."""

    async def spend(self, provider: str, day: str, tokens: int, usd: float) -> tuple[int, float]:
        """Add to a day's spending; gives the day's tokens and US dollars."""
        ...


class Till:
    """All providers' purses. Spending of which the store can't be told is owed to it and counts here meanwhile.

    Days are those of this machine's clock in UTC; replicas share the sums.
    """

    def __init__(self, plans: Sequence[TargetPlan], store: Spending, metrics: Metrics) -> None:
        self._purses: dict[str, Purse] = {}  # of those that have gone too: a probe of theirs may be under way
        self._priced: set[str] = set()
        self._probed: set[str] = set()
        self._untold: set[str] = set()  # of whose spending the store takes no word
        self.renew(plans)
        self._store = store
        self._metrics = metrics

    def renew(self, plans: Sequence[TargetPlan]) -> None:
        """Go by other budgets; what was spent and is owed stays so."""
        budgets = {plan.target.provider.name: plan.budget for plan in plans}
        for name, budget in budgets.items():
            self._purses.setdefault(name, Purse(budget)).budget = budget
        self._probed = set(budgets)
        self._priced = {plan.target.provider.name for plan in plans if plan.price is not None}

    def level(self, provider: str) -> Level:
        """How far the provider's budget of today is spent."""
        return self._purses[provider].level(_today())

    async def pay(self, answer: Answer, plan: TargetPlan) -> None:
        """Book what an answer cost. Each level that is reached is logged once a day."""
        provider, day = plan.target.provider.name, _today()
        purse, paid = self._purses[provider], cost(answer, plan.price)
        await self._book(provider, day, paid)
        self._metrics.spent(plan.name, paid, purse.share(day))

    def notices(self) -> list[Notice]:
        """One sentence for each budget that is nearly or fully spent today."""
        day = _today()
        short = {
            name: purse
            for name, purse in self._purses.items()
            if name in self._probed and purse.level(day) is not Level.FREE
        }
        return [warning(_told(name, purse, day)) for name, purse in short.items()]

    async def spent(self) -> list[Spent]:
        """What each provider's probes have cost today, also of other processes; without the store as known here."""
        day = _today()
        probed = [name for name in self._purses if name in self._probed]
        for name in probed:
            await self._book(name, day, Cost())
        return [self._spent(name, self._purses[name], day) for name in probed]

    def _spent(self, name: str, purse: Purse, day: str) -> Spent:
        tokens, usd = purse.totals(day)
        return Spent(provider=name, tokens=tokens, usd=usd if name in self._priced else None, share=purse.share(day))

    async def _book(self, provider: str, day: str, paid: Cost) -> None:
        purse = self._purses[provider]
        reached = purse.note(day, *await self._totals(provider, day, paid))
        if reached is not None:
            _log.warning("%s", _told(provider, purse, day), extra=BUDGET(provider=provider))

    async def _totals(self, provider: str, day: str, paid: Cost) -> tuple[int, float]:
        purse = self._purses[provider]
        owed, purse.owed = purse.owed + paid, Cost()
        try:
            totals = await self._store.spend(provider, day, owed.tokens, owed.usd)
        except StoreError as error:
            self._tell(provider, error)
            purse.owed += owed
            tokens, usd = purse.totals(day)
            return tokens + paid.tokens, usd + paid.usd
        self._untold.discard(provider)
        return totals

    def _tell(self, provider: str, error: StoreError) -> None:
        """Log once what won't pass by itself."""
        if not isinstance(error, StoreGoneError) and provider not in self._untold:
            self._untold.add(provider)
            _log.warning("what probing %s costs is counted here alone: %s", provider, error, extra=STORE_TROUBLE())


def _today() -> str:
    return day_of(time.time())


def _told(provider: str, purse: Purse, day: str) -> str:
    share = purse.share(day) or 0.0
    limits = [f"{purse.budget.tokens_per_day:,} tokens"] if purse.budget.tokens_per_day is not None else []
    limits += [f"{purse.budget.usd_per_day:g} US dollars"] if purse.budget.usd_per_day is not None else []
    told = f"probing {provider} has spent {share:.0%} of today's budget ({' and '.join(limits)})"
    if purse.level(day) is Level.SPENT:
        return f"{told}: until midnight UTC one interval in {SLOWED} is probed"
    return f"{told}: at 100% one interval in {SLOWED} is probed"
