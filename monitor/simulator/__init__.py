"""Providers that misbehave on request, in every wire."""

from monitor.simulator.behaviour import MEANINGS, STATUSES, Behaviour, BehaviourName
from monitor.simulator.foreground import read_target, simulate
from monitor.simulator.record import Asked, Attempt, End
from monitor.simulator.recorded import Recorded
from monitor.simulator.replay import Replay, Row, pick
from monitor.simulator.server import Simulator

__all__ = [
    "MEANINGS",
    "STATUSES",
    "Asked",
    "Attempt",
    "Behaviour",
    "BehaviourName",
    "End",
    "Recorded",
    "Replay",
    "Row",
    "Simulator",
    "pick",
    "read_target",
    "simulate",
]
