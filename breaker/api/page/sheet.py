"""The page's files, and the headers under which a browser runs these and nothing else."""

import base64
import hashlib
from importlib.resources import files
from string import Template


def _read(name: str) -> str:
    return files("breaker.api.page").joinpath(name).read_text(encoding="utf-8")


def _source(text: str) -> str:
    """What a policy calls a text that may stand in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


TEMPLATE = Template(_read("page.html"))
STYLE = _read("page.css")
SCRIPT = _read("page.js")


def headers(*, scripts: str = "", forms: str = "'none'") -> dict[str, str]:
    """The headers of a page of ours with this style; `scripts` is the script that stands in it, if there is one."""
    runs = f"script-src {_source(scripts)}; connect-src 'self'; " if scripts else ""
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src {_source(STYLE)}; {runs}img-src data: 'self'; "
        f"base-uri 'none'; form-action {forms}; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "X-Robots-Tag": "noindex",
        "Cache-Control": "no-store",
    }


HEADERS = headers(scripts=SCRIPT)
