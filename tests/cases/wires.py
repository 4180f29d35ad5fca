"""The four wires by name."""

from types import ModuleType

from tests.cases import chat, gemini, messages, responses
from tests.cases.said import Piece, Said, dump

CHAT, MESSAGES, RESPONSES, GEMINI = "openai-chat", "anthropic-messages", "openai-responses", "gemini"
_BUILDERS: dict[str, ModuleType] = {CHAT: chat, MESSAGES: messages, RESPONSES: responses, GEMINI: gemini}
WIRES = tuple(_BUILDERS)


def stream(wire: str, said: Said) -> list[Piece]:
    """An answer as the wire streams it."""
    pieces: list[Piece] = _BUILDERS[wire].stream(said)
    return pieces


def plain(wire: str, said: Said) -> Piece:
    """An answer as the wire sends it in one."""
    return Piece(dump(_BUILDERS[wire].plain(said)).encode())


def word_of(wire: str, said: Said) -> str | None:
    """What the wire says at an answer's end."""
    word: str | None = _BUILDERS[wire].word_of(said)
    return word
