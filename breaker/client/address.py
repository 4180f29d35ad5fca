"""Where the service is, and with which token it is asked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from breaker.client.http import httpx
from breaker.errors import DoorAddressError

DEFAULT_URL = "http://127.0.0.1:8642"
_SENDABLE = re.compile(r"[\x20-\x7e]*")
_HERE = re.compile(r"127\.[0-9.]+|::1|localhost")


@dataclass(frozen=True, slots=True)
class Address:
    """The service's URL without a slash at its end, and a token ("" for none)."""

    url: str
    token: str

    @classmethod
    def found(cls, url: str | None = None, token: str | None = None) -> Address:
        """What was given, else what FIRSTBYTE_URL and FIRSTBYTE_TOKEN say, else the default address and no token.

        Raises DoorAddressError for what can't be used; its message shows neither token nor password.
        """
        url = (url or os.environ.get("FIRSTBYTE_URL") or DEFAULT_URL).rstrip("/")
        token = (token or os.environ.get("FIRSTBYTE_TOKEN", "")).strip()
        if not _SENDABLE.fullmatch(token):  # and no space may stand around it: the error for that would show it
            raise DoorAddressError("the token has characters in it that can't be sent (not shown); see FIRSTBYTE_TOKEN")
        try:
            base = httpx.URL(url)
            str(base.host).encode("idna")
            there_is = base.port is None or 0 < base.port < 65_536
            if base.scheme not in ("http", "https") or not base.host or not there_is:
                raise ValueError(url)  # noqa: TRY301 # the message is the same for all of them
        except (httpx.InvalidURL, ValueError):
            raise DoorAddressError(f"{_bare(url)!r} is not an address; write it like {DEFAULT_URL}") from None
        return cls(url, token)

    def __repr__(self) -> str:
        """Without the token."""
        return f"Address({self.bare!r})"

    @property
    def bare(self) -> str:
        """The URL without the name and password that may stand before its host."""
        return _bare(self.url)

    def options(self) -> dict[str, Any]:  # Any: handed on to httpx as it is
        """What a client of httpx is made with."""
        base = httpx.URL(self.url)
        return {
            "base_url": base,
            "headers": {"Authorization": f"Bearer {self.token}"} if self.token else {},
            "trust_env": not _HERE.fullmatch(base.host),  # a proxy knows nothing of this machine's loopback
            "verify": base.scheme == "https",  # certificates take ten times as long to load as all else takes
        }


def _bare(url: str) -> str:
    return re.sub(r"//[^/?#]*@", "//", url)
