"""Policies that differ in every rule; the workers and the model know them by their places."""

from breaker.policy import Policy

POLICIES = (
    Policy(),
    Policy(errors_row=1, slow_row=3, recover_row=1, wary_s=0.0, hold_growth=2.0, throttled_row=2),
    Policy(errors_row=3, slow_row=1, recover_row=3, rate_answers=6, interval_s=120.0),
    Policy(probing=False, rate_answers=8),
)
