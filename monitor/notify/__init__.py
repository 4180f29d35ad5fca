"""Tells webhooks of moves: each move once, however many replicas there are, and never in the way of a probe."""

from monitor.notify.notifier import Notifier
from monitor.notify.sending import Refused, send

__all__ = ["Notifier", "Refused", "send"]
