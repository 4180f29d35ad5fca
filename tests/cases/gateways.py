"""A gateway's own words in the place of a model's, and models that speak of such words."""

from collections.abc import Iterator

from tests.cases.case import Case, case
from tests.cases.said import Said, dump, words
from tests.cases.wires import CHAT, GEMINI, MESSAGES, RESPONSES, WIRES, plain, stream, word_of

_RETRY = "The request could not be completed. Please retry later, or reduce the request parameters/content."
_BLOCK = (
    "\n\n--- diagnostics ---\n"
    + "".join(
        f"hop {n}: node-{n * 37 % 97:02d}.pool-b, waited {n * 211 % 1900} ms, state {'retry' if n % 3 else 'gave up'}\n"
        for n in range(24)
    )
    + "trace: 5f2c-99ab-1170\nPlease contact the operators of this relay and quote the trace."
)
_DUMP = (
    "\n\n```json\n"
    + dump({"upstream": [{"host": f"gpu-{n}", "status": 500 + n % 4, "ms": n * 91} for n in range(30)]})
    + "\n```"
)

# Gateways that the rules have names for, in other wires and other endings than those in which they were seen.
_KNOWN = (
    ("omniroute", "[OmniRoute] All 4 upstream accounts failed. Please switch the model."),
    ("proxy-error", "[Proxy Error] socket hang up while talking to the upstream host"),
    ("internal-error", "Error: internal error"),
    ("credit", "Credit balance is too low"),
    ("plan-limit", "You've hit your limit · resets 11:30pm (Europe/Oslo)"),
    ("retry-or-reduce", _RETRY),
    ("retry-or-reduce-diagnosed", _RETRY + _BLOCK),
    ("proxy-error-diagnosed", "[Proxy Error] upstream answered 500" + _DUMP),
    ("old-client", "This version of Antigravity is no longer supported. Please update to receive the latest features!"),
)
# Gateways that nobody has named yet.
_UNSEEN = (
    ("bracketed", "[TokenFerry] No channel is available for oak-2, request dropped."),
    ("bracketed-timeout", "[relay-eu-3] Upstream timed out after 120 s. Please try again later."),
    ("bracketed-diagnosed", "[ModelBridge] Upstream error, giving up after 3 attempts." + _BLOCK),
    ("bracketed-chinese", "[星桥网关] 上游服务暂时不可用 请稍后重试。"),
    ("error-colon", "Error: upstream request failed with status 502. Please try again later."),
    ("bold", "**API Error**: the model backend timed out (ETIMEDOUT)"),
    ("channels-busy", "All channels for oak-2 are busy right now. Please retry in a few moments."),
    ("french", "Le serveur est momentanément surchargé. Veuillez réessayer plus tard."),
    ("japanese", "サーバーでエラーが発生しました。しばらくしてからもう一度お試しください。"),
    ("spanish", "El servicio está saturado. Inténtelo de nuevo más tarde."),
    ("an-error-as-text", '{"error":{"message":"upstream answered 502","type":"upstream_error","code":"bad_response"}}'),
    ("attempted", "Unable to reach the model backend (ECONNREFUSED)."),
    ("limited", "Daily message limit reached. Upgrade to keep chatting."),
    ("api-error", 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
)


def cases() -> Iterator[Case]:
    """All of them."""
    for place, (name, text) in enumerate(_KNOWN):
        yield _notice(f"gateway-{name}", WIRES[place % 4], text)
        yield _notice(f"gateway-{name}-plain", WIRES[(place + 1) % 4], text, streamed=False)
    for place, (name, text) in enumerate(_UNSEEN):
        yield _notice(f"unseen-{name}", WIRES[place % 4], text, unseen=True)
    yield from _appended()
    yield from _quoted()
    yield from _lookalikes()


def _notice(name: str, wire: str, text: str, *, streamed: bool = True, unseen: bool = False) -> Case:
    """The notice alone, counted as nothing, for a large question with tools."""
    said = Said(text=(text,), read=0 if wire != CHAT or not streamed else None, written=0)
    return case(
        name,
        wire,
        stream(wire, said) if streamed else plain(wire, said),
        rule="a gateway's words, in one piece and with no tokens counted, are no answer",
        verdict="gateway_text",
        accept_class=("inconclusive",) if unseen else (),
        accept=("error_event",) if unseen else ("quota", "rate_limited"),
        finish=word_of(wire, said),
        notice=True,
        tools=True,
        chars=31_000,
    )


def _appended() -> Iterator[Case]:
    """Notices behind the beginning of a real answer."""
    for wire, begun, notice in (
        (CHAT, "I renamed the helper in both files and", "\n\n[Proxy Error] The upstream closed the connection."),
        (MESSAGES, "The first three rows agree, the fourth", "\n\n[OmniRoute] Upstream stopped sending. Please retry."),
        (RESPONSES, "To prune the pear, begin with", "\n\nError: internal error"),
        (GEMINI, "Step one: drain the tank. Step two", "\n\n" + _RETRY),
    ):
        said = Said(text=(*words(begun), notice), read=None, written=None)
        yield case(
            f"appended-{wire}",
            wire,
            stream(wire, said),
            rule="a notice in a paragraph of its own behind a broken-off answer ends it as a failure",
            verdict="gateway_text",
            accept=("error_event", "cut"),
            finish=word_of(wire, said),
            tools=True,
            chars=24_000,
        )


_QUOTING = (
    (
        "explains-a-notice",
        (
            "When you see `[OmniRoute] Upstream returned an empty response. Please retry.` the router had no more "
            "accounts to try. Add a second account, or raise the limit in its settings."
        ),
    ),
    (
        "lists-notices",
        (
            "These strings mean that a proxy spoke, not the model:\n\n- `[Proxy Error] …`\n- `Error: internal error`\n"
            "- `Credit balance is too low`\n\nMatch them at the start of the text only."
        ),
    ),
    (
        "writes-a-parser",
        (
            '```python\nNOTICES = ("No response from OpenClaw.", "[bridge notice: ")\n\ndef spoken_by_proxy(text):\n'
            "    return text.startswith(NOTICES)\n```\nCall it before you trust a turn."
        ),
    ),
    (
        "translates-a-notice",
        (
            "„Die Anfrage konnte nicht abgeschlossen werden“ would be the German for “The request could not be "
            "completed. Please retry later”."
        ),
    ),
    (
        "log-excerpt",
        (
            "The excerpt shows the trouble:\n\n    03:11:07 429 Too Many Requests\n    03:11:09 503 overloaded\n"
            "    03:11:30 529 Overloaded\n\nThe client retried without waiting, so back off after the first 429."
        ),
    ),
    (
        "error-as-json",
        '{"error": {"type": "rate_limit_error", "message": "Too many requests"}, "note": "an example of the body"}',
    ),
    (
        "end-mark-in-text",
        "A stream ends with the line `data: [DONE]`; after it comes\n\ndata: [DONE]\n\nand nothing else.",
    ),
    ("page-in-text", "<!doctype html>\n<title>502 Bad Gateway</title>\n<h1>We will be back</h1>"),
    (
        "speaks-of-quota",
        (
            "You exceeded your current quota on 3 of 31 days in March, mostly at noon; on those days the queue was "
            "rate limited by the scheduler."
        ),
    ),
    ("chinese-quota", "“用户额度不足”表示账户余额已用完。请先充值再再运行脚本。"),
    ("begins-with-error", "Error: the function `mean` divides by zero for an empty list. Return None in that case."),
)


def _quoted() -> Iterator[Case]:
    """Real answers, counted, in many pieces, that quote what gateways say."""
    for place, (name, text) in enumerate(_QUOTING):
        for wire in (WIRES[place % 4], WIRES[(place + 2) % 4]):
            said = Said(text=words(text, 2), read=1600, written=70)
            yield case(
                f"quoted-{name}-{wire}",
                wire,
                stream(wire, said),
                rule="a model may speak of errors and of gateways",
                verdict="ok",
                finish=word_of(wire, said),
                chars=7_000,
            )
        wire = WIRES[(place + 1) % 4]
        said = Said(text=(text,), read=1600, written=70)
        yield case(
            f"quoted-{name}-plain",
            wire,
            plain(wire, said),
            rule="a model may speak of errors and of gateways",
            verdict="ok",
            finish=word_of(wire, said),
            chars=7_000,
        )


_BRACKETS = (
    ("footnote", "[1] Hale, The Stone Bridge, p. 40, is the only source that gives the year."),
    ("checkbox", "[x] Move the fixtures\n[x] Rename the helper\n[ ] Update the notes"),
    ("log-level", "[INFO] 3 files checked, 0 errors"),
    ("french-advice", "Le serveur écoute sur le port 8080. Changez-le dans le fichier, puis relancez les tests."),
    ("failed-build", "The build failed since npm was missing. Install it, then try again."),
    ("error-to-copy", '{"error":{"code":12,"message":"No such user"}}'),
    ("json-list", '["ash", "beech", "birch"]'),
    ("stage-direction", "[Enter MARA, with a lantern] Who left the gate open?"),
    ("placeholder", "[Your Name]\n[Street and number]\n\nDear Ms Okafor, thank you for your letter of May 3."),
    ("warning-sign", "⚠️ The second test is flaky: it reads the wall clock. Freeze it, or compare with a margin."),
    ("sorry", "Sorry, I can't find a function called `retry_later` in these files. Did you mean `later`?"),
)


def _lookalikes() -> Iterator[Case]:
    """Short real answers in one piece that nobody counted: an opening alone must not decide."""
    for place, (name, text) in enumerate(_BRACKETS):
        wire = WIRES[place % 4]
        said = Said(text=(text,), read=None, written=None)
        yield case(
            f"opening-{name}",
            wire,
            stream(wire, said),
            rule="an opening in brackets or an apology alone is not a gateway's",
            verdict="ok",
            finish=word_of(wire, said),
            chars=2_400,
        )
