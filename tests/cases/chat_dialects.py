"""What hosts add to Chat Completions: notes that are no errors, errors in odd places, counts under other names."""

import json
from collections.abc import Iterator, Sequence

from tests.cases import chat
from tests.cases.case import Case, case
from tests.cases.said import Call, Piece, Said, dump, event, raw
from tests.cases.wires import CHAT

_TEXT = ("The third ", "lock is ", "the deep one.")
_SAID = Said(text=_TEXT)
_STOP = chat.finish()
_BODY = chat.text(*_TEXT)


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _chat_notes()
    yield from _chat_counts()
    yield from _chat_shapes()
    yield from _chat_calls()
    yield from _chat_errors()


def _fine(name: str, pieces: Sequence[Piece] | Piece, rule: str, **more: object) -> Case:
    return case(name, CHAT, pieces, rule=rule, **{"verdict": "ok", "finish": "stop", **more})  # type: ignore[arg-type] # the fields' own names


def _chat_notes() -> Iterator[Case]:
    rule = "notes of filters and routers beside an answer are no errors"
    clean = {name: {"filtered": False, "severity": "safe"} for name in ("hate", "violence")}
    first = event(
        {
            "id": "",
            "object": "",
            "model": "",
            "choices": [],
            "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": clean}],
        }
    )
    unfiltered = {"error": {"code": "content_filter_error", "message": "The contents are not filtered"}}
    noted = [chat.chunk({"content": piece}, content_filter_results=clean, token=True) for piece in _TEXT]
    skipped = [chat.chunk({"content": piece}, content_filter_result=unfiltered, token=True) for piece in _TEXT]
    yield _fine("azure-filters-found-nothing", [first, chat.role(), *noted, _STOP, chat.DONE], rule)
    yield _fine("azure-filter-did-not-run", [first, chat.role(), *skipped, _STOP, chat.DONE], rule)
    after = event(
        {
            **chat.chunk_of(None),
            "choices": [
                {
                    "index": 0,
                    "finish_reason": None,
                    "content_filter_offsets": {"start_offset": 0},
                    "content_filter_results": clean,
                }
            ],
        }
    )
    yield _fine("azure-note-behind-the-stop", [first, *_BODY, _STOP, after, chat.DONE], rule)
    copilot = [
        chat.chunk({"content": piece}, content_filter_results={"error": {"code": "", "message": ""}}, token=True)
        for piece in _TEXT
    ]
    yield _fine("copilot-empty-error", [*copilot, _STOP, chat.DONE], rule)
    whole = {
        **chat.plain(_SAID),
        "error": None,
        "base_resp": {"status_code": 0, "status_msg": ""},
        "input_sensitive": False,
    }
    yield _fine("minimax-all-well", Piece(dump(whole).encode()), rule)
    whole = {**chat.plain(_SAID), "error": {"message": "", "code": None}, "warnings": ["rate limit at 90 %"]}
    yield _fine("empty-error-object", Piece(dump(whole).encode()), rule)
    yield _fine("openrouter-comments", [raw(": OPENROUTER PROCESSING\n\n"), *chat.stream(_SAID)], rule)
    notice = event({"object": "notice", "message": "rate limit nearly reached", "remaining": 2})
    yield _fine("notice-before-the-answer", [notice, *chat.stream(_SAID)], rule)
    native = chat.finish("stop", native_finish_reason="end_turn")
    yield _fine("native-reason-is-fine", [*_BODY, native, chat.DONE], rule)


