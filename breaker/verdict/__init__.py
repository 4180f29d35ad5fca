"""Says what an answer was, from its facts alone."""

from breaker.verdict.rules import judge
from breaker.verdict.words import Blame, Confidence, Judgement, Verdict

__all__ = ["Blame", "Confidence", "Judgement", "Verdict", "judge"]
