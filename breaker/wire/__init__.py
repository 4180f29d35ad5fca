"""Reads what providers send, and writes what they are asked, in each wire format: bytes in, facts out, no I/O."""

from breaker.wire import anthropic_messages, openai_chat
from breaker.wire.reader import Reader

READERS: dict[str, Reader] = {
    "openai-chat": openai_chat,
    "anthropic-messages": anthropic_messages,
}
