"""OpenAI's Responses, streamed and plain."""

from itertools import count

from tests.cases.said import Call, Piece, Said, event, halves

_REASONS = ("max_output_tokens", "content_filter")


def named(body: dict[str, object], *, token: bool = False) -> Piece:
    """An event under its type as name."""
    return event(body, name=str(body["type"]), token=token)


def response(status: str, output: list[dict[str, object]] | None = None, **more: object) -> dict[str, object]:
    """The object that the first and the last events carry, and that a plain answer is."""
    return {
        "id": "resp-41",
        "object": "response",
        "created_at": 1764460800,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": "elm-5",
        "output": output or [],
        "usage": None,
        **more,
    }


def opening() -> list[Piece]:
    """The events that open an answer."""
    return [
        named({"type": f"response.{kind}", "sequence_number": at, "response": response("in_progress")})
        for at, kind in enumerate(("created", "in_progress"))
    ]


def _usage(said: Said) -> dict[str, object] | None:
    if said.read is None:
        return None
    return {
        "input_tokens": said.read,
        "input_tokens_details": {"cached_tokens": said.cached},
        "output_tokens": said.written or 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": said.read + (said.written or 0),
    }


def _output(said: Said) -> list[dict[str, object]]:
    output: list[dict[str, object]] = []
    if said.thoughts:
        summary = [{"type": "summary_text", "text": said.thought}]
        output.append({"id": "rs-1", "type": "reasoning", "summary": summary})
    if said.text:
        content = [{"type": "output_text", "text": said.whole, "annotations": []}]
        output.append({"id": "ms-1", "type": "message", "status": "completed", "role": "assistant", "content": content})
    return output + [_call(at, call) for at, call in enumerate(said.calls)]


def _call(at: int, call: Call) -> dict[str, object]:
    body = {"call_id": f"call-{at}", "name": call.name, "arguments": "".join(halves(call))}
    return {"id": f"fc-{at}", "type": "function_call", "status": "completed", **body}


def word_of(said: Said) -> str | None:
    """The word for the end, as the wire says it."""
    return said.finish if said.finish != "" else "completed"


def plain(said: Said) -> dict[str, object]:
    """A plain answer."""
    word = word_of(said)
    if word in _REASONS:
        return response("incomplete", _output(said), incomplete_details={"reason": word}, usage=_usage(said))
    return response(word or "in_progress", _output(said), usage=_usage(said))


def closing(said: Said, number: int = 99) -> Piece:
    """The event that ends an answer."""
    body = plain(said)
    return named({"type": f"response.{body['status']}", "sequence_number": number, "response": body})


class _Stream:
    """Events with their numbers; an answer that never ends leaves its parts open."""

    def __init__(self, said: Said) -> None:
        self._said = said
        self._numbers = count(2)
        self.pieces = opening()

    def say(self, kind: str, place: int, *, token: bool = False, **more: object) -> None:
        body = {"type": f"response.{kind}", "sequence_number": next(self._numbers), "output_index": place, **more}
        self.pieces.append(named(body, token=token))

    def item(self, place: int, item: dict[str, object]) -> None:
        {"reasoning": self._thoughts, "message": self._text, "function_call": self._call}[str(item["type"])](
            place, item
        )
        if self._said.finish is not None:
            self.say("output_item.done", place, item=item)

    def _thoughts(self, place: int, item: dict[str, object]) -> None:
        self.say("output_item.added", place, item={**item, "summary": []})
        for thought in self._said.thoughts:
            self.say(
                "reasoning_summary_text.delta", place, item_id=item["id"], summary_index=0, delta=thought, token=True
            )

    def _text(self, place: int, item: dict[str, object]) -> None:
        part = {"type": "output_text", "text": "", "annotations": []}
        self.say("output_item.added", place, item={**item, "status": "in_progress", "content": []})
        self.say("content_part.added", place, item_id=item["id"], content_index=0, part=part)
        for piece in self._said.text:
            self.say("output_text.delta", place, item_id=item["id"], content_index=0, delta=piece, token=True)
        if self._said.finish is not None:
            self.say("output_text.done", place, item_id=item["id"], content_index=0, text=self._said.whole)

    def _call(self, place: int, item: dict[str, object]) -> None:
        arguments = str(item["arguments"])
        begun = {**item, "status": "in_progress", "arguments": ""}
        self.say("output_item.added", place, item=begun, token=True)
        for half in (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]):
            self.say("function_call_arguments.delta", place, item_id=item["id"], delta=half, token=True)
        if self._said.finish is not None:
            self.say("function_call_arguments.done", place, item_id=item["id"], arguments=arguments)


def stream(said: Said) -> list[Piece]:
    """A streamed answer."""
    written = _Stream(said)
    for place, item in enumerate(_output(said)):
        written.item(place, item)
    return written.pieces if said.finish is None else [*written.pieces, closing(said)]
