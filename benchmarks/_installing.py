"""Installs packages into an environment of their own, beside the project's."""

import os
import ssl
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

INSTALL_S = 60
# uv takes a third of the time that pip takes.
_UV = (sys.executable, "-m", "uv")


def install(folder: Path, packages: Iterable[str]) -> str | None:
    """Make an environment in a folder and install packages there; why that wasn't possible, in a line."""
    # A proxy's own authority is known to the system, not to uv.
    known = {"UV_SYSTEM_CERTS": "true"} if ssl.get_default_verify_paths().cafile else {}
    environment = {"UV_PYTHON_DOWNLOADS": "never", **known, **os.environ}
    make = ("venv", "--quiet", "--python", sys.executable, str(folder))
    add = ("pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *packages)
    try:
        for words in (make, add):
            command = [*_UV, *words]
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_S, env=environment)
    except subprocess.TimeoutExpired:
        return f"it took longer than {INSTALL_S} s"
    except subprocess.CalledProcessError as failed:
        lines = [line.strip() for line in failed.stderr.splitlines() if line.strip()]
        return lines[-1] if lines else "no reason was given"
    return None
