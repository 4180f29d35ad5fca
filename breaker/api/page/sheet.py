"""The files of a page of ours, and the headers under which a browser runs these and nothing else."""

import base64
import hashlib
from importlib.resources import files
from string import Template

_SHARED = "breaker.api.page"


class Sheet:
    """A page's template, style and script, as they lie in a package; all pages share one style and may add their own.

    `forms` says where its forms may go, as a policy of content says it.
    """

    def __init__(self, package: str, template: str, style: str, script: str, *, forms: str = "'none'") -> None:
        self._template = Template(_read(package, template))
        self.style = _read(_SHARED, "page.css") + ("" if package == _SHARED else _read(package, style))
        self.script = _read(package, script)
        self.headers = {
            "Content-Security-Policy": f"default-src 'none'; style-src {_source(self.style)}; "
            f"script-src {_source(self.script)}; connect-src 'self'; img-src data: 'self'; "
            f"base-uri 'none'; form-action {forms}; frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "X-Robots-Tag": "noindex",
            "Cache-Control": "no-store",
        }

    def filled(self, **parts: str) -> str:
        """The page with these parts, of which each is safe HTML."""
        return self._template.substitute(parts, style=self.style, script=self.script)


def _read(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _source(text: str) -> str:
    """What a policy calls a text that may stand in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
