import pytest

from breaker.wire import READERS
from breaker.wire.question import Question, Tool, prompt_bytes

TOOL = Tool(name="read_file", description="Reads a file.", schema={"type": "object", "properties": {"path": {}}})
QUESTION = Question(system="Be brief.", prompt="What is it?", tools=(TOOL,), max_tokens=64)
BARE = Question(system="", prompt="What is it?", max_tokens=64)


@pytest.mark.parametrize(
    ("texts", "size"),
    [
        pytest.param(["abc", "de"], 5, id="letters"),
        pytest.param(["é東"], 5, id="UTF-8"),
        pytest.param(["a" * 100], 100, id="letters in a row count in full"),
        pytest.param(["-" * 100 + "x" + "\n" * 100], 9, id="rules and blanks count four at most"),
        pytest.param(["\ud800"], 1, id="half a character"),
        pytest.param([], 0, id="nothing"),
    ],
)
def test_prompts_are_measured(texts: list[str], size: int) -> None:
    assert prompt_bytes(*texts) == size


def test_a_question_measures_its_tools_too() -> None:
    assert BARE.prompt_bytes == len("What is it?")
    assert QUESTION.prompt_bytes > BARE.prompt_bytes + len("Be brief.") + len("Reads a file.")


def test_openai_chat_is_asked_for_a_stream_with_counts() -> None:
    path, headers, body = READERS["openai-chat"].request("m", QUESTION, streamed=True)

    assert path == "/chat/completions"
    assert headers == {"accept": "text/event-stream", "content-type": "application/json"}
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is it?"}],
        "max_tokens": 64,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "read_file", "description": "Reads a file.", "parameters": TOOL.schema},
            }
        ],
    }


def test_openai_chat_is_asked_plainly() -> None:
    _, headers, body = READERS["openai-chat"].request("m", BARE, streamed=False)

    assert headers["accept"] == "application/json"
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is it?"}],
        "max_tokens": 64,
        "stream": False,
    }


def test_anthropic_messages_is_asked_for_a_stream() -> None:
    path, headers, body = READERS["anthropic-messages"].request("m", QUESTION, streamed=True)

    assert path == "/messages"
    assert headers == {
        "accept": "text/event-stream",
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    assert body == {
        "model": "m",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "What is it?"}],
        "max_tokens": 64,
        "stream": True,
        "tools": [{"name": "read_file", "description": "Reads a file.", "input_schema": TOOL.schema}],
    }


def test_anthropic_messages_is_asked_plainly() -> None:
    _, headers, body = READERS["anthropic-messages"].request("m", BARE, streamed=False)

    assert headers["accept"] == "application/json"
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is it?"}],
        "max_tokens": 64,
        "stream": False,
    }


@pytest.mark.parametrize(
    ("wire", "headers"),
    [("openai-chat", {"authorization": "Bearer k"}), ("anthropic-messages", {"x-api-key": "k"})],
)
def test_keys_travel_in_the_wires_own_header(wire: str, headers: dict[str, str]) -> None:
    assert READERS[wire].key_headers("k") == headers
