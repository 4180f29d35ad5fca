"""Providers that `firstbyte init` knows by the environment variables that hold their keys."""

from typing import NamedTuple


class Known(NamedTuple):
    """A provider as a starter writes it; `model` is one to begin with, models come and go."""

    variable: str
    name: str
    base_url: str
    wire: str
    model: str


_OPENAI, _ANTHROPIC = "openai-chat", "anthropic-messages"

KNOWN = (
    Known("ZAI_API_KEY", "zai", "https://api.z.ai/api/paas/v4", _OPENAI, "glm-5.3-flash"),
    Known("OPENROUTER_API_KEY", "openrouter", "https://openrouter.ai/api/v1", _OPENAI, "z-ai/glm-5.3-flash"),
    Known("ANTHROPIC_API_KEY", "anthropic", "https://api.anthropic.com/v1", _ANTHROPIC, "claude-haiku-4-5"),
    Known("OPENAI_API_KEY", "openai", "https://api.openai.com/v1", _OPENAI, "gpt-5.4-mini"),
    Known("DEEPSEEK_API_KEY", "deepseek", "https://api.deepseek.com", _OPENAI, "deepseek-flash"),
    Known("MISTRAL_API_KEY", "mistral", "https://api.mistral.ai/v1", _OPENAI, "mistral-small-latest"),
    Known("MOONSHOT_API_KEY", "moonshot", "https://api.moonshot.ai/v1", _OPENAI, "kimi-k2.6"),
    Known("XAI_API_KEY", "xai", "https://api.x.ai/v1", _OPENAI, "grok-4.3"),
    Known("GROQ_API_KEY", "groq", "https://api.groq.com/openai/v1", _OPENAI, "openai/gpt-oss-120b"),
    Known("TOGETHER_API_KEY", "together", "https://api.together.xyz/v1", _OPENAI, "openai/gpt-oss-120b"),
    Known("CEREBRAS_API_KEY", "cerebras", "https://api.cerebras.ai/v1", _OPENAI, "gpt-oss-120b"),
    Known(
        "FIREWORKS_API_KEY",
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        _OPENAI,
        "accounts/fireworks/models/gpt-oss-120b",
    ),
    Known(
        "DASHSCOPE_API_KEY",
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        _OPENAI,
        "qwen-plus",
    ),
    Known(
        "GEMINI_API_KEY",
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        _OPENAI,
        "gemini-flash-latest",
    ),
)
