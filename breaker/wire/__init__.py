"""Reads what providers send, and writes what they are asked, in each wire format: bytes in, facts out, no I/O."""

from breaker.wire import anthropic_messages, gemini, openai_chat, openai_responses
from breaker.wire.reader import Reader

READERS: dict[str, Reader] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic-messages": anthropic_messages,
    "gemini": gemini,
}
