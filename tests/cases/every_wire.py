"""What must hold on each wire alike: whole answers, broken ones, and the forms in which bytes come."""

import json
from collections.abc import Iterator, Mapping

from tests.cases import gemini
from tests.cases.case import Case, case
from tests.cases.said import Call, Piece, Said, dump, event, raw, words
from tests.cases.wires import CHAT, GEMINI, MESSAGES, RESPONSES, WIRES, plain, stream, word_of

_SHORT = {CHAT: "chat", MESSAGES: "messages", RESPONSES: "responses", GEMINI: "gemini"}
# Each wire speaks of something else, so that no rule can lean on one text.
_TEXTS = {
    CHAT: "The kiln needs four hours to reach cone six, then a slow night to cool.",
    MESSAGES: "Two of the seven patches apply cleanly; the rest touch the parser that was renamed.",
    RESPONSES: "Plant the garlic in October, a hand apart, and cover it with straw before frost.",
    GEMINI: "Line 88 reads past the end of the list whenever the last row is blank.",
}
_THOUGHTS = ("They ask about one thing only. ", "I will be brief and ", "name the number.")
_CALLS = {
    CHAT: Call("read_file", {"path": "src/kiln/ramp.toml", "lines": [1, 40]}),
    MESSAGES: Call("run_tests", {"only": "parser", "quick": True}),
    RESPONSES: Call("search_beds", {"crop": "garlic", "month": 10}),
    GEMINI: Call("open_sheet", {"name": "räknesatser", "row": 88}),
}
_LENGTH = {CHAT: "length", MESSAGES: "max_tokens", RESPONSES: "max_output_tokens", GEMINI: "MAX_TOKENS"}
_OVERLOADED: Mapping[str, Piece] = {
    CHAT: event({"error": {"message": "All workers are currently overloaded", "type": "server_error", "code": 503}}),
    MESSAGES: event(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r-9"},
        name="error",
    ),
    RESPONSES: event(
        {"type": "error", "code": "server_is_overloaded", "message": "Try again in a moment.", "param": None},
        name="error",
    ),
    GEMINI: gemini.frame(
        {"error": {"code": 503, "message": "The model is overloaded. Come back later.", "status": "UNAVAILABLE"}}
    ),
}
_RATE: Mapping[str, object] = {
    CHAT: {"error": {"message": "Too many requests for oak-2 this minute", "code": "rate_limit_exceeded"}},
    MESSAGES: {"type": "error", "error": {"type": "rate_limit_error", "message": "Requests per minute used up"}},
    RESPONSES: {"type": "error", "error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "Slow down"}},
    GEMINI: {"error": {"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED"}},
}


def said(wire: str, **more: object) -> Said:
    """What the model says on this wire."""
    return Said(**{"text": words(_TEXTS[wire], 3), **more})  # type: ignore[arg-type] # the fields' own names


def cases() -> Iterator[Case]:
    """All of them, wire by wire."""
    for wire in WIRES:
        for found in (*_whole(wire), *_broken(wire), *_nothing(wire), *_errors(wire), *_forms(wire)):
            yield {**found, "id": f"{_SHORT[wire]}-{found['id']}"}


def _whole(wire: str) -> Iterator[Case]:
    answer, call = said(wire), said(wire, text=(), calls=(_CALLS[wire],))
    think = said(wire, thoughts=_THOUGHTS)
    for name, what, verdict in (
        ("text", answer, "ok"),
        ("call", call, "tool_call"),
        ("thoughts-then-text", think, "ok"),
        ("text-then-call", said(wire, calls=(_CALLS[wire],)), "tool_call"),
        ("thoughts-then-call", said(wire, text=(), thoughts=_THOUGHTS, calls=(_CALLS[wire],)), "tool_call"),
        ("one-word", said(wire, text=("Yes",), written=1), "ok"),
        ("zero", said(wire, text=("0",), written=1), "ok"),
        ("uncounted", said(wire, read=None, written=None), "ok"),
        ("in-one-burst", said(wire, text=(_TEXTS[wire],)), "ok"),
    ):
        finish, tools = word_of(wire, what), bool(what.calls)
        rule = "a whole answer is one, whatever its kind"
        yield case(f"{name}-streamed", wire, stream(wire, what), rule=rule, verdict=verdict, finish=finish, tools=tools)
        if name in ("text", "call", "thoughts-then-text", "one-word"):
            yield case(f"{name}-plain", wire, plain(wire, what), rule=rule, verdict=verdict, finish=finish, tools=tools)
    yield case(
        "cached-prompt",
        wire,
        stream(wire, said(wire, read=26_000, cached=25_500)),
        rule="what the cache held was read as well",
        verdict="ok",
        finish=word_of(wire, answer),
        chars=110_000,
    )
    yield case(
        "limit-of-the-caller",
        wire,
        stream(wire, said(wire, finish=_LENGTH[wire], written=24)),
        rule="the caller's own limit was reached",
        verdict="length",
        blame="caller_fault",
        finish=_LENGTH[wire],
        max_tokens=24,
    )
    yield case(
        "limit-of-the-host",
        wire,
        stream(wire, said(wire, finish=_LENGTH[wire], written=24)),
        rule="an answer that ends far below the caller's limit hit the host's",
        verdict="length",
        finish=_LENGTH[wire],
        max_tokens=8000,
    )


def _broken(wire: str) -> Iterator[Case]:
    open_end = stream(wire, said(wire, finish=None))
    rule = "an end without the wire's end mark is a cut"
    yield case("cut-clean", wire, open_end, rule=rule, verdict="cut")
    yield case("cut-reset", wire, open_end, rule=rule, verdict="cut", end="reset")
    torn = [*open_end[:-1], Piece(open_end[-1].data[: len(open_end[-1].data) // 2])]
    yield case("cut-in-an-event", wire, torn, rule=rule, verdict="cut", accept=("malformed",))
    thinking = stream(wire, said(wire, text=(), thoughts=_THOUGHTS, finish=None))
    yield case("cut-in-thought", wire, thinking, rule=rule, verdict="cut")
    call = stream(wire, said(wire, calls=(_CALLS[wire],), finish=None))
    yield case(
        "cut-in-a-call", wire, call[:-1], rule=rule, verdict="cut", end="reset", accept=("malformed",), tools=True
    )
    body = plain(wire, said(wire)).data
    yield case(
        "plain-torn",
        wire,
        Piece(body[: len(body) * 2 // 3]),
        rule="half a plain body is no answer",
        verdict="malformed",
        accept=("cut", "empty"),
    )
    quiet = [*open_end, *(raw(": still here\n\n") for _ in range(4))]
    yield case(
        "silence-halfway",
        wire,
        quiet,
        rule="comments don't count as an answer's going on",
        verdict="timeout_silence",
        end="timeout",
        accept=("cut",),
        wait=90_000,
    )
    yield case(
        "quiet-after-the-end",
        wire,
        [*stream(wire, said(wire)), raw(": bye\n\n")],
        rule="silence behind the end mark is no fault",
        verdict="ok",
        finish=word_of(wire, said(wire)),
        end="timeout",
        wait=60_000,
    )
    loop = words("and then the tide turns again " * 60, 20)
    yield case(
        "loop-to-the-limit",
        wire,
        stream(wire, said(wire, text=loop, finish=_LENGTH[wire], written=1024)),
        rule="a text that repeats itself until a limit is a loop",
        verdict="loop",
        finish=_LENGTH[wire],
        accept=("length",),
    )
    yield case(
        "loop-in-thought",
        wire,
        stream(wire, said(wire, text=(), thoughts=loop, finish=None)),
        rule="thoughts loop as well as text",
        verdict="loop",
        end="timeout",
        accept=("timeout_silence",),
        wait=60_000,
    )
    yield case(
        "unread-prompt",
        wire,
        stream(wire, said(wire, read=410)),
        rule="too few tokens were counted for so much text",
        verdict="unprocessed",
        finish=word_of(wire, said(wire)),
        chars=48_000,
    )
    yield case(
        "unread-prompt-plain",
        wire,
        plain(wire, said(wire, read=33)),
        rule="too few tokens were counted for so much text",
        verdict="unprocessed",
        finish=word_of(wire, said(wire)),
        chars=9_000,
    )


def _nothing(wire: str) -> Iterator[Case]:
    rule = "no text and no call is no answer, however well it ends"
    nothing = said(wire, text=(), written=0)
    finish = word_of(wire, nothing)
    yield case("nothing-streamed", wire, stream(wire, nothing), rule=rule, verdict="empty", finish=finish)
    yield case("nothing-plain", wire, plain(wire, nothing), rule=rule, verdict="empty", finish=finish)
    blank = said(wire, text=("\n", " ", "\n\n"), written=3)
    yield case("blanks", wire, stream(wire, blank), rule=rule, verdict="empty", finish=finish)
    thought = said(wire, text=(), thoughts=_THOUGHTS)
    yield case("thoughts-alone", wire, stream(wire, thought), rule=rule, verdict="empty", finish=finish)
    yield case("no-byte", wire, [], rule=rule, verdict="empty", accept=("cut",))
    pings = [raw(": working\n\n") for _ in range(5)]
    yield case("comments-alone", wire, pings, rule=rule, verdict="empty", accept=("cut", "timeout_first_byte"))
    opened = [piece for piece in stream(wire, said(wire)) if not piece.token][:1] if wire != GEMINI else []
    yield case(
        "silence-from-the-start",
        wire,
        [*opened, *pings],
        rule="neither comments nor an opening are a first byte",
        verdict="timeout_first_byte",
        accept=("empty",),
        end="timeout",
        step=15_000,
        wait=30_000,
    )
    page = "<!doctype html>\n<html><head><title>Relay console</title></head><body>Please sign in</body></html>"
    yield case(
        "web-page",
        wire,
        Piece(page.encode()),
        rule="a web page is no answer",
        verdict="malformed",
        accept=("auth",),
        headers={"content-type": "text/html"},
        stream=True,
    )


def _errors(wire: str) -> Iterator[Case]:
    rule = "an error inside a 200 is a failure wherever it stands"
    whole, half, error = stream(wire, said(wire)), stream(wire, said(wire, finish=None)), _OVERLOADED[wire]
    finish = word_of(wire, said(wire))
    for name, pieces, word in (
        ("error-alone", [error], None),
        ("error-behind-comments", [raw(": wait\n\n"), raw(": wait\n\n"), error], None),
        ("error-halfway", [*half, error], None),
        ("error-behind-the-end", [*whole, error], finish),
    ):
        yield case(
            name,
            wire,
            pieces,
            rule=rule,
            verdict="error_event",
            cause="overloaded",
            finish=word,
            accept=("overloaded",),
        )
    slow = dump(_RATE[wire])
    for name, body in (("error-as-a-plain-body", slow), ("error-in-many-lines", _spread(_RATE[wire]))):
        yield case(
            name,
            wire,
            Piece(body.encode()),
            rule=rule,
            verdict="error_event",
            cause="rate_limited",
            accept=("rate_limited",),
            stream=True,
        )
    yield case(
        "bare-error-behind-the-end",
        wire,
        [*whole, raw(_spread(_RATE[wire]))],
        rule="what stands outside of every event is read as well",
        verdict="error_event",
        cause="rate_limited",
        finish=finish,
        accept=("rate_limited",),
    )


def _spread(body: object) -> str:
    """JSON with blanks, each field in a line of its own."""
    return json.dumps(body, indent=2)


def _forms(wire: str) -> Iterator[Case]:
    answer = said(wire, text=("Größe: ", "12 µm — ", "見出しは", "「風」です", " 🛶🏔️", "।"))
    pieces, finish = stream(wire, answer), word_of(wire, answer)
    rule = "the bytes may come in any form that the standard of events allows"
    lf = [Piece(piece.data.replace(b"\r\n", b"\n"), piece.token) for piece in pieces]
    for name, form in (
        ("crlf", [Piece(piece.data.replace(b"\n", b"\r\n"), piece.token) for piece in lf]),
        ("cr", [Piece(piece.data.replace(b"\n", b"\r"), piece.token) for piece in lf]),
        ("no-blank-behind-colons", [_tight(piece) for piece in lf]),
        ("byte-order-mark", [Piece(b"\xef\xbb\xbf" + lf[0].data, lf[0].token), *lf[1:]]),
        ("ids-and-retries", [Piece(b"id: 7\nretry: 900\n" + p.data, p.token) for p in lf]),
        ("comments-between", [Piece(b": ok\n\n" + p.data, p.token) for p in lf]),
    ):
        yield case(name, wire, form, rule=rule, verdict="ok", finish=finish)
    for size in (11, 190):
        yield case(
            f"reads-of-{size}",
            wire,
            lf,
            rule=rule,
            verdict="ok",
            finish=finish,
            cuts=size,
            step=2,
        )
    yield case(
        "labelled-as-json",
        wire,
        pieces,
        rule="the body is known by its bytes, not by its label",
        verdict="ok",
        finish=finish,
        headers={"content-type": "application/json"},
    )
    yield case(
        "asked-plain-came-streamed",
        wire,
        pieces,
        rule="an answer in the other form is one",
        verdict="ok",
        finish=finish,
        stream=False,
        accept=("malformed",),
        accept_class=("inconclusive", "provider_failure"),
    )
    yield case(
        "asked-streamed-came-plain",
        wire,
        plain(wire, answer),
        rule="an answer in the other form is one",
        verdict="ok",
        finish=finish,
        stream=True,
        accept=("malformed",),
        accept_class=("inconclusive", "provider_failure"),
    )
    yield case(
        "plain-behind-blank-lines",
        wire,
        [raw("\n"), raw("\n"), plain(wire, answer)],
        rule="blank lines before a plain answer keep the line alive",
        verdict="ok",
        finish=finish,
        stream=False,
        headers={"content-type": "application/json"},
        step=10_000,
    )


def _tight(piece: Piece) -> Piece:
    return Piece(piece.data.replace(b"data: ", b"data:").replace(b"event: ", b"event:"), piece.token)
