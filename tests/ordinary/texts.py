"""Texts such as models write, made anew from a seed: none of them is a failure."""

import json
import random
from collections.abc import Callable


def _words(text: str) -> list[str]:
    return text.split()


_NOUNS = _words("bridge harvest compiler lantern ferry archive orchard valve ledger meadow socket quarry tunnel kettle")
_VERBS = _words("opens follows replaces measures carries repairs ignores returns crosses holds parses balances")
_MODIFIERS = _words("narrow early quiet second broken careful red nightly cheap northern stale sturdy")
_ENDS = [".", ".", ".", ".", "!", "?"]

# Words of other scripts; what they say together is of no matter to a judge that counts.
_SCRIPTS = {
    "chinese": (
        _words("桥梁 灯笼 编译器 果园 账本 阀门 夜里 慢慢 打开 修好 因为 所以 北方 的 了 在 是 和"),
        "",
        "。",
    ),
    "japanese": (
        _words("橋は 灯りが 果樹園で 静かに 開く 直した 夜の 古い 記録を 読み 返す です ました から"),
        "",
        "。",
    ),
    "korean": (
        _words("다리가 등불을 과수원에서 조용히 열립니다 고쳤다 밤의 오래된 기록을 다시 읽는다"),
        " ",
        ".",
    ),
    "arabic": (
        _words("الجسر يفتح البستان القديم ليلا ببطء السجل الثاني ثم يعود إلى الشمال في الصباح"),
        " ",
        ".",
    ),
    "hindi": (
        _words("पुल खुलता है पुराना बाग रात में धीरे दूसरा खाता फिर उत्तर की ओर लौटता सुबह"),
        " ",
        "।",
    ),
    "russian": (
        _words("мост открывает старый сад ночью медленно второй журнал затем возвращается на север утром"),
        " ",
        ".",
    ),
    "thai": (
        ["สะพาน", "เปิด", "สวน", "เก่า", "กลางคืน", "ช้า", "สมุด", "เล่มที่", "สอง", "แล้ว", "กลับ", "ไป", "ทางเหนือ"],
        "",
        " ",
    ),
    "hebrew": (
        ["הגשר", "נפתח", "הפרדס", "הישן", "בלילה", "לאט", "היומן", "השני", "ואז", "חוזר", "צפונה", "בבוקר"],
        " ",
        ".",
    ),
}
_EMOJI = ["🙂", "🚀", "🌧️", "🧑\u200d🚒", "🏔️", "🎻", "🇳🇴", "👩🏽\u200d🔬", "🫖", "🐙"]


def sentence(chance: random.Random) -> str:
    """One English sentence."""
    words = [
        f"the {chance.choice(_MODIFIERS)} {chance.choice(_NOUNS)} {chance.choice(_VERBS)} the {chance.choice(_NOUNS)}"
    ]
    if chance.random() < 0.5:
        words.append(f"and a {chance.choice(_NOUNS)} {chance.choice(_VERBS)} {chance.randrange(2, 900)} of them")
    text = " ".join(words) + chance.choice(_ENDS)
    return text[0].upper() + text[1:]


def short(chance: random.Random) -> str:
    return sentence(chance)


def long(chance: random.Random) -> str:
    """Some thousand characters in paragraphs."""
    return "\n\n".join(
        " ".join(sentence(chance) for _ in range(chance.randrange(3, 8))) for _ in range(chance.randrange(8, 14))
    )


def one_word(chance: random.Random) -> str:
    return chance.choice(
        ["Yes", "no", "0", "7", "OK", "{}", "[]", "null", "true", "404", "429", "🙂", "是", "-", "error", "Empty."]
    )


def number(chance: random.Random) -> str:
    return str(
        chance.choice([chance.randrange(10**6), chance.random(), -chance.randrange(99), "4.5e-7", "1/3", "503", "529"])
    )


def numbers(chance: random.Random) -> str:
    return "\n".join(
        ", ".join(str(chance.randrange(10 ** chance.randrange(1, 8))) for _ in range(6)) for _ in range(40)
    )


def other_script(chance: random.Random) -> str:
    """A few sentences in another script."""
    words, gap, end = _SCRIPTS[chance.choice(sorted(_SCRIPTS))]
    return gap.join(
        gap.join(chance.choice(words) for _ in range(chance.randrange(4, 11))) + end
        for _ in range(chance.randrange(1, 30))
    )


def emoji(chance: random.Random) -> str:
    return " ".join(chance.choice(_EMOJI) for _ in range(chance.randrange(1, 60)))


_QUOTES = (
    "[OmniRoute] Upstream returned an empty response. Please retry.",
    "[Proxy Error] The upstream API returned an empty response.",
    "Error: internal error",
    "The request could not be completed. Please retry later, or reduce the request parameters/content.",
    "Credit balance is too low",
    "You've hit your limit · resets 2pm",
    "overloaded_error: Overloaded",
    "429 Too Many Requests",
    "insufficient_quota: You exceeded your current quota, please check your plan and billing details.",
    "upstream connect error or disconnect/reset before headers",
    "当前分组上游负载已饱和",
    '{"error": {"type": "api_error", "message": "Internal server error"}}',
)


def quoting(chance: random.Random) -> str:
    """A sentence about what a gateway or a provider said."""
    quote = chance.choice(_QUOTES)
    frame = chance.choice(
        (
            "The log says `{quote}`. {more} {more2}",
            "{more}\n\n> {quote}\n\n{more2}",
            "{more} If you see “{quote}”, wait and try again. {more2}",
            '```python\nif text == "{quote}":\n    raise Unavailable\n```\n\n{more}',
            "- {more}\n- Seen at night: {quote}\n- {more2}",
            "“{quote}” — that is what users saw. {more} {more2} I would look at the router first.",
        )
    )
    return frame.format(quote=quote, more=sentence(chance), more2=sentence(chance))