def _chat_counts() -> Iterator[Case]:
    rule = "tokens are counted in many places, and those that are not counted prove nothing"
    big = {"chars": 90_000}
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    with_zero = [event({**chat.chunk_of({"content": piece}), "usage": zero}, token=True) for piece in _TEXT]
    yield _fine("counts-of-zero", [*with_zero, _STOP, chat.DONE], rule, **big)
    one = event({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
    yield _fine("counts-of-one", [*_BODY, _STOP, one, chat.DONE], rule, **big)
    null = event({"choices": None, "usage": {"prompt_tokens": 21_000, "completion_tokens": 9}})
    yield _fine("counts-without-choices", [*_BODY, _STOP, null, chat.DONE], rule, **big)
    groq = event({**chat.chunk_of({}, finish_reason="stop"), "x_groq": {"id": "g", "usage": {"prompt_tokens": 21_000}}})
    yield _fine("counts-under-x-groq", [*_BODY, groq, chat.DONE], rule, **big)
    inside = chat.finish("stop", usage={"prompt_tokens": 21_000, "completion_tokens": 9})
    yield _fine("counts-in-the-choice", [*_BODY, inside, chat.DONE], rule, **big)
    names = event({"choices": [], "usage": {"input_tokens": 21_000, "output_tokens": 9}})
    yield _fine("counts-under-other-names", [*_BODY, _STOP, names, chat.DONE], rule, **big)
    split = {"prompt_tokens": 21_000, "prompt_cache_hit_tokens": 20_900, "prompt_cache_miss_tokens": 100}
    yield _fine(
        "counts-split-by-the-cache", [*_BODY, _STOP, event({"choices": [], "usage": split}), chat.DONE], rule, **big
    )
    growing = [
        event(
            {**chat.chunk_of({"content": piece}), "usage": {"prompt_tokens": 21_000, "completion_tokens": at}},
            token=True,
        )
        for at, piece in enumerate(_TEXT)
    ]
    yield _fine("counts-that-grow", [*growing, _STOP], rule, **big)
    window = event({"choices": [], "usage": {"prompt_tokens": 4098, "completion_tokens": 40}})
    yield _fine(
        "window-of-8192-cut-it",
        [*_BODY, _STOP, window, chat.DONE],
        "half of a window and two is what a host counts that cut the prompt",
        verdict="unprocessed",
        chars=60_000,
        accept_class=("inconclusive",),
    )
    chinese = event({"choices": [], "usage": {"prompt_tokens": 700, "completion_tokens": 40}})
    yield _fine(
        "chinese-unread",
        [*_BODY, _STOP, chinese, chat.DONE],
        "bytes, not characters, tell how much was read",
        verdict="unprocessed",
        chars=6_000,
        bytes=18_000,
    )
    dense = event({"choices": [], "usage": {"prompt_tokens": 2_050, "completion_tokens": 40}})
    yield _fine(
        "dense-hindi",
        [*_BODY, _STOP, dense, chat.DONE],
        "dense languages reach nine bytes a token",
        chars=6_800,
        bytes=18_400,
    )
    small = event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}})
    yield _fine("short-question", [*_BODY, _STOP, small, chat.DONE], "short questions are not measured", chars=900)
    picture = event({"choices": [], "usage": {"prompt_tokens": 1_400, "completion_tokens": 4}})
    yield _fine(
        "picture", [*_BODY, _STOP, picture, chat.DONE], "pictures are no text", chars=120, bytes=800_000, images=1
    )


