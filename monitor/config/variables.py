"""Environment variables: their names, as a configuration may give them, and the secrets in them."""

import re
from collections.abc import Mapping

from monitor.config.faults import Unfit, shown

_NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,127}")
# Capitals and digits in one piece, as some services write their keys.
_KEY_IN_CAPITALS = re.compile(r"(?=.*\d)[A-Z0-9]{16,}")
_SENDABLE = re.compile(r"[\x21-\x7e]+")


def variable(text: str) -> str | Unfit:
    """A variable's name; whatever might be a key instead isn't repeated."""
    if match := re.fullmatch(r"\$\{?([A-Z_][A-Z0-9_]*)\}?", text):
        return Unfit(f"is {shown(text)}, not the name of a variable", f"write the name alone: {match[1]}")
    if not _NAME.fullmatch(text) or _KEY_IN_CAPITALS.fullmatch(text):
        hint = "export the key in a variable and write its name here, such as EXAMPLE_API_KEY"
        return Unfit("is not the name of an environment variable (not shown: it may be a key)", hint)
    return text


def secret(name: str, environ: Mapping[str, str]) -> str | Unfit:
    """What a variable holds. No fault shows any of it."""
    value = environ.get(name, "")
    if not value:
        wrong = f"the environment variable {name} is {'empty' if name in environ else 'not set'}"
        return Unfit(wrong, f"export {name}=…")
    if value != value.strip():
        wrong = f"the environment variable {name} begins or ends with a blank or a line end (value not shown)"
        return Unfit(wrong, f'export {name}="$(printf %s "${name}" | tr -d "[:space:]")"')
    if not _SENDABLE.fullmatch(value):
        wrong = f"the environment variable {name} has a blank or a special character in it (value not shown)"
        return Unfit(wrong, f"export {name}=… as the provider shows it")
    return value
