"""Phrases of a user's own gateways: what can be one, and how they join those that are known."""

from breaker.wire.signs import PHRASES, Phrase
from monitor.config.check import Branch, Leaf
from monitor.config.faults import Faults, Unfit, shown

# Enough for a sentence of excuses and a request id after the phrase.
TAIL = 200
MAX_TAIL = 2_000
MAX_PHRASES = 200
# Anything longer is told apart by its begin.
MAX_TEXT = 300
# Of letters and digits, in UTF-8: two short words, or four Chinese characters. Signs aren't told apart by everyone, and
# ordinary answers begin with less than that every day.
MIN_BYTES = 10


def phrase(text: str) -> str | Unfit:
    """A phrase without the blanks around it, or what is wrong with it."""
    words = text.strip()
    if len("".join(filter(str.isalnum, words)).encode(errors="replace")) < MIN_BYTES:
        return Unfit(f"is {shown(words)}, with which ordinary answers begin too", "write more of what the gateway says")
    if len(words) > MAX_TEXT:
        return Unfit(f"has {len(words)} characters", f"the first {MAX_TEXT} are enough, with more in its tail")
    if not words.replace("\n", " ").isprintable():
        return Unfit("has characters that can't be printed", "leave them out; the begin of the text is enough")
    return words


def known_phrases(root: Branch, faults: Faults) -> tuple[Phrase, ...]:
    """A user's phrases, with the ids `own-1`, `own-2` and so on in the file's order, then those that come with us."""
    row = dict(root.rows()).get("phrases")
    own: list[Phrase] = []
    lines: dict[str, int] = {}
    for leaf in row.leaves if row else []:
        text, tail = _parts(leaf)
        folded = text.casefold()
        if text and folded in lines:
            wrong = f"phrases: {shown(text)} is here twice, first in line {lines[folded]}"
            faults.add(leaf.place, wrong, "remove one of them; large and small letters are the same")
        lines.setdefault(folded, leaf.place.line)
        own.append(Phrase(id=f"own-{len(own) + 1}", text=text, tail=tail))
    if row and len(own) > MAX_PHRASES:
        wrong = f"phrases: there are {len(own)} of them, and each is looked for in every answer"
        faults.add(row.place, wrong, f"keep the {MAX_PHRASES} that matter most")
    return (*own, *PHRASES)


def _parts(leaf: Leaf) -> tuple[str, int]:
    if not isinstance(leaf.value, Branch):
        return leaf.value, TAIL
    text, tail = leaf.value.leaf("text"), leaf.value.leaf("tail")
    return text.value if text else "", tail.value if tail else TAIL
