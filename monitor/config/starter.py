"""Writes the first firstbyte.yaml, for the providers whose keys are in the environment."""

import math
from collections.abc import Iterator, Mapping, Sequence

from breaker.policy import Policy
from monitor.config.faults import Unfit
from monitor.config.keys import POLICY, PROBE
from monitor.config.known import KNOWN, Known
from monitor.config.shapes import Section
from monitor.config.variables import secret
from monitor.settings import ProbeShape

_DAY_S = 86_400
_HEAD = """\
# Where agents' steps may go, and when they go elsewhere. `firstbyte check` says what is wrong in here,
# `firstbyte run` starts. Keys stay out of this file: it names the environment variables that hold them.
"""
_NO_KEY = """\
#
# No key of a provider that Firstbyte knows was found in the environment, so this is an example. To go on, export
# a key and let `firstbyte init` write this file again, or change the lines below. Known variables:
"""


def starter(environ: Mapping[str, str]) -> str:
    """The text of a firstbyte.yaml with comments; without any known key in the environment, an example to change."""
    found = keys_found(environ)
    parts = [_HEAD if found else _HEAD + _NO_KEY + _variables()]
    chosen = found or list(KNOWN[:2])
    parts += ["providers:\n" + "".join(_provider(known) for known in chosen), _routes(chosen)]
    parts += [_commented(POLICY, "when circuits open and close"), _commented(PROBE, "what probes ask")]
    return "\n".join([*parts, _costs(len(chosen))])


def keys_found(environ: Mapping[str, str]) -> list[Known]:
    """The known providers whose keys are in the environment."""
    return [known for known in KNOWN if not isinstance(secret(known.variable, environ), Unfit)]


def _variables() -> str:
    names = [known.variable for known in KNOWN]
    rows = [", ".join(names[start : start + 4]) for start in range(0, len(names), 4)]
    return "".join(f"#   {row}\n" for row in rows)


def _provider(known: Known) -> str:
    budget = math.ceil(_tokens_per_day() / 1_000_000) * 1_000_000
    return f"""\
  {known.name}:
    base_url: {known.base_url}
    wire: {known.wire}
    api_key_env: {known.variable}
    budget: {{tokens_per_day: {budget:_}}}  # one model, probed all day; beyond it probes come more slowly
    models:
      {known.model}:  # put the model here that your agents use
        # price: {{input_usd: 0.10, output_usd: 0.40}}  # US dollars for a million tokens, to see what probes cost
"""


def _routes(chosen: Sequence[Known]) -> str:
    alone = "" if len(chosen) > 1 else "  # add a second target: with one alone, agents have nowhere else to go\n"
    targets = "".join(f"    - {known.name}/{known.model}\n" for known in chosen)
    return f"""\
# What agents ask for, by a name of your own or by none while there is one only. They get its first target that is well.
routes:
  coder:
{targets}{alone}"""


def _commented(section: Section, what: str) -> str:
    """A section with its defaults, as comments."""
    lines = (f"#   {f'{key.name}: {key.default}':<26} # {key.line}\n" for key in section.keys)
    return f"# {section.name}:  # {what}; also inside a provider or a model, where the nearest wins\n" + "".join(lines)


def _probes_per_day() -> float:
    return _DAY_S / Policy().interval_s


def _tokens_per_day() -> float:
    return _probes_per_day() * (ProbeShape().prompt_tokens + ProbeShape().max_tokens)


def _costs(targets: int) -> str:
    return "".join(f"# {line}\n" for line in _cost_lines(targets))


def _cost_lines(targets: int) -> Iterator[str]:
    shape, probes = ProbeShape(), _probes_per_day()
    total = targets * _tokens_per_day() / 1e6
    yield "What probing costs: real questions, as long as agents' own."
    yield f"  {_DAY_S:,} s a day / interval_s {Policy().interval_s:g} = {probes:,.0f} probes a day of each target,"
    yield f"  x (prompt_tokens {shape.prompt_tokens:,} + max_tokens {shape.max_tokens:,} at most)"
    yield f"  = {_tokens_per_day() / 1e6:.1f} million tokens a day of each target, {total:.1f} million in this file."
    yield "A longer interval_s, a shorter prompt_tokens or skip_when_fresh: true make it less; `firstbyte check` tells"
    yield "what this file comes to, in money where prices are given."
