"""Says what an answer was, from its facts alone."""

from breaker.verdict.rules import judge, sounds_foreign
from breaker.verdict.words import Blame, Confidence, Judgement, Verdict

__all__ = ["Blame", "Confidence", "Judgement", "Verdict", "judge", "sounds_foreign"]
