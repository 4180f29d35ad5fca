"""OpenAI's Responses, first-hand and through relays."""

from breaker.wire.faults import fault_in
from breaker.wire.question import Question, Request
from breaker.wire.shape import items, mapping, number, pick
from breaker.wire.tally import Tally

# The wire itself has no such end; some relays add the other wire's.
END_WORD: str | None = None

_ENDS = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
# Calls that the caller has to carry out; all others are the provider's own.
_CALLS = frozenset(
    ("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call")
)


def request(model: str, question: Question, *, streamed: bool, base_url: str = "") -> Request:
    """POST to `/responses`; the provider is asked to keep nothing of it."""
    body: dict[str, object] = {
        "model": model,
        "input": [{"role": "user", "content": question.prompt}],
        "max_output_tokens": question.max_tokens,
        "store": False,
        "stream": streamed,
    }
    if question.system:
        body["instructions"] = question.system
    if question.tools:
        body["tools"] = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": t.schema, "strict": False}
            for t in question.tools
        ]
    accept = "text/event-stream" if streamed else "application/json"
    return Request("/responses", {"accept": accept, "content-type": "application/json"}, body)


def key_headers(key: str) -> dict[str, str]:
    """The header that carries the key."""
    return {"authorization": f"Bearer {key}"}


def read(event: dict[str, object], tally: Tally) -> bool:
    """Count one event, or a whole plain answer, and say whether it is this wire's."""
    if event.get("object") == "response" and "type" not in event:
        tally.whole = True
        _read_response(event, tally)
        return True
    kind = event.get("type")
    if not isinstance(kind, str) or not kind.startswith("response."):
        return False
    _read_event(kind, event, tally)
    return True


def _read_event(kind: str, event: dict[str, object], tally: Tally) -> None:
    if kind == "response.created":
        tally.begin()
    elif kind in _ENDS:
        _read_response(mapping(event.get("response")), tally)
    elif kind.startswith("response.output_item."):
        _read_item(mapping(event.get("item")), _place(event), tally, done=kind.endswith(".done"))
    elif kind.endswith(".delta"):
        _read_delta(kind, event, tally)


def _read_delta(kind: str, event: dict[str, object], tally: Tally) -> None:
    if "reasoning" in kind:
        tally.add_reasoning(event.get("delta"))
    elif "arguments" in kind:
        tally.add_call(_place(event), arguments=event.get("delta"))
    elif kind in ("response.output_text.delta", "response.refusal.delta"):
        tally.add_text(event.get("delta"))
    else:
        # What a custom tool is given, code, audio: made by the model, and nothing to check.
        tally.add_part(event.get("delta"))


def _place(event: dict[str, object]) -> str:
    return str(number(event.get("output_index"), 0))


def _read_item(item: dict[str, object], place: str, tally: Tally, *, done: bool) -> None:
    """One thing of the output: when it begins it is nearly empty, when it is done it repeats what has come."""
    kind = str(item.get("type"))
    if kind.endswith("_call"):
        _read_call(item, place, tally, done=done)
    elif done and kind == "reasoning" and not tally.reasoning.chars:
        for part in (*items(item.get("summary")), *items(item.get("content"))):
            tally.add_reasoning(part.get("text"))
    elif done and kind == "message" and not tally.text_parts:
        for part in items(item.get("content")):
            tally.add_text(pick(part, "text", "refusal"))


def _read_call(item: dict[str, object], place: str, tally: Tally, *, done: bool) -> None:
    kind = str(item.get("type"))
    if done and item.get("result"):
        tally.add_media()  # an image that was made
    # What other tools than functions are given is free text or parsed already: nothing to check.
    arguments = item.get("arguments") if done and not tally.calls.has_arguments(place) else None
    if not done or place not in tally.calls:
        tally.add_call(place, id=item.get("call_id"), name=item.get("name") or kind, served=kind not in _CALLS)
    if isinstance(arguments, str):
        tally.add_call(place, arguments=arguments)


def _read_response(response: dict[str, object], tally: Tally) -> None:
    """The answer as a whole; relays leave its output empty, or send nothing before it."""
    said = bool(len(tally.calls) or tally.text_parts)
    for place, item in enumerate(items(response.get("output"))):
        if not said:
            _read_item(item, str(place), tally, done=True)
    if (fault := fault_in(response)) is not None:
        tally.add_fault(fault)
    _read_status(response, tally)
    usage = mapping(response.get("usage"))
    tally.add_usage(pick(usage, "input_tokens", "prompt_tokens"), pick(usage, "output_tokens", "completion_tokens"))


def _read_status(response: dict[str, object], tally: Tally) -> None:
    status = response.get("status")
    reason = mapping(response.get("incomplete_details")).get("reason")
    tally.add_finish(reason if status == "incomplete" and reason else status)
