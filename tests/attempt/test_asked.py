import json

import pytest

from breaker.attempt import Asked, asks_a_model, read_request
from breaker.wire.question import prompt_bytes
from tests.cases.wires import CHAT, GEMINI, MESSAGES, RESPONSES


def read(path: str, **body: object) -> Asked:
    found = read_request("POST", path, json.dumps(body).encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("path", "wire", "behind"),
    [
        ("/v1/chat/completions", CHAT, "/chat/completions"),
        ("/openai/deployments/x/chat/completions?api-version=1", CHAT, "/chat/completions?api-version=1"),
        ("/responses", RESPONSES, "/responses"),
        ("/anthropic/v1/messages?beta=true", MESSAGES, "/messages?beta=true"),
        ("/v1beta/models/g-1:generateContent", GEMINI, "/models/g-1:generateContent"),
    ],
)
def test_a_path_tells_the_wire(path: str, wire: str, behind: str) -> None:
    found = read(path, model="m")

    assert (found.wire, found.path) == (wire, behind)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("POST", "/v1/messages/count_tokens", b'{"model": "m"}', id="counting tokens"),
        pytest.param("POST", "/v1/embeddings", b'{"model": "m"}', id="embeddings"),
        pytest.param("GET", "/v1/chat/completions", b"", id="a list of stored answers"),
        pytest.param("POST", "/v1/chat/completions", b"{}", id="no model"),
        pytest.param("POST", "/v1/chat/completions", b'{"model": 1}', id="a model that is no text"),
        pytest.param("POST", "/v1/chat/completions", b"--x\r\n", id="no JSON"),
        pytest.param("POST", "/v1/chat/completions", b'{"model": "\xff"}', id="no UTF-8"),
        pytest.param("POST", "/v1/responses/compact", b'{"model": "m"}', id="a path below a known one"),
    ],
)
def test_what_asks_no_model_in_a_known_way_is_left_alone(method: str, path: str, body: bytes) -> None:
    assert read_request(method, path, body) is None


def test_another_model_is_all_that_changes_in_a_body() -> None:
    body = b'{"model":"a","stream":true,"temperature":1e0,"messages":[{"role":"user","content":"\\u00e9"}]}'
    found = read_request("POST", "/v1/chat/completions", body)

    assert found is not None
    assert found.path_for("b/c") == "/chat/completions"
    assert found.body_for("b/c") == body.replace(b'"a"', b'"b/c"')
    assert json.loads(found.body_for("b", {"reasoning_effort": "low"}))["reasoning_effort"] == "low"


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ({"previous_response_id": "r-1"}, True),
        ({"background": True}, True),
        ({"input": [{"content": [{"type": "input_file", "file_id": "f-1"}]}]}, True),
        ({"previous_response_id": None, "input": 'A "file_id" is a name.'}, False),
        ({"input": "Hello"}, False),
    ],
)
def test_what_is_kept_at_one_provider_binds_a_request_to_it(body: dict[str, object], bound: bool) -> None:
    assert read("/v1/responses", model="m", **body).bound is bound


def test_gemini_has_its_model_in_the_path() -> None:
    found = read("/v1beta/models/a:streamGenerateContent?alt=sse", contents=[])

    assert found.streamed
    assert found.path_for("models/b:c") == "/models/b%3Ac:streamGenerateContent?alt=sse"
    assert found.body_for("b") == b'{"contents": []}'


@pytest.mark.parametrize(
    ("path", "body", "limit"),
    [
        ("/chat/completions", {"max_tokens": 7}, 7),
        ("/chat/completions", {"max_completion_tokens": 8}, 8),
        ("/responses", {"max_output_tokens": 9}, 9),
        ("/models/x:generateContent", {"generationConfig": {"maxOutputTokens": 10}}, 10),
        ("/chat/completions", {"max_tokens": 0}, None),
        ("/chat/completions", {"max_tokens": True}, None),
        ("/chat/completions", {}, None),
    ],
)
def test_the_callers_own_limit_is_read(path: str, body: dict[str, object], limit: int | None) -> None:
    assert read(path, model="m", **body).max_tokens == limit


@pytest.mark.parametrize(
    ("body", "tools"),
    [
        pytest.param({}, False, id="none"),
        pytest.param({"tools": []}, False, id="an empty list"),
        pytest.param({"tools": [{"name": "t"}]}, True, id="some"),
        pytest.param({"functions": [{"name": "t"}]}, True, id="the old way"),
        pytest.param({"previous_response_id": "r"}, None, id="what stands in an earlier answer"),
    ],
)
def test_whether_tools_are_offered_is_read(body: dict[str, object], tools: bool | None) -> None:
    assert read("/v1/responses", model="m", **body).tools is tools


TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("path", "body", "texts"),
    [
        pytest.param(
            "/chat/completions",
            {
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"image_url": {"url": "data:"}}]},
                    {"role": "assistant", "content": None, "tool_calls": [{"function": {"arguments": "{}"}}]},
                    {"role": "tool", "content": "a wall"},
                ],
                "tools": [TOOL],
            },
            ["Be brief.", "Look:", "{}", "a wall", json.dumps(TOOL)],
            id="chat",
        ),
        pytest.param("/responses", {"instructions": "Short.", "input": "Hello"}, ["Short.", "Hello"], id="responses"),
        pytest.param(
            "/messages",
            {
                "system": [{"type": "text", "text": "Brief."}],
                "messages": [
                    {"role": "assistant", "content": [{"type": "tool_use", "name": "look", "input": {"at": 1}}]},
                    {"role": "user", "content": [{"type": "tool_result", "content": "a door"}]},
                ],
            },
            ["Brief.", '{"at": 1}', "a door"],
            id="messages",
        ),
        pytest.param(
            "/models/x:generateContent",
            {
                "systemInstruction": {"parts": [{"text": "Brief."}]},
                "contents": [
                    {"parts": [{"text": "Hi"}, {"inlineData": {"data": "AAAA"}}]},
                    {"parts": [{"functionCall": {"args": {"a": 1}}}]},
                ],
            },
            ["Brief.", "Hi", '{"a": 1}'],
            id="gemini",
        ),
    ],
)
def test_the_text_that_is_sent_is_measured(path: str, body: dict[str, object], texts: list[str]) -> None:
    assert read(path, model="m", **body).prompt_bytes == prompt_bytes(*texts)


@pytest.mark.parametrize(
    ("method", "path", "asks"),
    [
        ("POST", "/v1/chat/completions?x=1", True),
        ("GET", "/v1/chat/completions", False),
        ("POST", "/v1/embeddings", False),
    ],
)
def test_the_path_alone_says_whether_a_model_is_asked(method: str, path: str, asks: bool) -> None:
    assert asks_a_model(method, path) is asks
