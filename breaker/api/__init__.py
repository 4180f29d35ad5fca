"""The HTTP door: where to, how it went, and a page that shows how things stand."""

from breaker.api.access import Access
from breaker.api.app import create_app
from breaker.api.looking import Besides
from breaker.api.notices import Level, Notice

__all__ = ["Access", "Besides", "Level", "Notice", "create_app"]
