"""Writes lines without holding anybody up: what nobody takes is dropped and counted."""

from monitor.outlet.outlet import CLOSE_S, MOST_BYTES, Outlet
from monitor.outlet.places import Descriptor, File, unread
from monitor.outlet.streams import lines_dropped, unhindered

__all__ = ["CLOSE_S", "MOST_BYTES", "Descriptor", "File", "Outlet", "lines_dropped", "unhindered", "unread"]