_CODE = (
    """```python
def NAME(rows):
    for row in rows:
        if row[COUNT] is None:
            raise ValueError(row)
        yield row
```""",
    """```js
export async function NAME(OTHER) {
  const r = await fetch(`/api/${OTHER}`);
  if (r.status === 429) throw new Error('rate limit');
  return r.json();
}
```""",
    """```sh
set -euo pipefail
for f in NAME-*; do
  [ -s "$f" ] || { echo 'Error: empty response' >&2; exit COUNT; }
done
```""",
    """<!DOCTYPE html>
<html><head><title>NAME</title></head>
<body><h1>503</h1></body></html>""",
    """diff --git a/NAME.c b/NAME.c
--- a/NAME.c
+++ b/NAME.c
@@ -COUNT,3 +COUNT,4 @@
 int OTHER;
+int error = 0;
""",
    """SELECT NAME, count(*) FROM OTHER
WHERE status IN (429, 500, 503)
GROUP BY 1 HAVING count(*) > COUNT;""",
)


def code(chance: random.Random) -> str:
    """A function in one of several languages."""
    text = chance.choice(_CODE).replace("NAME", chance.choice(_NOUNS)).replace("OTHER", chance.choice(_VERBS))
    return text.replace("COUNT", str(chance.randrange(2, 99)))


def table(chance: random.Random) -> str:
    """A table in Markdown, padded to columns, with a rule between head and body."""
    rows = [
        [chance.choice(_NOUNS), str(chance.randrange(9999)), chance.choice(("ok", "429", "503", "-"))]
        for _ in range(chance.randrange(3, 60))
    ]
    lines = [f"| {name:<14} | {count:>7} | {state:^8} |" for name, count, state in [["name", "count", "state"], *rows]]
    return "\n".join([lines[0], f"|{'-' * 16}|{'-' * 9}|{'-' * 10}|", *lines[1:]])


def as_json(chance: random.Random) -> str:
    """An object or list, sometimes one that looks like an error's."""
    rows = [
        {"id": n, "name": chance.choice(_NOUNS), "ok": chance.random() < 0.5} for n in range(chance.randrange(1, 40))
    ]
    body: object = chance.choice(
        (
            rows,
            {"rows": rows, "error": None},
            {"error": {"code": chance.choice((429, 500)), "message": sentence(chance)}, "retry": True},
            {"status": "failed", "tests": rows},
            {"choices": [{"finish_reason": "error"}], "rows": rows},
        )
    )
    return json.dumps(body, indent=chance.choice((None, 2)))


def refusal(chance: random.Random) -> str:
    """Words with which a model declines."""
    return chance.choice(
        (
            "I can't help with that, but I can explain how the {} works.",
            "Sorry, I'm unable to share that. Is there another {} I can look at?",
            "抱歉。我无法协助处理这个请求。",
            "Ich kann dir dabei leider nicht helfen.",
            "I don't have access to the {}, so I can't answer. Please paste it here.",
            "Unable to complete the request: the {} you name is not in these files.",
            "I cannot do this {}: please retry with a smaller one.",
        )
    ).format(chance.choice(_NOUNS))


_LEVELS = ("INFO", "WARN", "ERROR")


def log(chance: random.Random) -> str:
    """An excerpt of a log full of errors, then what follows from it."""
    kinds = (
        "429 Too Many Requests",
        "503 Service Unavailable",
        "529 Overloaded",
        "504 Gateway Timeout",
        "200 OK",
        "401 invalid api key",
    )
    lines = [
        f"2026-11-07T{chance.randrange(24):02d}:{chance.randrange(60):02d}:07Z [{chance.choice(_LEVELS)}] "
        f"{chance.choice(_NOUNS)}: {chance.choice(kinds)} after {chance.randrange(9000)} ms"
        for _ in range(chance.randrange(3, 50))
    ]
    head = chance.choice(("", "[excerpt]\n", "Error log:\n"))
    return head + "\n".join(lines) + "\n\n" + sentence(chance)


def repeated(chance: random.Random) -> str:
    """What was asked for many times over, and ended by itself."""
    unit = chance.choice(("0", "ab", "I will not talk in class. ", "- [ ] item\n", "la ", "0,0,0,0\n", "=" * 40 + "\n"))
    return unit * chance.randrange(40, 400) + "\n\nThat is the whole list."


def rules(chance: random.Random) -> str:
    """Sections between rules."""
    rule = chance.choice(("---", "***", "=" * 60, "-" * 72, "​\n", "· · ·"))
    return f"\n\n{rule}\n\n".join(
        f"## {chance.choice(_NOUNS).title()}\n{sentence(chance)}" for _ in range(chance.randrange(2, 9))
    )


def openings(chance: random.Random) -> str:
    """Answers that open as notices do."""
    opening = chance.choice(
        ("[1] ", "[x] ", "[INFO] ", "Error: ", "⚠️ ", "Note: ", "**Warning** ", "[Draft] ", "Sorry, ", "Notice: ")
    )
    return opening + sentence(chance) + " " + sentence(chance)


def tagged(chance: random.Random) -> str:
    """Thoughts in the text itself, before the answer."""
    return f"<think>\n{sentence(chance)} {sentence(chance)}\n</think>\n\n{sentence(chance)}"


TEXTS: dict[str, Callable[[random.Random], str]] = {
    maker.__name__: maker
    for maker in (
        short,
        long,
        one_word,
        number,
        numbers,
        other_script,
        emoji,
        quoting,
        code,
        table,
        as_json,
        refusal,
        log,
        repeated,
        rules,
        openings,
        tagged,
    )
}
