import pytest

from breaker.answer import Fault
from breaker.wire.phrases import MOST_GUESSED, find_phrase, phrase_ids
from breaker.wire.signs import PHRASES, Phrase

PHRASE = Phrase(id="theirs", text="[Hub] Nothing came back", tail=20)
LONGEST = len(PHRASE.text) + PHRASE.tail
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
