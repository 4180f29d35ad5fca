"""The configurations in tests/configs: bad ones, each with its exact message beside it, and good ones."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "configs"
BAD = sorted(path.name for path in FOLDER.glob("bad-*.yaml"))
GOOD = sorted(path.name for path in FOLDER.glob("good-*.yaml"))

_ENVIRONMENT = {
    "HOME": "/home/someone",
    "ZAI_API_KEY": "zai-test",
    "OPENROUTER_API_KEY": "openrouter-test",
    "ANTHROPIC_API_KEY": "anthropic-test",
    "AGENT_TOKEN": "agent-test",
    "ADMIN_TOKEN": "admin-test",
    "EMPTY_KEY": "",
    "LINE_END_KEY": "hunter2\n",
    "BROKEN_KEY": "hunter2 hunter2",
    "STORE_URL": "redis://:hunter2@localhost:6379/0",
    "BROKEN_STORE": "http://:hunter2@localhost:6379/0",
}


def environment(name: str) -> dict[str, str]:
    """The environment for a file: the usual one, and what the file's first line sets (`# FIRSTBYTE_PORT=0 …`)."""
    first = (FOLDER / name).read_bytes().partition(b"\n")[0].decode(errors="replace")
    return _ENVIRONMENT | dict(re.findall(r"(FIRSTBYTE_[A-Z]+)=(\S+)", first))


def message(name: str) -> str:
    """The exact message for a bad file, as seen from the folder that it is in."""
    return (FOLDER / name).with_suffix(".txt").read_text(encoding="utf-8").rstrip("\n")
