import pytest

from breaker.answer import Fault
from breaker.wire.phrases import MOST_GUESSED, find_phrase, phrase_ids
from breaker.wire.signs import PHRASES, Phrase

PHRASE = Phrase(id="theirs", text="[Hub] Nothing came back", tail=20)
PROSE = " and it does so whenever the line behind it falls silent, which is what you see here" * 30
TRACE = '\n{"request_id": "req_81", "status": 502, "attempts": [{"host": "a-1", "ms": 30012}]}' * 30
LOG = "\n  at relay.send (/srv/relay/send.js:81:12)\n  status=502 retry=3 host=a-1" * 30


def found(text: str, *phrases: Phrase) -> str | None:
    """The id of the phrase in a text of one paragraph."""
    phrase = find_phrase(text, len(text), "", phrases)
    return phrase and phrase.id


@pytest.mark.parametrize(
    ("text", "there"),
    [
        pytest.param(PHRASE.text, True, id="by itself"),
        pytest.param(PHRASE.text + "x" * PHRASE.tail, True, id="with its tail"),
        pytest.param(PHRASE.text + "x" * (PHRASE.tail + 1), False, id="with a longer one"),
        pytest.param("⚠️ **" + PHRASE.text.upper() + "**", True, id="in large letters, with ornament"),
        pytest.param(PHRASE.text + PROSE, False, id="explained"),
        pytest.param(PHRASE.text + TRACE, True, id="with a long block of data"),
        pytest.param(PHRASE.text + LOG, True, id="with a long trace"),
        pytest.param("So: " + PHRASE.text, False, id="not from the start"),
    ],
)
def test_a_known_phrase_is_found_from_the_start(text: str, there: bool) -> None:
    assert (found(text, PHRASE) == "theirs") == there


def test_a_phrase_may_be_the_last_paragraph() -> None:
    assert find_phrase("So it goes.", 9_999, PHRASE.text, [PHRASE]) == ("theirs", 9_999 - len(PHRASE.text), None)
    assert find_phrase("So it goes.", 9_999, PHRASE.text + "x" * (PHRASE.tail + 1), [PHRASE]) is None


@pytest.mark.parametrize("curly", ["You\u2019ve hit your limit · resets 2pm", "You've hit your limit · resets 2pm"])
def test_quotes_of_any_form_are_the_same(curly: str) -> None:
    assert found(curly, *PHRASES) == "claude-limit"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("[Hub] Nothing came back", None, id="nothing"),
        pytest.param("[Hub] Nothing came back: rate limit", Fault.RATE_LIMITED, id="a limit"),
        pytest.param("[Hub] Nothing came back, an empty response", Fault.EMPTY, id="emptiness"),
    ],
)
def test_what_is_wrong_is_read_from_the_words(text: str, says: Fault | None) -> None:
    phrase = find_phrase(text, len(text), "", [PHRASE])

    assert phrase is not None
    assert phrase.says is says


# Wordings that no gateway on the list has, as the next one may have them.
UNHEARD = {
    "[MegaRouter] Upstream sent no response, please retry": "like-signed",
    "[Bridge Error] connection to the backend was closed": "like-signed",
    "[llm-hub] 上游超时": "like-signed",
    "The upstream provider timed out after 60 s.": "like-upstream",
    "Upstream error: 502 Bad Gateway": "like-upstream",
    "API Error: the gateway is overloaded": "like-error",
    "Internal server error (upstream closed the stream)": "like-error",
    "Sorry, the model could not answer just now. Please try again later.": "like-retry",
    "Your request could not be served at this moment; kindly retry.": "like-retry",
    "当前模型负载过高\uff0c请稍后重试": "like-retry-chinese",
    "You have used up your free credits. Upgrade to continue.": "like-quota",
    "Your plan's limit was exceeded; it resets at 9:00": "like-quota",
    "账户余额不足\uff0c请充值": "like-quota-chinese",
    "No response was received from the model.": "like-silence",
    "This client version is deprecated, please install the newest one.": "like-version",
    "The service is temporarily unavailable.": "like-upkeep",
    "All upstream channels are in use. Pick another model or try again.": "like-busy",
    "There is no channel available for the model oak-2.": "like-busy",
    '{"error": {"message": "upstream said 502", "type": "upstream_error"}}': "like-error-body",
    "**API Error**: the gateway timed out": "like-error",
    "Le serveur est surchargé, merci de réessayer plus tard.": "like-retry-abroad",
    "Unser Dienst ist gerade ausgelastet. Bitte versuchen Sie es später noch einmal.": "like-retry-abroad",
    "El servicio no responde; inténtelo de nuevo en un minuto.": "like-retry-abroad",
    "O serviço está em manutenção, tente mais tarde.": "like-retry-abroad",
    "Сервер не отвечает, попробуйте ещё раз позже.": "like-retry-abroad",
    "サーバーが混雑しています。時間をおいて再度お試しください。": "like-retry-abroad",
    "서버가 응답하지 않습니다. 잠시 후 다시 시도해 주세요.": "like-retry-abroad",
    "We are under heavy load. Try again in an hour.": "like-apology",
    "Failed to fetch an answer from the upstream: ECONNRESET": "like-attempt",
    "Your message could not be processed: the provider hung up.": "like-reason",
    "[Stream error: nothing received]": "like-bracket",
    "Daily message limit reached.": "like-limit",
    "You have been rate limited.": "like-limit",
    "Expired API key.": "like-key",
    "HTTP 502: Bad Gateway": "like-status",
    "no healthy upstream": "like-bare",
    "502 Bad Gateway": "like-bare",
    "Error: Too Many Requests": "like-bare",
    '{"detail":"Internal Server Error"}': "like-bare",
    "Service Unavailable": "like-bare",
    "Internal error, please retry": "like-bare",
    "stream error: stream ID 5; INTERNAL_ERROR": "like-bare",
    "context deadline exceeded": "like-bare",
    "Error: timeout of 60000ms exceeded": "like-bare",
    "An error occurred while processing your request.": "like-bare",
    "stream disconnected before completion": "like-stream",
    "<html><head><title>Gone</title></head><center>nginx</center></html>": "like-page",
    "The AI engine is congested. Kindly resend in a minute.": "like-plea",
    "当前使用人数过多\uff0c请耐心等待": "like-plea-chinese",
    "litellm.APIConnectionError: it broke": "like-exception",
    "Error: socket hang up": "like-code",
    "This account has been suspended.": "like-account",
    "Connection error.": "like-trouble",
    "[Harbour Hub] Backend not reachable, switch the model.": "like-signed",
    "[ModelRelay] No provider is left, giving up.": "like-signed",
    "The upstream did not answer in time.": "like-upstream",
    "Error: the model did not respond.": "like-error",
}


