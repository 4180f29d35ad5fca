"""Google's Gemini, first-hand and through relays."""

from urllib.parse import quote

from breaker.wire.question import Question, Request
from breaker.wire.shape import items, mapping, number, pick
from breaker.wire.tally import Tally

END_WORD: str | None = None


def request(model: str, question: Question, *, streamed: bool, base_url: str = "") -> Request:
    """POST to the model's own path behind a base URL like `https://generativelanguage.googleapis.com/v1beta`."""
    body: dict[str, object] = {
        "contents": [{"role": "user", "parts": [{"text": question.prompt}]}],
        "generationConfig": {"maxOutputTokens": question.max_tokens},
    }
    if question.system:
        body["systemInstruction"] = {"parts": [{"text": question.system}]}
    if question.tools:
        # `parameters` knows only a part of JSON schema; this knows all of it.
        tools = [
            {"name": t.name, "description": t.description, "parametersJsonSchema": t.schema} for t in question.tools
        ]
        body["tools"] = [{"functionDeclarations": tools}]
    how = "streamGenerateContent?alt=sse" if streamed else "generateContent"
    accept = "text/event-stream" if streamed else "application/json"
    path = f"/models/{quote(model.removeprefix('models/'), safe='/@')}:{how}"
    return Request(path, {"accept": accept, "content-type": "application/json"}, body)


def key_headers(key: str) -> dict[str, str]:
    """The header that carries the key; in the address it would end up in logs."""
    return {"x-goog-api-key": key}


def read(event: dict[str, object], tally: Tally) -> bool:
    """Count one chunk, or a whole plain answer, which have one form, and say whether it is this wire's."""
    event = mapping(event.get("response")) or event  # Code Assist wraps each chunk
    for place, candidate in enumerate(items(event.get("candidates"))):
        _read_candidate(candidate, number(candidate.get("index"), place), tally)
    if mapping(event.get("promptFeedback")).get("blockReason"):
        tally.add_block()
    usage = mapping(event.get("usageMetadata"))
    _read_usage(usage, tally)
    known = "candidates" in event or "promptFeedback" in event
    tally.whole = tally.whole or known
    return known or bool(usage)


def _read_candidate(candidate: dict[str, object], place: int, tally: Tally) -> None:
    for at, part in enumerate(items(mapping(candidate.get("content")).get("parts"))):
        _read_part(part, f"{place}/{at}", tally)
    tally.add_finish(candidate.get("finishReason"))


def _read_part(part: dict[str, object], place: str, tally: Tally) -> None:
    if part.get("thought"):
        tally.add_reasoning(part.get("text"))
    else:
        tally.add_text(part.get("text"))
    if call := mapping(pick(part, "functionCall", "function_call")):
        # Each chunk holds whole calls, and counts its parts anew.
        tally.add_call(
            f"{place}/{len(tally.calls)}", id=call.get("id"), name=call.get("name"), arguments=call.get("args")
        )
    if mapping(pick(part, "inlineData", "inline_data", "fileData", "executableCode", "codeExecutionResult")):
        tally.add_media()


def _read_usage(usage: dict[str, object], tally: Tally) -> None:
    """Counts so far. The prompt's includes what the cache held; thoughts stand apart from the rest of the answer."""
    tally.add_usage(usage.get("promptTokenCount"), None)
    made = [usage.get(name) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    if any(type(count) is int for count in made):
        tally.add_usage(None, sum(number(count, 0) for count in made))
