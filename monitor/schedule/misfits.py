"""Remembers which targets refuse our probes by our own fault, and says so: no circuit ever shows it."""

import logging
from collections.abc import Collection

from breaker.answer import Part, Source
from breaker.api.notices import Notice, warning
from breaker.logged import PROBE_UNFIT
from breaker.switchboard import Judged
from breaker.verdict import Blame

_log = logging.getLogger(__name__)


class Misfits:
    """The targets whose last probe was the caller's fault, which is ours, and so counted for nothing."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    def hear(self, judged: Judged) -> None:
        """Take note of an answer that counted; each target that turns into a misfit is logged once."""
        answer, judgement = judged.answer, judged.judgement
        if answer.source is not Source.PROBE or answer.part is not Part.FINAL:
            return
        if judgement.blame is not Blame.CALLER_FAULT:
            self._told.pop(answer.target, None)
            return
        known = answer.target in self._told
        told = self._told[answer.target] = (
            f"the last probe of {answer.target} counts for nothing: {judgement.why} ({judgement.verdict});"
            " look at the model's name and at its probe's prompt_tokens and max_tokens"
        )
        if not known:
            _log.warning("%s", told, extra=PROBE_UNFIT(target=answer.target))

    def forget_all_but(self, targets: Collection[str]) -> None:
        """Forget all other targets."""
        self._told = {name: told for name, told in self._told.items() if name in targets}

    def notices(self) -> list[Notice]:
        """One sentence for each misfit."""
        return [warning(told) for told in self._told.values()]
