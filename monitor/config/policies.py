"""Reads a policy alone, out of a configuration or a file that holds nothing else."""

from dataclasses import replace
from pathlib import Path

from breaker.policy import Policy
from monitor.config import document
from monitor.config.check import Branch, check
from monitor.config.document import Table
from monitor.config.faults import Faults
from monitor.config.keys import POLICY, ROOT
from monitor.config.layers import check_policy, layered

# A configuration of which nothing need be there.
_ANY_PART = replace(ROOT, keys=tuple(replace(key, required=False) for key in ROOT.keys))


def policy_in(path: Path) -> Policy:
    """The policy of a file: its section `policy:`, or where it is no configuration, its keys themselves.

    What isn't set there has its default; sections of providers and models don't count. Raises ConfigError with all
    faults at once.
    """
    faults = Faults()
    found = _section(document.read(path, faults), faults)
    policy = layered(Policy(), [found])
    check_policy(policy, found, faults)
    faults.check()
    return policy.value


def _section(table: Table, faults: Faults) -> Branch:
    if any(ROOT.key(name) for name in table.entries):
        return check(table, _ANY_PART, faults).branch(POLICY.name)
    return replace(check(table, POLICY, faults), label=POLICY.name)
