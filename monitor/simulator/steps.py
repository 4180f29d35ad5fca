"""The steps of which an answer is made, and what they are made from; times are in seconds since the request arrived."""

import random
from dataclasses import dataclass

from monitor.simulator.behaviour import Behaviour
from monitor.simulator.question import Reply
from monitor.simulator.wire import Wire


@dataclass(frozen=True, kw_only=True)
class Head:
    """Status and headers; `length` None means a chunked body."""

    at_s: float
    status: int = 200
    content_type: str | None = None
    length: int | None = None
    retry_after_s: float | None = None
    others: tuple[tuple[str, str], ...] = ()
    """Further headers, as they are."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """A piece of the body; `carries` says that it holds a part of the model's answer. An empty one is but a pause."""

    at_s: float
    data: bytes
    carries: bool = False


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Half of a piece of the body, then the end of the connection."""

    at_s: float
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Reset:
    """The end of the connection by a reset."""

    at_s: float


@dataclass(frozen=True, kw_only=True)
class Hang:
    """Silence until the client goes."""


Step = Head | Body | Cut | Reset | Hang


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Everything that the steps of one answer are made from."""

    behaviour: Behaviour
    reply: Reply
    wire: Wire
    chance: random.Random
