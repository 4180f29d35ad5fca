"""Good answers: what every wire says, streamed and plain."""

from typing import Any

import pytest

from tests.simulator.asking import (
    ANTHROPIC,
    GEMINI,
    GOOD_END,
    LIMIT_END,
    MARKS,
    OPENAI,
    PROMPT,
    RESPONSES,
    TARGET,
    WIRES,
    ask,
    body_for,
    client_of,
    read,
    simulated,
    url_of,
)

every_wire = pytest.mark.parametrize("wire", WIRES)
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "plain"])


@every_wire
@both_ways
async def test_a_healthy_answer_returns_the_marks_once_and_in_order(wire: str, stream: bool) -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, wire, stream=stream)

    assert heard.text.splitlines()[0] == " ".join(MARKS)
    assert (heard.status, heard.finish, heard.ended) == (200, GOOD_END[wire], True)
    assert heard.out_tokens == -(-len(heard.text) // 4)


@every_wire
async def test_a_prompt_without_marks_gets_a_short_answer(wire: str) -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, wire, stream=True, prompt="Hello")

    assert heard.text.startswith("Lorem ipsum")


@pytest.mark.parametrize(
    ("wire", "others"),
    [
        pytest.param(OPENAI, {"prompt": [{"type": "text", "text": PROMPT}]}, id="openai parts"),
        pytest.param(
            OPENAI,
            {"messages": [{"role": "system", "content": MARKS[0]}, {"role": "user", "content": " ".join(MARKS[1:])}]},
            id="openai system",
        ),
        pytest.param(ANTHROPIC, {"prompt": [{"type": "text", "text": PROMPT}]}, id="anthropic parts"),
        pytest.param(ANTHROPIC, {"system": MARKS[0], "prompt": " ".join(MARKS[1:])}, id="anthropic system"),
        pytest.param(
            ANTHROPIC,
            {"system": [{"type": "text", "text": MARKS[0]}], "prompt": [{"type": "tool_result", "content": PROMPT}]},
            id="anthropic system parts and a tool's result",
        ),
        pytest.param(RESPONSES, {"input": PROMPT}, id="responses text"),
        pytest.param(RESPONSES, {"prompt": [{"type": "input_text", "text": PROMPT}]}, id="responses parts"),
        pytest.param(
            RESPONSES,
            {
                "instructions": MARKS[0],
                "input": [
                    {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "1", "output": " ".join(MARKS[1:])},
                ],
            },
            id="responses instructions and a tool's output",
        ),
        pytest.param(GEMINI, {"prompt": [{"text": MARKS[0]}, {"text": " ".join(MARKS[1:])}]}, id="gemini parts"),
        pytest.param(
            GEMINI,
            {"systemInstruction": {"parts": [{"text": MARKS[0]}]}, "prompt": " ".join(MARKS[1:])},
            id="gemini system",
        ),
        pytest.param(
            GEMINI,
            {"system_instruction": {"parts": [{"text": MARKS[0]}]}, "prompt": " ".join(MARKS[1:])},
            id="gemini system in the other spelling",
        ),
    ],
)
async def test_marks_are_found_wherever_text_may_stand(wire: str, others: dict[str, Any]) -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, wire, stream=False, **others)

    assert heard.text.splitlines()[0] == " ".join(MARKS)


@every_wire
async def test_prompt_tokens_are_a_quarter_of_the_bytes_of_text_and_tools(wire: str) -> None:
    tool = {"type": "function", "function": {"name": "look", "description": "d" * 4000}}
    async with simulated() as simulator:
        bare = await ask(simulator, wire, stream=True, prompt="ü" * 2000)
        tooled = await ask(simulator, wire, stream=False, prompt="ü" * 2000, tools=[tool])

    assert bare.in_tokens == 1000
    assert tooled.in_tokens is not None
    assert 2000 < tooled.in_tokens < 2050


@every_wire
@both_ways
async def test_a_limit_on_tokens_ends_the_answer(wire: str, stream: bool) -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, wire, stream=stream, limit=2)

    assert (heard.text, heard.finish, heard.out_tokens) == ("FB-00000", LIMIT_END[wire], 2)


async def test_a_limit_that_fits_the_marks_alone_leaves_the_sentence_out() -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, OPENAI, stream=True, max_completion_tokens=9, max_tokens=1)

    assert (heard.text, heard.finish) == (" ".join(MARKS), "stop")


