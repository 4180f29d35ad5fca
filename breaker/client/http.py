"""The HTTP library there is: httpx or httpx2, which bear the same names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx
# What an agent has loaded already costs nothing more.
elif sys.modules.get("httpx2") and not sys.modules.get("httpx"):
    import httpx2 as httpx
else:
    try:
        import httpx
    except ModuleNotFoundError:
        import httpx2 as httpx

__all__ = ["httpx"]
