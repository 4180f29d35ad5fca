import pytest

from breaker.target import MODEL_NAME, PROVIDER_NAME, Provider, Target


def test_a_target_is_called_provider_slash_model() -> None:
    provider = Provider(name="openrouter", base_url="https://openrouter.example/api/v1", wire="openai-chat")

    assert Target(provider=provider, model="z-ai/glm-5.3").name == "openrouter/z-ai/glm-5.3"
    assert provider.api_key_env is None


@pytest.mark.parametrize("name", ["zai", "z.ai-2_x", "a" * 63])
def test_provider_names_fit(name: str) -> None:
    assert PROVIDER_NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["", "Zai", "z/ai", "{zai}", "-zai", "z ai", "a" * 64])
def test_provider_names_that_would_break_keys_or_labels_dont_fit(name: str) -> None:
    assert not PROVIDER_NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["glm-5.3-flash", "z-ai/GLM-5.3:free", "m@2026-11", "org/a+b", "a" * 127])
def test_model_names_fit(name: str) -> None:
    assert MODEL_NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["", "/m", "{m}", "m m", "m\n", "a" * 128])
def test_model_names_that_would_break_keys_or_labels_dont_fit(name: str) -> None:
    assert not MODEL_NAME.fullmatch(name)
