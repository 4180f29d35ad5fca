from typing import Any

import pytest

from breaker.attempt.calm import calmer
from tests.attempt.made import asked

CHAT, RESPONSES, MESSAGES = "/chat/completions", "/responses", "/messages"
GEMINI = "/models/x:generateContent"


@pytest.mark.parametrize(
    ("path", "base_url", "said", "values"),
    [
        pytest.param(CHAT, "https://openrouter.ai/api/v1", {}, {"reasoning": {"effort": "low"}}, id="OpenRouter"),
        pytest.param(CHAT, "https://api.z.ai/api/paas/v4", {}, {"thinking": {"type": "disabled"}}, id="Z.ai"),
        pytest.param(CHAT, "https://api.deepseek.com", {}, {"thinking": {"type": "disabled"}}, id="DeepSeek"),
        pytest.param(
            CHAT, "https://dashscope.aliyuncs.com/compatible-mode/v1", {}, {"enable_thinking": False}, id="DashScope"
        ),
        pytest.param(CHAT, "https://api.openai.com/v1", {}, {"reasoning_effort": "low"}, id="OpenAI"),
        pytest.param(CHAT, "https://z.ai.example.com/v1", {}, {}, id="a host that nobody knows"),
        pytest.param(CHAT, "http://10.0.0.7/v1", {"enable_thinking": True}, {"enable_thinking": False}, id="as asked"),
        pytest.param(
            CHAT,
            "https://api.openai.com/v1",
            {"reasoning": {"effort": "high"}},
            {"reasoning": {"effort": "low"}},
            id="the caller's dialect before the host's",
        ),
        pytest.param(
            RESPONSES,
            "https://api.openai.com/v1",
            {"reasoning": {"effort": "high", "summary": "auto"}},
            {"reasoning": {"effort": "low", "summary": "auto"}},
            id="Responses",
        ),
        pytest.param(
            MESSAGES, "https://a.example", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}, id="M"
        ),
        pytest.param(MESSAGES, "https://a.example", {}, {}, id="Messages without thinking"),
        pytest.param(
            GEMINI,
            "https://g.example",
            {"generationConfig": {"topK": 3}},
            {"generationConfig": {"topK": 3, "thinkingConfig": {"thinkingBudget": 0}}},
            id="Gemini",
        ),
        pytest.param(
            GEMINI,
            "https://g.example",
            {"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}},
            {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}},
            id="Gemini by levels",
        ),
    ],
)
def test_the_least_reasoning_is_asked_for_in_each_dialect(
    path: str, base_url: str, said: dict[str, Any], values: dict[str, object]
) -> None:
    assert calmer(asked(path=path, **said), base_url) == values
