"""The errors of a backtest: each message names what is wrong, and what to do."""

from breaker.errors import FirstbyteError


class TraceError(FirstbyteError):
    """A trace can't be used; the message names place, value and remedy."""


class PrometheusError(FirstbyteError):
    """Nothing answers at the address within the limit, or what answers isn't Prometheus."""


class PictureError(FirstbyteError):
    """No picture can be drawn, or not there."""
