"""Ollama's own lines, which some relays send where a chat's chunks are expected."""

from breaker.wire.shape import items, mapping
from breaker.wire.tally import Tally


def is_native(event: dict[str, object]) -> bool:
    """Whether this is a line of `/api/chat` or `/api/generate`."""
    return "done" in event and ("message" in event or "response" in event)


def read(event: dict[str, object], tally: Tally) -> None:
    """Count one line, of which the last says that it is done."""
    message = mapping(event.get("message"))
    tally.add_text(message.get("content"))
    tally.add_text(event.get("response"))
    tally.add_reasoning(message.get("thinking") or event.get("thinking"))
    for call in items(message.get("tool_calls")):
        function = mapping(call.get("function"))
        # Calls come whole, and have neither ids nor places of their own.
        tally.add_call(f"native/{len(tally.calls)}", name=function.get("name"), arguments=function.get("arguments"))
    if event.get("done") is True:
        tally.end()
        tally.add_finish(event.get("done_reason"))
        tally.add_usage(event.get("prompt_eval_count"), event.get("eval_count"))
