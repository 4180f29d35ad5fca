"""Asks through the real SDKs, in an environment that holds them: questions on stdin, what came of each on stdout."""

import importlib
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

# Their types are in no environment that checks ours.
openai: Any = importlib.import_module("openai")
anthropic: Any = importlib.import_module("anthropic")

LIMIT_S = 10.0
HELLO = [{"role": "user", "content": "Hello"}]

Said = tuple[str, list[str], str | None]
"""The text, the names of calls, the word for why the model stopped."""


def ask_chat(client: Any, model: str, *, streamed: bool) -> Said:
    """Ask in Chat Completions, and read what every tutorial reads."""
    if not streamed:
        choices = client.chat.completions.create(model=model, messages=HELLO, max_tokens=1024).choices or []
        text = "".join(choice.message.content or "" for choice in choices)
        return text, [], choices[0].finish_reason if choices else None
    text, calls, finish = "", [], None
    for chunk in client.chat.completions.create(model=model, messages=HELLO, max_tokens=1024, stream=True):
        for choice in chunk.choices or []:
            text += choice.delta.content or ""
            calls += [call.function.name for call in choice.delta.tool_calls or [] if call.function.name]
            finish = choice.finish_reason or finish
    return text, calls, finish


def ask_responses(client: Any, model: str, *, streamed: bool) -> Said:
    """Ask in the Responses API."""
    if not streamed:
        response = client.responses.create(model=model, input="Hello")
        return response.output_text, [], response.status
    text, finish = "", None
    for event in client.responses.create(model=model, input="Hello", stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type.startswith("response.") and hasattr(event, "response"):
            finish = event.response.status
    return text, [], finish


def ask_messages(client: Any, model: str, *, streamed: bool) -> Said:
    """Ask in the Messages API."""
    asked: dict[str, Any] = {"model": model, "messages": HELLO, "max_tokens": 1024}
    if streamed:
        with client.messages.stream(**asked) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**asked)
    text = "".join(block.text for block in message.content if block.type == "text")
    return text, [block.name for block in message.content if block.type == "tool_use"], message.stop_reason


ASK: Mapping[str, Callable[..., Said]] = {
    "openai-chat": ask_chat,
    "openai-responses": ask_responses,
    "anthropic-messages": ask_messages,
}


def client_of(wire: str, base_url: str) -> Any:
    """The client that speaks a wire; it is not to ask again by itself."""
    options: dict[str, Any] = {"api_key": "none", "max_retries": 0, "timeout": LIMIT_S}
    if wire == "anthropic-messages":
        return anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), **options)
    return openai.OpenAI(base_url=base_url, **options)


def ask(question: dict[str, Any]) -> dict[str, object]:
    """What one question brought: text, calls and finish, or the error's class."""
    wire = question["wire"]
    try:
        client = client_of(wire, question["base_url"])
        text, calls, finish = ASK[wire](client, question["model"], streamed=question["streamed"])
    except Exception as error:  # noqa: BLE001 # whatever is raised is what the table shows
        return {"error": type(error).__name__}
    return {"text": text, "calls": calls, "finish": finish}


if __name__ == "__main__":
    versions = {"openai": openai.__version__, "anthropic": anthropic.__version__}
    print(json.dumps({"versions": versions, "answers": [ask(question) for question in json.load(sys.stdin)]}))
