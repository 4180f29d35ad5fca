"""Installs packages into an environment of their own, beside the project's."""

import contextlib
import os
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

INSTALL_S = 120
# The folder of an environment that all scripts of one run share.
SHARED = "FIRSTBYTE_BENCHMARKS_PEERS"
# uv takes a third of the time that pip takes.
_UV = (sys.executable, "-m", "uv")


@contextlib.contextmanager
def installed(packages: Iterable[str]) -> Iterator[Path | str]:
    """The Python of an environment with these packages, or why that wasn't possible, in a line.

    The environment is thrown away afterwards, unless it is shared.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(
            os.environ.get(SHARED) or stack.enter_context(tempfile.TemporaryDirectory(prefix="firstbyte-peers-"))
        )
        trouble = _install(folder, packages)
        yield _python(folder) if trouble is None else trouble


def _install(folder: Path, packages: Iterable[str]) -> str | None:
    # A proxy's own authority is known to the system, not to uv.
    known = {"UV_SYSTEM_CERTS": "true"} if ssl.get_default_verify_paths().cafile else {}
    environment = {"UV_PYTHON_DOWNLOADS": "never", **known, **os.environ}
    make = ("venv", "--quiet", "--python", sys.executable, str(folder))
    add = ("pip", "install", "--quiet", "--python", str(_python(folder)), *packages)
    try:
        for words in (add,) if _python(folder).exists() else (make, add):
            command = [*_UV, *words]
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_S, env=environment)
    except subprocess.TimeoutExpired:
        return f"it took longer than {INSTALL_S} s"
    except subprocess.CalledProcessError as failed:
        lines = [line.strip() for line in failed.stderr.splitlines() if line.strip()]
        return lines[-1] if lines else "no reason was given"
    return None


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"