def _chat_shapes() -> Iterator[Case]:
    rule = "hosts write the same answer in many shapes"
    repeated = [
        chat.chunk({"content": piece}, message={"role": "assistant", "content": "".join(_TEXT[: at + 1])}, token=True)
        for at, piece in enumerate(_TEXT)
    ]
    yield _fine("message-beside-delta", [*repeated, _STOP], rule)
    yield _fine("no-done", [*_BODY, _STOP], rule)
    old = [event({"object": "text_completion", "choices": [{"text": text}]}, token=True) for text in _TEXT]
    yield _fine("text-of-old-completions", [*old, _STOP, chat.DONE], rule)
    yield _fine(
        "no-finish-but-done", [*_BODY, chat.DONE], rule, finish=None, accept=("cut",), accept_class=("inconclusive",)
    )
    early = [chat.chunk({"reasoning_content": "Hm. "}, finish_reason="stop", token=True), *_BODY, _STOP, chat.DONE]
    yield _fine("stop-too-early", early, "a reason to stop counts only where nothing follows")
    early = [chat.role(), chat.chunk({"content": ""}, finish_reason="stop"), *_BODY, _STOP, chat.DONE]
    yield _fine("stop-in-the-first-chunk", early, "a reason to stop counts only where nothing follows")
    early = [chat.chunk({}, finish_reason="stop"), *_BODY]
    yield _fine(
        "stop-too-early-then-cut",
        early,
        "a reason to stop counts only where nothing follows",
        verdict="cut",
        accept=("ok",),
        accept_class=("ok", "inconclusive"),
    )
    parts = {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Deep means"}]}]}
    rest = {"content": [{"type": "text", "text": "the third one."}]}
    yield _fine(
        "content-in-parts", [chat.chunk(parts, token=True), chat.chunk(rest, token=True), _STOP, chat.DONE], rule
    )
    tags = chat.text("<think>", "Locks one and two are shallow.", "</think>", "\n\nThe third.")
    yield _fine("thoughts-in-tags", [*tags, _STOP, chat.DONE], rule)
    lone = chat.text("<think>", "Locks one and two are shallow. So", " it is the third.", "</think>\n")
    yield _fine(
        "thoughts-in-tags-alone",
        [*lone, _STOP, chat.DONE],
        "thoughts alone are no answer",
        verdict="empty",
        accept=("ok",),
        accept_class=("ok", "inconclusive"),
    )
    yield _fine(
        "refusal-field",
        [
            chat.chunk({"refusal": "I can't help with "}, token=True),
            chat.chunk({"refusal": "that."}, token=True),
            _STOP,
            chat.DONE,
        ],
        "a refusal in words is an answer",
    )
    yield _fine("eos", [*_BODY, chat.finish("eos"), chat.DONE], rule, finish="eos")
    same = chat.text("1", "8", "3", "3", "3", "3")
    yield _fine("same-pieces", [*same, _STOP, chat.DONE], "a piece like the one before is a piece as well")
    other = event(
        {
            **chat.chunk_of({"content": "x"}),
            "object": "chat.completion.chunk",
            "service_tier": "flex",
            "obfuscation": "9f",
        },
        token=True,
    )
    yield _fine("padding", [other, *_BODY, _STOP, chat.DONE], rule)
    yield _fine(
        "openers-of-lines",
        [
            raw("event: message\nid: 1\n" + piece.data.decode())
            if not piece.token
            else Piece(b"event: message\n" + piece.data, True)
            for piece in chat.stream(_SAID)
        ],
        rule,
    )
    split = "data: " + json.dumps(chat.chunk_of({"content": "Two lines"}), indent=1).replace("\n", "\ndata: ") + "\n\n"
    yield _fine("event-of-many-lines", [Piece(split.encode(), True), _STOP, chat.DONE], rule)
    native = [{"model": "oak", "message": {"role": "assistant", "content": piece}, "done": False} for piece in _TEXT]
    last = {
        "model": "oak",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 800,
        "eval_count": 9,
    }
    lines = [*(Piece((dump(line) + "\n").encode(), True) for line in native), raw(dump(last) + "\n")]
    ndjson = {"headers": {"content-type": "application/x-ndjson"}}
    yield _fine("lines-of-json", lines, rule, **ndjson)
    yield _fine("lines-of-json-in-odd-reads", lines, rule, cuts=23, step=3, **ndjson)
    yield _fine(
        "lines-of-json-cut", lines[:-1], "lines without a last one are a cut", verdict="cut", finish=None, **ndjson
    )
    broken = [*lines[:-1], raw('{"error":"llama runner process has terminated"}\n')]
    yield _fine(
        "lines-of-json-broken", broken, "an error is one in lines as well", verdict="error_event", finish=None, **ndjson
    )


def _chat_calls() -> Iterator[Case]:
    call = Call("lower_gate", {"lock": 3})
    rule = "calls come in pieces, and some hosts say the end of them oddly"
    whole = chat.stream(Said(calls=(call,)))
    tools = {"verdict": "tool_call", "tools": True}
    yield _fine("call-but-stop", [*whole[:-3], _STOP, chat.DONE], rule, **tools)
    second = event(
        {
            "choices": [
                {
                    "index": 1,
                    "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "go", "arguments": "{}"}}]},
                }
            ]
        },
        token=True,
    )
    yield _fine(
        "call-in-the-second-choice",
        [*_BODY, second, chat.finish("tool_calls"), chat.DONE],
        rule,
        finish="tool_calls",
        **tools,
    )
    bare = chat.chunk(
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "list_locks", "arguments": ""}}]}, token=True
    )
    yield _fine(
        "call-without-arguments", [bare, chat.finish("tool_calls"), chat.DONE], rule, finish="tool_calls", **tools
    )
    broken = chat.chunk(
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "go", "arguments": '{"lock": 3'}}]}, token=True
    )
    yield _fine(
        "call-that-is-no-json",
        [broken, chat.finish("tool_calls"), chat.DONE],
        "a call that can't be read is none",
        verdict="malformed",
        finish="tool_calls",
        tools=True,
    )
    full = [broken, chat.finish("tool_calls"), chat.usage(Said(written=64)), chat.DONE]
    yield _fine(
        "call-cut-by-the-limit",
        full,
        "a call that the limit cut is the limit's",
        verdict="length",
        blame="caller_fault",
        finish="tool_calls",
        max_tokens=64,
        tools=True,
        accept=("malformed",),
        accept_class=("provider_failure",),
    )
    none = chat.chunk({"tool_calls": []}, finish_reason="tool_calls")
    yield _fine(
        "calls-but-none",
        [chat.role(), none, chat.DONE],
        "the word for a call is no call",
        verdict="empty",
        finish="tool_calls",
        tools=True,
    )
    old = chat.chunk({"function_call": {"name": "go", "arguments": '{"lock": 3}'}}, token=True)
    yield _fine("call-of-old", [old, chat.finish("function_call"), chat.DONE], rule, finish="function_call", **tools)


