"""What the environment says besides secrets: values above the file's, where the file is and where state goes."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from monitor.config.check import Leaf
from monitor.config.document import Scalar
from monitor.config.faults import Faults, Place, Unfit, unreadable
from monitor.config.keys import ENVIRONMENT
from monitor.config.kinds import Kind

_FILE_NAMES = ("firstbyte.yaml", "firstbyte.yml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Overrides:
    """Values that stand above the file's; None leaves the file's."""

    host: Leaf | None = None
    port: Leaf | None = None
    store: Leaf | None = None
    log: Leaf | None = None


def overrides(environ: Mapping[str, str], faults: Faults) -> Overrides:
    """What is set; an empty variable is as good as none."""
    return Overrides(
        host=_value("FIRSTBYTE_HOST", environ, faults),
        port=_value("FIRSTBYTE_PORT", environ, faults),
        store=_value("FIRSTBYTE_STORE", environ, faults),
        log=_value("FIRSTBYTE_LOG", environ, faults),
    )


def _value(name: str, environ: Mapping[str, str], faults: Faults) -> Leaf | None:
    key, place = ENVIRONMENT.key(name), Place(name)
    assert key
    assert isinstance(key.holds, Kind)
    if not environ.get(name):
        return None
    value = key.holds.read(Scalar(environ[name], True, place))
    if isinstance(value, Unfit):
        faults.add(place, value.wrong, value.hint)
        return None
    return Leaf(value, place)


def find(explicit: Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The configuration to use: the one asked for, FIRSTBYTE_CONFIG, or firstbyte.yaml in `cwd`; None without any.

    The first two are given back even where nothing is there; loading them says so.
    """
    if explicit is not None:
        return explicit
    if named := environ.get("FIRSTBYTE_CONFIG"):
        return Path(named)
    here = (cwd / name for name in _FILE_NAMES)
    return next((path for path in here if path.is_symlink() or path.exists()), None)


def data_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where state goes that must outlive the process: FIRSTBYTE_DATA, or the usual place of the system.

    Raises ConfigError where there is no such place.
    """
    if chosen := environ.get("FIRSTBYTE_DATA"):
        below_home = chosen == "~" or chosen.startswith("~/")
        return (_home(environ) / chosen[2:] if below_home else Path(chosen)).absolute()
    if platform == "darwin":
        return _home(environ) / "Library" / "Application Support" / "firstbyte"
    state = Path(environ.get("XDG_STATE_HOME", ""))
    return (state if state.is_absolute() else _home(environ) / ".local" / "state") / "firstbyte"


def _home(environ: Mapping[str, str]) -> Path:
    try:
        return Path(environ.get("HOME") or Path.home())
    except RuntimeError:  # a user without a name, as in containers
        raise unreadable(Place("HOME"), "there is no home folder", "set FIRSTBYTE_DATA to a folder") from None


def check_data(folder: Path, faults: Faults) -> None:
    """Add a fault where the folder can't be one."""
    try:
        wrong = folder.exists() and not folder.is_dir()
    except (OSError, ValueError):
        wrong = True
    if wrong:
        faults.add(Place("FIRSTBYTE_DATA"), f"{folder} is not a folder", "name a folder, or one that can be made")