@every_wire
async def test_a_good_answer_is_filled_up_to_the_length_that_was_told(wire: str) -> None:
    async with simulated("healthy,answer_tokens=50") as simulator:
        heard = await ask(simulator, wire, stream=True)

    assert heard.out_tokens == 50


async def test_usage_comes_only_where_it_was_asked_for() -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, OPENAI, stream=True, stream_options=None)

    assert (heard.usage, heard.finish, heard.ended) == ({}, "stop", True)
    assert '"usage"' not in heard.body


async def test_an_openai_stream_opens_with_the_role_alone_and_ends_with_the_usage() -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, OPENAI, stream=True)
    first, *_, finish, usage, done, rest = heard.body.split("\n\n")

    assert '"delta":{"role":"assistant","content":""' in first
    assert '"finish_reason":"stop"' in finish
    assert '"choices":[],"usage":{' in usage
    assert (done, rest) == ("data: [DONE]", "")


async def test_an_anthropic_stream_has_its_events_in_order() -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, ANTHROPIC, stream=True)
    kinds = [kind for kind in heard.kinds if kind != "content_block_delta"]

    assert kinds == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


async def test_a_responses_stream_has_its_events_in_order() -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, RESPONSES, stream=True)
    kinds = [kind for kind in heard.kinds if kind != "response.output_text.delta"]

    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


@pytest.mark.parametrize("path", ["/v1beta/models/glm", "/v1/models/glm", "/models/glm", "/v1beta/models/%67lm"])
async def test_gemini_is_asked_below_any_of_its_bases(path: str) -> None:
    async with simulated() as simulator, client_of() as client:
        url = f"{simulator.address('zai')}{path}:streamGenerateContent?alt=sse"
        heard = read(GEMINI, await client.post(url, json=body_for(GEMINI, stream=True)))

    assert heard.text.startswith(" ".join(MARKS))


@pytest.mark.parametrize(
    ("behaviour", "texts", "end"),
    [
        pytest.param("healthy", " ".join(MARKS), "STOP", id="a good answer"),
        pytest.param("comments_only,silence_s=5", " ".join(MARKS), "STOP", id="blank lines before it"),
        pytest.param("empty", "", "STOP", id="empty"),
        pytest.param("error_after_text,tokens=2", "FB-00000", None, id="an error behind text"),
        pytest.param("error_first", "", None, id="an error alone"),
        pytest.param("http_error,status=503", "", None, id="an HTTP error"),
    ],
)
async def test_gemini_streams_one_json_array_where_it_isn_t_asked_for_events(
    behaviour: str, texts: str, end: str | None
) -> None:
    async with simulated(behaviour) as simulator, client_of() as client:
        url = f"{simulator.base_url('zai')}/models/glm:streamGenerateContent"
        answer = await client.post(url, json=body_for(GEMINI, stream=True))
    heard = read(GEMINI, answer)

    assert answer.text.strip().startswith("[{")
    assert answer.text.endswith("}\n]")
    assert heard.text.startswith(texts)
    assert heard.error is not None or heard.finish == end


@pytest.mark.parametrize("behaviour", ["html", "empty_unended"])
async def test_what_is_no_answer_is_no_array(behaviour: str) -> None:
    async with simulated(behaviour) as simulator, client_of() as client:
        url = f"{simulator.base_url('zai')}/models/glm:streamGenerateContent"
        answer = await client.post(url, json=body_for(GEMINI, stream=True))

    assert answer.text.startswith("<!doctype") or not answer.text


async def test_gemini_s_key_may_stand_in_the_address() -> None:
    async with simulated(keys={"zai": "right"}) as simulator, client_of() as client:
        url = f"{simulator.base_url('zai')}/models/glm:generateContent?key=right"

        assert (await client.post(url, json=body_for(GEMINI, stream=False))).status_code == 200


async def test_the_models_are_listed() -> None:
    async with simulated() as simulator, client_of() as client:
        answer = await client.get(f"{simulator.base_url('zai')}/models")

    assert [row["id"] for row in answer.json()["data"]] == ["glm"]


@every_wire
async def test_an_unknown_model_is_404_in_the_wire_s_shape(wire: str) -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, wire, stream=True, model="other")

    assert heard.status == 404
    assert heard.error is not None
    assert any(word in heard.body for word in ("model_not_found", "not_found_error", "NOT_FOUND"))


