"""The JSON of the status page: our own shape, and beside it the one that readers of status pages know."""

# pydantic reads the standard library's TypedDict from Python 3.12 on only.
from typing_extensions import TypedDict


class PageShape(TypedDict):
    """Which page this is."""

    id: str
    name: str
    url: str
    time_zone: str
    updated_at: str


class IndicatorShape(TypedDict):
    """How bad it is: none, minor, major or critical; the sentence beside it says more."""

    indicator: str
    description: str


class ComponentShape(TypedDict):
    """A route or a target: operational, degraded_performance, partial_outage, major_outage or under_maintenance."""

    id: str
    name: str
    status: str
    description: str
    position: int
    page_id: str
    group: bool
    group_id: None
    showcase: bool
    only_show_if_degraded: bool
    created_at: str
    updated_at: str


class IndicatedShape(TypedDict):
    """How bad it is, alone."""

    page: PageShape
    status: IndicatorShape


class SummaryShape(IndicatedShape):
    """All that readers of status pages know. There are no incidents besides what components say."""

    components: list[ComponentShape]
    incidents: list[str]
    scheduled_maintenances: list[str]


class RouteStepShape(TypedDict):
    """A target in a route's order of preference, and why it is or isn't used."""

    target: str
    state: str
    chosen: bool
    why: str


class RouteStatusShape(TypedDict):
    """Where a route goes, and why."""

    route: str
    target: str
    role: str
    why: str
    in_order: int
    stale: bool
    targets: list[RouteStepShape]


class HourShape(TypedDict):
    """First bytes within `over_s`: how many, how many answers had none, and quantiles (null: there was none)."""

    over_s: float
    count: int
    missing: int
    p50_s: float | None
    p95_s: float | None


class SlotShape(TypedDict):
    """What became of the answers of a slot; `out` of them came while the target was out."""

    at: str
    good: int
    slow: int
    failed: int
    refused: int
    throttled: int
    nothing: int
    out: int
    verdict: str


class DayShape(TypedDict):
    """The last ninety slots; those without answers are left out."""

    since: str
    slot_s: float
    good: int
    bad: int
    slots: list[SlotShape]


class TargetStatusShape(TypedDict):
    """How a target stands, in facts that are apart: what it is, since when, why, and when it was last heard of."""

    target: str
    state: str
    cause: str | None
    since: str | None
    until: str | None
    why: str
    stale: bool
    unheard: bool
    last_answer_at: str | None
    last_verdict: str | None
    last_first_byte_s: float | None
    hour: HourShape
    day: DayShape


class MovedShape(TypedDict):
    """A move in plain words."""

    target: str
    at: str
    state: str
    cause: str
    text: str
    why: str


class SpentShape(TypedDict):
    """What a provider's probes have cost today (UTC); `usd` is null without a price, `share` without a budget."""

    provider: str
    tokens: int
    usd: float | None
    share: float | None


class StatusShape(SummaryShape):
    """All that the page shows. `mood` is well, backup, last-resort, self-suspect or unknown."""

    generated_at: str
    stale: bool
    age_s: float | None
    self_suspect_s: float | None
    mood: str
    headline: str
    more: list[str]
    routes: list[RouteStatusShape]
    targets: list[TargetStatusShape]
    moves: list[MovedShape]
    spent: list[SpentShape] | None