@pytest.mark.parametrize(("text", "like"), UNHEARD.items(), ids=[*UNHEARD])
def test_a_gateway_nobody_knows_is_guessed_by_its_words(text: str, like: str) -> None:
    assert found(text) == like


@pytest.mark.parametrize(
    "text",
    [
        "At nine, from the north pier.",
        "[1] The lake lies north of the town.",
        "[ERROR] upstream failed",
        "[2026-11-02 10:11:12] gateway timeout",
        "[x] proxy error",
        "[Note] The ferry leaves at nine.",
        "[not closed, upstream error",
        "Errors in the gateway are handled by the retry loop in `send`.",
        "A 502 means that the upstream failed; retry with a delay.",
        "Yes, you can try again with a smaller batch.",
        "你可以先检查日志。",
        "模型训练失败是因为学习率过大。",
        "All nodes of the tree are visited once.",
        "There is no channel left open after this change.",
        "All servers passed, so you can try again with the next batch of requests.",
        '{"error": {"message": "No such user", "code": 12}}',
        '```json\n{"error": {"type": "upstream_error"}}\n```',
        "Der Dienst startet von selbst. Falls nicht, versuchen Sie den Befehl mit sudo.",
        "Le serveur écoute sur le port 8080.",
        "Запрос выполняется за 3 мс.",
        "サーバーは東京にあります。",
        "Something went wrong in step 2: the seed differs.",
        "Failed to fetch means that the browser blocked the call.",
        "The upload could not be completed because the disk is full.",
        "[Error handling] wrap the call.",
        "Daily limits are set in `limits.yaml`.",
        "Your API key is read from the environment.",
        "HTTP 503 is sent while the process starts; wait for its probe to pass, and look at line 12.",
        "Stream ends are marked by a blank line.",
        "502 Bad Gateway is what nginx sends while the backend starts.",
        "Internal server error: line 12 divides by zero.",
        "Too many requests, so I made the pool smaller.",
        '{"detail": "Internal Server Error", "line": 12}',
        "Request timed out after 30 s, since the lock was held.",
        "<html><head><title>My page</title></head><p>Hello</p></html>",
        "The server could not find app.yaml. Please check your path.",
        "Your model has too many parameters; please use dropout.",
        "TypeError: x is not a function",
        "Error code: 12 stands for a full disk.",
        "Your account page was rewritten.",
        "Connection errors come from the tunnel.",
        "The request to the model failed with 503, so I added a retry.",
        "Failed to reach the provider in test_pay. I'll try again with a local server.",
        "Your credentials are expired. Renew them with `make keys`.",
        "请求超时是因为数据库锁\uff0c我改成了重试三次。",
        "服务启动失败\uff0c请换一个端口再试。",
        "Le service ne démarre pas. Changez le port puis réessayez.",
        "The server is busy with the migration; please wait until it is done.",
    ],
)
def test_ordinary_words_are_no_guess(text: str) -> None:
    assert found(text) is None


def test_a_guess_is_made_about_short_texts_or_diagnostics() -> None:
    notice = "The upstream provider timed out."

    assert found(notice + " " + "x" * (MOST_GUESSED - len(notice) - 1)) == "like-upstream"
    assert found(notice + " " + "x" * (MOST_GUESSED - len(notice))) is None
    assert found(notice + TRACE) == "like-upstream"
    assert found(notice + PROSE) is None


def test_all_ids_there_can_be_are_known() -> None:
    assert phrase_ids([PHRASE]) == {"theirs", *UNHEARD.values()}
