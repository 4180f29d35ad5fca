"""Installs packages into an environment of their own, beside the project's."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

INSTALL_S = 60


def install(folder: Path, packages: Iterable[str]) -> str | None:
    """Make an environment in a folder and install packages there; why that wasn't possible, in a line."""
    python = folder / "bin" / "python"
    pip = ["-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1"]
    try:
        for command in ([sys.executable, "-m", "venv", str(folder)], [str(python), *pip, *packages]):
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        return f"it took longer than {INSTALL_S} s"
    except subprocess.CalledProcessError as failed:
        words = [line for line in failed.stderr.splitlines() if line.startswith("ERROR")] or ["no reason was given"]
        return str(words[-1])
    return None