@pytest.mark.parametrize(
    ("wire", "others"),
    [
        pytest.param(OPENAI, {"messages": []}, id="openai no messages"),
        pytest.param(OPENAI, {"messages": ["hello"]}, id="openai message of text"),
        pytest.param(OPENAI, {"model": None}, id="openai no model"),
        pytest.param(OPENAI, {"stream": "yes"}, id="openai stream of text"),
        pytest.param(OPENAI, {"max_tokens": 0}, id="openai limit of 0"),
        pytest.param(ANTHROPIC, {"max_tokens": None}, id="anthropic no limit"),
        pytest.param(ANTHROPIC, {"messages": None}, id="anthropic no messages"),
        pytest.param(ANTHROPIC, {"model": "glm#staal"}, id="an unknown behaviour by name"),
        pytest.param(RESPONSES, {"input": []}, id="responses no input"),
        pytest.param(RESPONSES, {"input": ""}, id="responses empty input"),
        pytest.param(RESPONSES, {"limit": 0}, id="responses limit of 0"),
        pytest.param(GEMINI, {"contents": []}, id="gemini no contents"),
        pytest.param(GEMINI, {"contents": ["hello"]}, id="gemini content of text"),
        pytest.param(GEMINI, {"limit": 0}, id="gemini limit of 0"),
        pytest.param(GEMINI, {"generationConfig": 7}, id="gemini configuration of a number"),
        pytest.param(GEMINI, {"model": "glm#staal"}, id="gemini an unknown behaviour by name"),
    ],
)
async def test_a_wrong_request_is_400_in_the_wire_s_shape(wire: str, others: dict[str, Any]) -> None:
    async with simulated() as simulator:
        heard = await ask(simulator, wire, **{"stream": True, **others})

    assert heard.status == 400
    assert heard.error is not None
    assert heard.error.get("type", heard.error.get("status")) in ("invalid_request_error", "INVALID_ARGUMENT")


@every_wire
@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b"[" * 100_000], ids=["cut", "list", "no UTF-8", "deep"])
async def test_a_body_that_is_no_json_object_is_400(wire: str, body: bytes) -> None:
    async with simulated() as simulator, client_of() as client:
        answer = await client.post(url_of(simulator, wire), content=body, headers={"anthropic-version": "1"})

    assert answer.status_code == 400
    assert read(wire, answer).error is not None


async def test_anthropic_messages_need_their_version() -> None:
    async with simulated() as simulator, client_of() as client:
        answer = await client.post(url_of(simulator, ANTHROPIC), json=body_for(ANTHROPIC, stream=True))

    assert answer.status_code == 400
    assert "anthropic-version" in answer.text


@pytest.mark.parametrize(
    ("wire", "headers", "status"),
    [
        pytest.param(OPENAI, {}, 401, id="openai none"),
        pytest.param(OPENAI, {"authorization": "Bearer wrong"}, 401, id="openai wrong"),
        pytest.param(OPENAI, {"authorization": "Bearer right"}, 200, id="openai right"),
        pytest.param(ANTHROPIC, {}, 401, id="anthropic none"),
        pytest.param(ANTHROPIC, {"x-api-key": "wrong"}, 401, id="anthropic wrong"),
        pytest.param(ANTHROPIC, {"x-api-key": "right"}, 200, id="anthropic right"),
        pytest.param(ANTHROPIC, {"authorization": "Bearer right"}, 200, id="anthropic bearer"),
        pytest.param(RESPONSES, {"authorization": "Bearer wrong"}, 401, id="responses wrong"),
        pytest.param(RESPONSES, {"authorization": "Bearer right"}, 200, id="responses right"),
        pytest.param(GEMINI, {"x-goog-api-key": "wrong"}, 401, id="gemini wrong"),
        pytest.param(GEMINI, {"x-goog-api-key": "right"}, 200, id="gemini right"),
    ],
)
async def test_a_provider_with_a_key_wants_it(wire: str, headers: dict[str, str], status: int) -> None:
    async with simulated(keys={"zai": "right"}) as simulator:
        heard = await ask(simulator, wire, stream=False, headers=headers)

        assert heard.status == status
        assert simulator.asked(TARGET).count == (status == 200)
