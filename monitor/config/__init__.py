"""Reads firstbyte.yaml: settings come out, or all that is wrong with it at once."""

from collections.abc import Mapping
from pathlib import Path

from breaker.wire.signs import Phrase
from monitor.config import document
from monitor.config.build import Ground, build
from monitor.config.check import check
from monitor.config.environment import check_data, data_folder, find, overrides
from monitor.config.faults import ConfigError, Fault, Faults, Place
from monitor.config.keys import ROOT
from monitor.config.phrases import known_phrases
from monitor.config.policies import policy_in
from monitor.config.starter import keys_found, starter
from monitor.settings import LogForm, Settings

__all__ = [
    "ConfigError",
    "Fault",
    "Place",
    "data_folder",
    "find",
    "keys_found",
    "load",
    "log_form",
    "phrases_in",
    "policy_in",
    "starter",
]


def load(path: Path, environ: Mapping[str, str]) -> Settings:
    """The settings that a file and the environment give together.

    FIRSTBYTE_HOST, FIRSTBYTE_PORT, FIRSTBYTE_STORE, FIRSTBYTE_LOG and FIRSTBYTE_DATA stand above the file. Raises
    ConfigError with all faults at once.
    """
    faults = Faults()
    root = check(document.read(path, faults), ROOT, faults)
    data = data_folder(environ)
    check_data(data, faults)
    settings = build(root, Ground(environ, overrides(environ, faults), faults), data=data, source=path)
    faults.check()
    return settings


def log_form(environ: Mapping[str, str]) -> LogForm:
    """What FIRSTBYTE_LOG says where there is no file; text for people without it. Raises ConfigError."""
    faults = Faults()
    chosen = overrides(environ, faults).log
    faults.check()
    return LogForm(chosen.value) if chosen else LogForm.TEXT


def phrases_in(path: Path) -> tuple[Phrase, ...]:
    """All phrases that are known with a configuration, without asking for the variables that it names.

    Raises ConfigError with all faults at once.
    """
    faults = Faults()
    phrases = known_phrases(check(document.read(path, faults), ROOT, faults), faults)
    faults.check()
    return phrases
