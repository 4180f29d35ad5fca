"""What hosts add to the other wires, and what only those wires say."""

import json
from collections.abc import Iterator, Sequence

from tests.cases import chat, gemini, messages, responses
from tests.cases.case import Case, case
from tests.cases.said import Piece, Said, dump, event, raw, words
from tests.cases.wires import GEMINI, MESSAGES, RESPONSES

_TEXT = ("The third ", "lock is ", "the deep one.")
_SAID = Said(text=_TEXT)


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _messages()
    yield from _responses()
    yield from _gemini()


def _messages() -> Iterator[Case]:
    def one(name: str, pieces: Sequence[Piece] | Piece, rule: str, **more: object) -> Case:
        return case(name, MESSAGES, pieces, rule=rule, **{"verdict": "ok", "finish": "end_turn", **more})  # type: ignore[arg-type] # the fields' own names

    start, stop, stopped = messages.start(_SAID), messages.stop("end_turn"), messages.STOPPED
    body = messages.texts(0, *_TEXT)
    hidden = [messages.begun(0, {"type": "redacted_thinking", "data": "cmVk"}), messages.ended(0)]
    yield one(
        "thoughts-hidden", [start, *hidden, *messages.texts(1, *_TEXT), stop, stopped], "hidden thoughts are no fault"
    )
    yield one("no-last-event", [start, *body, stop], "the reason to stop is the end mark")
    late = [messages.start(Said(read=0)), *body, messages.stop("end_turn", input_tokens=24_000), stopped]
    yield one("counts-at-the-end", late, "the last count that isn't zero counts", chars=100_000)
    metrics = messages.named({"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 800}})
    yield one("bedrock-metrics", [start, *body, stop, metrics], "what a cloud adds is no fault")
    yield one(
        "stop-sequence",
        [start, *body, messages.stop("stop_sequence"), stopped],
        "the caller's own stop is a stop",
        finish="stop_sequence",
    )
    yield one(
        "pause",
        [start, *body, messages.stop("pause_turn"), stopped],
        "a pause is no failure",
        finish="pause_turn",
        accept=("tool_call",),
        accept_class=("inconclusive",),
    )
    refused = [start, messages.stop("refusal", 2), stopped]
    yield one(
        "refusal-without-a-block",
        refused,
        "a refusal by its field is a filter's",
        verdict="filtered",
        blame="inconclusive",
        finish="refusal",
        accept=("empty",),
    )
    window = [start, *body, messages.stop("model_context_window_exceeded"), stopped]
    yield one(
        "window-full",
        window,
        "the model's own window is no limit of the caller",
        verdict="length",
        finish="model_context_window_exceeded",
        max_tokens=9_000,
        accept=("context_too_long",),
        accept_class=("caller_fault",),
    )
    server = [
        messages.begun(0, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, token=True),
        messages.delta(0, "input_json_delta", partial_json='{"query":"locks"}'),
        messages.ended(0),
        messages.begun(1, {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
        messages.ended(1),
    ]
    yield one(
        "searched-then-answered",
        [start, *server, *messages.texts(2, *_TEXT), stop, stopped],
        "a tool of the server's own is no turn to the caller",
        accept=("tool_call",),
    )
    unknown = messages.named({"type": "content_block_note", "note": "new in some later version"})
    yield one("unknown-event", [start, unknown, *body, stop, stopped], "unknown events are no fault")
    yield one(
        "last-event-alone", [stopped], "an end alone is no answer", verdict="empty", finish=None, accept=("malformed",)
    )
    twice = [*messages.stream(_SAID), *messages.stream(_SAID)]
    yield one(
        "answer-twice",
        twice,
        "an answer that stands there twice is not what was asked for",
        verdict="malformed",
        blame="inconclusive",
        accept=("ok", "loop"),
        accept_class=("ok", "provider_failure"),
    )
    glued = dump(messages.plain(_SAID)) + "\n\ndata: [DONE]\n\n"
    yield one(
        "done-glued-on",
        Piece(glued.encode()),
        "rubble behind a plain answer makes it unreadable for most",
        finish=None,
        verdict="malformed",
        accept=("ok",),
        accept_class=("ok", "inconclusive"),
    )
    yield one(
        "other-wire",
        Piece(dump(chat.plain(_SAID)).encode()),
        "an answer in another wire's form can't be read",
        verdict="malformed",
        finish="stop",
        blame="inconclusive",
        accept=("ok", "empty"),
        accept_class=("provider_failure", "ok"),
    )


def _responses() -> Iterator[Case]:
    def one(name: str, pieces: Sequence[Piece] | Piece, rule: str, **more: object) -> Case:
        return case(name, RESPONSES, pieces, rule=rule, **{"verdict": "ok", "finish": "completed", **more})  # type: ignore[arg-type] # the fields' own names

    whole = responses.stream(_SAID)
    notice = responses.named(
        {
            "type": "codex.rate_limits",
            "rate_limits": {"allowed": False, "limit_reached": True, "primary": {"used_percent": 100}},
        }
    )
    yield one(
        "limits-noticed-then-answered", [notice, *whole], "a notice of limits before a whole answer is no failure"
    )
    yield one("done-behind-it", [*whole, chat.DONE], "a word from another wire is no fault")
    bare = responses.named(
        {
            "type": "response.completed",
            "response": responses.response("completed", usage={"input_tokens": 800, "output_tokens": 9}),
        }
    )
    yield one("nothing-repeated-at-the-end", [*whole[:-1], bare], "what came in pieces needs no repeating")
    failed = responses.named(
        {
            "type": "response.failed",
            "response": responses.response("failed", error={"code": "server_error", "message": "lost it"}),
        }
    )
    yield one(
        "failed-halfway",
        [*whole[:6], failed],
        "a failed response is an error",
        verdict="error_event",
        finish="failed",
        accept=("cut",),
    )
    busy = responses.named(
        {
            "type": "response.failed",
            "response": responses.response("failed", error={"code": "rate_limit_exceeded", "message": ""}),
        }
    )
    yield one(
        "failed-by-rate",
        [*responses.opening(), busy],
        "a code alone says what failed",
        verdict="error_event",
        cause="rate_limited",
        finish="failed",
        accept=("rate_limited",),
    )
    long = responses.named(
        {
            "type": "response.failed",
            "response": responses.response("failed", error={"code": "context_length_exceeded", "message": ""}),
        }
    )
    yield one(
        "failed-by-length",
        [*responses.opening(), long],
        "a code alone says what failed",
        verdict="error_event",
        blame="caller_fault",
        cause="context_too_long",
        finish="failed",
        accept=("context_too_long",),
    )
    nested = event(
        {
            "type": "error",
            "sequence_number": 3,
            "error": {"type": "requests", "code": "rate_limit_exceeded", "message": "Try again in 9 s"},
        },
        name="error",
    )
    yield one(
        "error-nested",
        [*responses.opening(), nested],
        "errors are flat or nested",
        verdict="error_event",
        cause="rate_limited",
        finish=None,
        accept=("rate_limited",),
    )
    plainly = responses.response("failed", error={"code": "server_error", "message": "lost it"})
    yield one(
        "plain-failed",
        Piece(dump(plainly).encode()),
        "a failed response is an error",
        verdict="error_event",
        finish="failed",
    )
    filtered = responses.stream(Said(text=_TEXT, finish="content_filter"))
    yield one(
        "filtered-halfway",
        filtered,
        "a filter on the output says nothing of the host",
        verdict="filtered",
        blame="inconclusive",
        finish="content_filter",
    )
    refusal = responses.named(
        {"type": "response.refusal.delta", "item_id": "ms-1", "delta": "I can't help with that."}, token=True
    )
    yield one("refusal-in-words", [*responses.opening(), refusal, bare], "a refusal in words is an answer")
    created = [*whole, *whole]
    yield one(
        "answer-twice-responses",
        created,
        "an answer that stands there twice is not what was asked for",
        verdict="malformed",
        blame="inconclusive",
        accept=("ok", "loop"),
        accept_class=("ok", "provider_failure"),
    )
    text = [*responses.opening(), responses.closing(_SAID)]
    yield one(
        "all-in-the-last-event",
        [text[0], text[1], Piece(text[2].data, True)],
        "an answer may come whole in its last event",
    )


def _gemini() -> Iterator[Case]:
    def one(name: str, pieces: Sequence[Piece] | Piece, rule: str, **more: object) -> Case:
        return case(name, GEMINI, pieces, rule=rule, **{"verdict": "ok", "finish": "STOP", **more})  # type: ignore[arg-type] # the fields' own names

    frames = gemini.stream(_SAID)
    early = [gemini.frame(gemini.candidate({"text": ""}, finish="STOP")), *frames]
    yield one("gemini-early-stop", early, "a reason to stop counts only where nothing follows")
    wrapped = [
        gemini.frame({"response": body, "traceId": "t"}, token=at < 3) for at, body in enumerate(gemini.bodies(_SAID))
    ]
    yield one(
        "gemini-wrapped",
        wrapped,
        "an envelope around each chunk is one",
        accept=("malformed",),
        accept_class=("inconclusive", "provider_failure"),
    )
    json_list = {"headers": {"content-type": "application/json"}}
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 800}}
    rule = "a blocked prompt is the caller's"
    yield one(
        "gemini-prompt-blocked",
        [gemini.frame(blocked)],
        rule,
        verdict="filtered",
        blame="caller_fault",
        finish=None,
        accept=("empty",),
        accept_class=("inconclusive",),
    )
    harmless = {**gemini.plain(_SAID), "promptFeedback": {"safetyRatings": [{"category": "C", "probability": "LOW"}]}}
    yield one("gemini-ratings", Piece(dump(harmless).encode()), "ratings without a block are no filter")
    for word in ("SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"):
        stopped = gemini.stream(Said(text=_TEXT, finish=word))
        yield one(
            f"gemini-{word.lower()}",
            stopped,
            "a filter on the output says nothing of the host",
            verdict="filtered",
            blame="inconclusive",
            finish=word,
        )
    for word in ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"):
        body = gemini.candidate(finish=word)
        yield one(
            f"gemini-{word.lower()}",
            Piece(dump(body).encode()),
            "some reasons to stop are errors",
            verdict="error_event",
            finish=word,
            accept=("empty", "malformed"),
            tools=True,
        )
    bare = [*frames[:-1], gemini.frame(gemini.candidate(finish="STOP"))]
    yield one("gemini-last-without-content", bare, "the last chunk needs no content")
    yield one("gemini-blank-lines", [raw("\r\n"), raw("\r\n"), *frames], "blank lines keep the line alive")
    code = [
        gemini.frame(gemini.candidate({"executableCode": {"language": "PYTHON", "code": "print(3)"}}), token=True),
        *frames,
    ]
    yield one("gemini-ran-code", code, "code that the model ran belongs to its answer")
    grounded = {**gemini.plain(_SAID), "groundingMetadata": {"webSearchQueries": ["locks"]}}
    yield one("gemini-grounded", Piece(dump(grounded).encode()), "notes on sources are no fault")
    array = gemini.array(_SAID)
    yield one(
        "gemini-list-cut",
        array[:-2],
        "a list that breaks off is a cut",
        verdict="cut",
        finish=None,
        accept=("malformed",),
        **json_list,
    )
    listed = [
        {
            "error": {
                "code": 429,
                "message": "Resource has been exhausted, try again later",
                "status": "RESOURCE_EXHAUSTED",
            }
        }
    ]
    yield one(
        "gemini-list-of-one-error",
        Piece(json.dumps(listed, indent=2).encode()),
        "an error may stand in a list",
        verdict="error_event",
        cause="rate_limited",
        finish=None,
        accept=("rate_limited",),
        stream=True,
    )
    cached = gemini.stream(Said(text=_TEXT, read=30_000, cached=29_000))
    yield one("gemini-cached", cached, "what the cache held is part of the count", chars=120_000)
    long = gemini.stream(Said(text=words("so it goes " * 4), finish="OTHER"))
    yield one(
        "gemini-other",
        long,
        "an unknown reason is no proof",
        verdict="error_event",
        blame="inconclusive",
        finish="OTHER",
        accept=("ok", "cut", "filtered"),
        accept_class=("provider_failure", "ok"),
    )
