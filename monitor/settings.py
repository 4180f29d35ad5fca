"""What a configuration says, ready to run; nothing in here reads a file or the environment."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from breaker.policy import Policy
from breaker.route import Route
from breaker.target import Target
from breaker.wire.signs import PHRASES, Phrase


class Address(NamedTuple):
    """A host, by name or number, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Door:
    """Where the service listens.

    `agent_token` lets an agent report, `admin_token` also move circuits; None means that none is asked for,
    which is allowed on loopback only.
    """

    host: str = "127.0.0.1"
    port: int = 8642
    agent_token: str | None = None
    admin_token: str | None = None

    def __repr__(self) -> str:
        """Without the tokens, so that no log or trace can show them."""
        return f"Door(host={self.host!r}, port={self.port})"


class LogForm(StrEnum):
    """How lines of the log are written."""

    TEXT = "text"  # for people
    LOGFMT = "logfmt"
    JSON = "json"


class LogLevel(StrEnum):
    """The least that a line must matter to be written; `debug` tells of each probe too."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True, slots=True)
class Logs:
    """What the service logs, and how."""

    form: LogForm = LogForm.TEXT
    level: LogLevel = LogLevel.INFO


STDOUT = "stdout"


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditPlan:
    """Where the audit of agents' tasks goes: a file's path, or STDOUT; None for nowhere.

    `share` of the runs, 0 to 1, is written whole; of the others what failed or wasn't done.
    """

    to: str | None = None
    share: float = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input_usd: float
    output_usd: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """What probes of one provider may cost in a day (UTC); None means no limit."""

    tokens_per_day: int | None = None
    usd_per_day: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeShape:
    """What a probe asks.

    `prompt_tokens` is its size at four bytes a token, tool schemas included. `stable_prefix` keeps the start of the
    prompt the same each time, as agents do whose prefix the provider caches. `skip_when_fresh` leaves a probe
    out where agents' reports say the same for free. `fresh_connection` opens a connection for each probe.
    """

    prompt_tokens: int = 9_000
    max_tokens: int = 2_048
    stable_prefix: bool = False
    skip_when_fresh: bool = False
    fresh_connection: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetPlan:
    """A target with all that holds for it. `price` None means that its probes' cost in money isn't known.

    `phrases` are the gateways' words that its answers are searched for.
    """

    target: Target
    policy: Policy
    probe: ProbeShape = ProbeShape()
    price: Price | None = None
    budget: Budget = Budget()
    phrases: tuple[Phrase, ...] = PHRASES

    @property
    def name(self) -> str:
        """The target's name."""
        return self.target.name


class Form(StrEnum):
    """How a receiver of notifications wants them."""

    JSON = "json"
    SLACK = "slack"
    TEAMS = "teams"
    DISCORD = "discord"
    NTFY = "ntfy"


class Told(StrEnum):
    """What a receiver may be told of."""

    MOVES = "moves"
    NO_TARGET = "no_target"  # a route has no target left that agents may be sent to


@dataclass(frozen=True, kw_only=True, slots=True)
class Receiver:
    """Whom to tell; `url` is as good as a password."""

    name: str
    form: Form
    url: str = field(repr=False)
    events: tuple[Told, ...] = tuple(Told)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All of a configuration.

    `store_url` None means the embedded store in `data`. `source` is the file that it was read from, None for the
    demonstration. `phrases` are all gateways' words that are known, the user's own first. `control` are addresses that
    say whether our own network is up; with none, providers say it for each other.
    """

    targets: tuple[TargetPlan, ...]
    routes: tuple[Route, ...]
    door: Door = Door()
    store_url: str | None = field(default=None, repr=False)  # a password may be in it
    data: Path
    phrases: tuple[Phrase, ...] = PHRASES
    control: tuple[Address, ...] = ()
    logs: Logs = Logs()
    receivers: tuple[Receiver, ...] = ()
    audit: AuditPlan = AuditPlan()
    source: Path | None = None

    @property
    def plans(self) -> dict[str, TargetPlan]:
        """The targets by name."""
        return {plan.name: plan for plan in self.targets}
