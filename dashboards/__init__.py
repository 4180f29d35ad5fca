"""Makes the dashboards for Grafana: `python -m dashboards` writes each anew beside its definition."""

from dashboards.cost import COST
from dashboards.frame import Dashboard
from dashboards.monitor import MONITOR
from dashboards.overview import OVERVIEW
from dashboards.provider import PROVIDER
from dashboards.routing import ROUTING

ALL: tuple[Dashboard, ...] = (OVERVIEW, PROVIDER, ROUTING, COST, MONITOR)

__all__ = ["ALL", "Dashboard"]
