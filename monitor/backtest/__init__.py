"""Runs recorded answers through the rules of the service, with moved time, and says what they would have done."""

from monitor.backtest.step import Step
from monitor.backtest.tape import Made, Played, Run, run

__all__ = ["Made", "Played", "Run", "Step", "run"]
