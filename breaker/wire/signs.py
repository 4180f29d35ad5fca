"""What providers and gateways are known to say, from `signs.json`, where each sign stands with its source."""

import json
from importlib import resources

from breaker.answer import Finish

_SIGNS = json.loads(resources.files(__package__).joinpath("signs.json").read_text(encoding="utf-8"))

_FINISHES = {value: Finish(finish) for value, finish in _SIGNS["finishes"].items()}


def finish_of(value: str) -> Finish:
    """Why the model stopped, from any wire's own word for it."""
    return _FINISHES.get(value.lower(), Finish.OTHER)
