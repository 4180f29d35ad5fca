"""Tells thoughts that stand in the text itself from what is meant to be read."""

_OPENINGS = {"<think>": "</think>", "<thinking>": "</thinking>"}
_LONGEST = max(map(len, _OPENINGS))


class Thoughts:
    """Splits text into what can be seen and what stands in a think tag at its start, however the pieces are cut.

    Holds no more than a tag's length, and the blanks before one. Once it is `over`, all that follows is to be seen.
    """

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self.over = False

    def split(self, piece: str) -> tuple[str, str]:
        """What of the text so far is to be seen, and what is thought; the rest is held until it can be told."""
        if self.over:
            return piece, ""
        self._held += piece
        seen = thought = ""
        while self._held and not self.over:
            before = self._held
            if self._closing:
                thought += self._think()
            else:
                seen += self._look()
            if self._held == before:
                break
        return seen, thought

    def rest(self) -> tuple[str, str]:
        """What was held when the text ended."""
        held, self._held = self._held, ""
        return ("", held) if self._closing else (held, "")

    def _look(self) -> str:
        """Look for a tag at the start; what is none is text, and so is all that follows."""
        text = self._held.lstrip()
        for opening, closing in _OPENINGS.items():
            if text.startswith(opening):
                self._held, self._closing = text[len(opening) :], closing
                return ""
        if len(self._held) - len(text) < _LONGEST and any(opening.startswith(text) for opening in _OPENINGS):
            return ""
        self.over = True
        held, self._held = self._held, ""
        return held

    def _think(self) -> str:
        thought, closed, after = self._held.partition(self._closing)
        if closed:
            self._held, self._closing = after, ""
            return thought
        kept = len(self._closing) - 1
        thought, self._held = self._held[:-kept], self._held[-kept:]
        return thought
