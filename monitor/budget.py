"""Counts what probes cost and says how much of a provider's day is spent."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

from breaker.answer import Answer, Ended
from monitor.probe.prompts import BYTES_PER_TOKEN
from monitor.settings import Budget, Price, TargetPlan

DAY_S = 86_400
# At this share of a budget there is a warning, early enough to raise it before probing slows down.
WARN_AT = 0.8
# Once a budget is spent, one interval in so many is probed. The spending goes on beyond it, by a tenth of the day's
# usual at most: a target that nobody looks at any more would look well, which costs more than the probes do.
SLOWED = 10


class Level(Enum):
    """How far a day's budget is spent."""

    FREE = "free"
    WARNED = "warned"
    SPENT = "spent"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one or more probes cost; `usd` leaves out what has no price."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0

    @property
    def tokens(self) -> int:
        """Both kinds of tokens."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Cost") -> "Cost":
        """Both together."""
        return Cost(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            usd=self.usd + other.usd,
        )


def cost(answer: Answer, price: Price | None) -> Cost:
    """What an answer cost: as the provider counted it, else by its size at four bytes a token.

    Refused requests and connections that never were cost nothing; silence costs the prompt, which may have been read.
    """
    refused = answer.status is not None and not 200 <= answer.status < 300
    if refused or answer.ended is Ended.UNREACHABLE:
        return Cost()
    prompt = answer.prompt_tokens or (answer.prompt_bytes or 0) // BYTES_PER_TOKEN
    chars = (answer.text_chars or 0) + (answer.reasoning_chars or 0)
    completion = chars // BYTES_PER_TOKEN if answer.completion_tokens is None else answer.completion_tokens
    return _priced(prompt, completion, price)


def _priced(prompt: int, completion: int, price: Price | None) -> Cost:
    usd = 0.0 if price is None else (prompt * price.input_usd + completion * price.output_usd) / 1e6
    return Cost(prompt_tokens=prompt, completion_tokens=completion, usd=usd)


def day_of(now: float) -> str:
    """The day (UTC) of a moment in seconds since 1970, as `2026-11-30`."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()


class Purse:
    """What one provider's probes have cost on a day, beside its budget; a new day begins at nothing.

    `owed` is what the store hasn't been told yet.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.owed = Cost()
        self._day = ""
        self._tokens = 0
        self._usd = 0.0
        self._said = Level.FREE

    def note(self, day: str, tokens: int, usd: float) -> Level | None:
        """Take over the day's totals; gives a level that is reached for the first time this day, else None."""
        if day != self._day:
            self._day, self._said = day, Level.FREE
        self._tokens, self._usd = tokens, usd
        level = self.level(day)
        if level is self._said or level is Level.FREE:
            return None
        self._said = level
        return level

    def totals(self, day: str) -> tuple[int, float]:
        """The tokens and US dollars of a day, as far as they are known here."""
        return (self._tokens, self._usd) if day == self._day else (0, 0.0)

    def share(self, day: str) -> float | None:
        """The spent share of the budget, of tokens or money, whichever is more; None where there is no limit."""
        tokens, usd = self.totals(day)
        pairs = ((tokens, self.budget.tokens_per_day), (usd, self.budget.usd_per_day))
        return max((spent / limit if limit else 1.0 for spent, limit in pairs if limit is not None), default=None)

    def level(self, day: str) -> Level:
        """How far the budget is spent."""
        share = self.share(day)
        if share is None or share < WARN_AT:
            return Level.FREE
        return Level.WARNED if share < 1.0 else Level.SPENT


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What a day's probes come to while all is well and every answer is as long as it may be.

    `name` is a target or a provider; `usd_per_day` is None where a price isn't known.
    """

    name: str
    probes_per_day: float
    tokens_per_day: int
    usd_per_day: float | None
    budget: Budget

    @property
    def share(self) -> float | None:
        """Of the provider's budget; None where there is no limit. More than 1.0 means that probing will slow down."""
        purse = Purse(self.budget)
        purse.note("", self.tokens_per_day, self.usd_per_day or 0.0)
        return purse.share("")


def estimate(plan: TargetPlan) -> Estimate:
    """What one target's probes come to in a day; nothing where probing is off."""
    probes = DAY_S / plan.policy.interval_s if plan.policy.probing else 0.0
    one = _priced(plan.probe.prompt_tokens, plan.probe.max_tokens, plan.price)
    return Estimate(
        name=plan.name,
        probes_per_day=probes,
        tokens_per_day=round(probes * one.tokens),
        usd_per_day=None if plan.price is None and probes else probes * one.usd,
        budget=plan.budget,
    )


def estimates(plans: Iterable[TargetPlan]) -> list[Estimate]:
    """What each provider's probes come to in a day, in the order of the plans."""
    groups: dict[str, list[TargetPlan]] = {}
    for plan in plans:
        groups.setdefault(plan.target.provider.name, []).append(plan)
    return [_together(name, group) for name, group in groups.items()]


def _together(name: str, plans: list[TargetPlan]) -> Estimate:
    each = [estimate(plan) for plan in plans]
    paid = [e.usd_per_day for e in each if e.usd_per_day is not None]
    return Estimate(
        name=name,
        probes_per_day=sum(e.probes_per_day for e in each),
        tokens_per_day=sum(e.tokens_per_day for e in each),
        usd_per_day=sum(paid) if len(paid) == len(each) else None,
        budget=plans[0].budget,
    )
