"""Asks providers real questions and runs the service around the breaker."""