def _chat_errors() -> Iterator[Case]:
    rule = "an error inside a 200 is known by its shape, whoever writes it"
    shapes: tuple[tuple[str, object, str | None], ...] = (
        (
            "flat",
            {"object": "error", "message": "The input is longer than the model's context length", "code": 400},
            "context_too_long",
        ),
        ("object-alone", {"object": "error", "code": "engine_lost"}, None),
        ("detail-alone", {"detail": "worker died"}, None),
        ("error-type", {"error_type": "internal", "error_message": "queue lost"}, None),
        ("text-and-type", {"error": "CUDA error: out of memory", "error_type": "generation"}, None),
        (
            "wrapped-upstream",
            {
                "choices": [],
                "error": {
                    "code": 502,
                    "message": "Provider returned error",
                    "metadata": {"raw": "oak is temporarily rate-limited upstream"},
                },
            },
            "rate_limited",
        ),
        (
            "base-resp-rate",
            {"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}},
            "rate_limited",
        ),
        (
            "base-resp-quota",
            {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
            "quota",
        ),
        (
            "all-full",
            {"error": {"message": "当前分组上游负载已饱和 请稍后再试", "type": "new_api_error"}},
            "overloaded",
        ),
        ("no-credit", {"error": {"message": "Insufficient Balance", "type": "unknown_error"}}, "quota"),
        (
            "at-capacity",
            {"code": "busy", "error": "The model is currently at capacity due to high demand"},
            "overloaded",
        ),
        (
            "worker-limit",
            {"error": {"code": 502, "message": "ResourceExhausted: Worker local total request limit reached (64/64)"}},
            "overloaded",
        ),
    )
    for name, body, cause in shapes:
        blame = "caller_fault" if cause == "context_too_long" else "provider_failure"
        more = {
            "verdict": "error_event",
            "blame": blame,
            "cause": cause,
            "finish": None,
            "accept": (cause,) if cause else (),
        }
        yield _fine(
            f"error-{name}", [*(_BODY if name in ("flat", "no-credit") else ()), event(body), chat.DONE], rule, **more
        )
    field = [*_BODY, raw('error: {"code":500,"message":"slot crashed"}\n\n'), chat.DONE]
    yield _fine("error-in-its-own-field", field, rule, verdict="error_event", finish=None)
    worded = [*_BODY, event("worker 3 went away", name="error")]
    yield _fine("error-event-of-plain-words", worded, rule, verdict="error_event", finish=None)
    for word in ("error", "network_error", "insufficient_system_resource"):
        yield _fine(
            f"finish-{word}",
            [*_BODY, chat.finish(word), chat.DONE],
            "some reasons to stop are errors",
            verdict="error_event",
            finish=word,
        )
    native = chat.finish("stop", native_finish_reason="MALFORMED_FUNCTION_CALL")
    yield _fine(
        "native-reason-is-an-error",
        [chat.role(), native, chat.DONE],
        "some reasons to stop are errors",
        verdict="error_event",
        accept=("empty", "malformed"),
    )
    for word in ("content_filter", "sensitive"):
        yield _fine(
            f"finish-{word}",
            [*_BODY, chat.finish(word), chat.DONE],
            "a filter on the output says nothing of the host",
            verdict="filtered",
            blame="inconclusive",
            finish=word,
        )
    inspected = event(
        {"error": {"code": "data_inspection_failed", "message": "Output data may contain inappropriate content."}}
    )
    yield _fine(
        "filter-halfway",
        [*_BODY, inspected],
        "a filter on the output says nothing of the host",
        verdict="error_event",
        blame="inconclusive",
        finish=None,
        accept=("filtered",),
    )
    yield _fine(
        "blank-envelope",
        Piece(dump({"id": "", "choices": None, "usage": None}).encode()),
        "an envelope alone is no answer",
        verdict="malformed",
        finish=None,
        accept=("empty",),
    )
    yield _fine(
        "no-message",
        Piece(dump({"choices": [{"index": 0, "finish_reason": "stop"}]}).encode()),
        "an envelope alone is no answer",
        verdict="malformed",
        accept=("empty",),
    )
    yield _fine(
        "null-content",
        Piece(dump({"choices": [{"message": {"role": "assistant", "content": None}}]}).encode()),
        "an envelope alone is no answer",
        verdict="empty",
        finish=None,
        accept=("malformed",),
    )
