"""Foresees which reports the store will keep one by one, so that the others needn't be told in full."""

from breaker.answer import Part
from breaker.log import Weight
from breaker.store.contract import Weighed

# As in the script, which decides: a good report is only counted where its bin has kept so many, and so many good ones
# stand in a row.
_MODEST, _ROW = 20, 16
# A report that counted longer ago belongs to a bin of which nothing is known here.
_LATELY_S = 1.0


class Keeping:
    """What will be kept of a target's next reports, by what the script `said` of the last ones: "kept row".

    A guess, since others report too: where more has to be kept than was told, the script asks for all of it.
    """

    __slots__ = ("_kept", "_row")

    def __init__(self, said: str) -> None:
        self._kept, self._row = map(int, said.split(" "))

    def keeps(self, weighed: Weighed) -> bool:
        """Whether the next report is kept, as far as that is known."""
        answer = weighed.answer
        if weighed.weight is not Weight.GOOD or answer.part is not Part.FINAL:
            self._row = 0
        elif self._kept >= _MODEST and self._row >= _ROW:
            return answer.began_ago_s - answer.seconds > _LATELY_S
        else:
            self._row += 1
        self._kept += 1
        return True
