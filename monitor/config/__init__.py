"""Reads firstbyte.yaml: settings come out, or all that is wrong with it at once."""

from collections.abc import Mapping
from pathlib import Path

from monitor.config import document
from monitor.config.build import Ground, build
from monitor.config.check import check
from monitor.config.environment import check_data, data_folder, find, overrides
from monitor.config.faults import ConfigError, Fault, Faults, Place
from monitor.config.keys import ROOT
from monitor.config.starter import starter
from monitor.settings import Settings

__all__ = ["ConfigError", "Fault", "Place", "data_folder", "find", "load", "starter"]


def load(path: Path, environ: Mapping[str, str]) -> Settings:
    """The settings that a file and the environment give together.

    FIRSTBYTE_HOST, FIRSTBYTE_PORT, FIRSTBYTE_STORE and FIRSTBYTE_DATA stand above the file. Raises ConfigError
    with all faults at once.
    """
    faults = Faults()
    root = check(document.read(path, faults), ROOT, faults)
    data = data_folder(environ)
    check_data(data, faults)
    settings = build(root, Ground(environ, overrides(environ, faults), faults), data=data, source=path)
    faults.check()
    return settings
