"""Writes a message as its receiver wants it, within the receiver's limits, and so that no word of it is markup."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from monitor.notify.message import Message
from monitor.settings import Form

# Slack cuts texts far longer than this; Discord takes 2,000 characters, Teams 28 KB, ntfy 4,096 bytes (a longer text
# becomes a file). What is escaped may take twice its length.
_MOST = {Form.JSON: 4_000, Form.SLACK: 2_800, Form.TEAMS: 4_000, Form.DISCORD: 900, Form.NTFY: 1_200}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|>~<&@:])")


class Body(NamedTuple):
    """What is posted."""

    headers: Mapping[str, str]
    content: bytes


def body_of(message: Message, form: Form) -> Body:
    """What to post to a receiver of this form."""
    most = _MOST[form]
    return _FORMS[form](message, _plain(message.title, most // 4), _plain(message.text, most))


def _as_json(message: Message, title: str, text: str) -> Body:
    facts = {name: getattr(message, name) for name in ("id", "route", "target", "before", "after", "cause", "why")}
    facts = {name: fact and _plain(fact, _MOST[Form.JSON]) for name, fact in facts.items()}
    until = None if message.until is None else _moment(message.until)
    times = {"at": _moment(message.at), "until": until}
    return _json({"event": message.event.value, **facts, **times, "title": title, "text": text})


def _slack(message: Message, title: str, text: str) -> Body:
    return _json({"text": f"{_sign(message)} *{_entities(title)}*\n{_entities(text)}"})


def _teams(message: Message, title: str, text: str) -> Body:
    colour = "Good" if message.good else "Attention"
    head = {"type": "TextBlock", "text": _escaped(title), "weight": "Bolder", "size": "Medium", "wrap": True}
    blocks = [head | {"color": colour}, {"type": "TextBlock", "text": _escaped(text), "wrap": True}]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": blocks,
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return _json({"type": "message", "attachments": [{"contentType": kind, "contentUrl": None, "content": card}]})


def _discord(message: Message, title: str, text: str) -> Body:
    content = f"{_sign(message)} **{_escaped(title)}**\n{_escaped(text)}"
    return _json({"content": content, "allowed_mentions": {"parse": []}})


def _ntfy(message: Message, title: str, text: str) -> Body:
    tag, priority = ("white_check_mark", "3") if message.good else ("rotating_light", "4")
    headers = {"Title": title.encode("ascii", "replace").decode(), "Priority": priority, "Tags": tag}
    return Body({**headers, "Content-Type": "text/plain; charset=utf-8"}, text.encode())


_FORMS: dict[Form, Callable[[Message, str, str], Body]] = {
    Form.JSON: _as_json,
    Form.SLACK: _slack,
    Form.TEAMS: _teams,
    Form.DISCORD: _discord,
    Form.NTFY: _ntfy,
}


def _json(value: dict[str, Any]) -> Body:
    return Body({"Content-Type": "application/json"}, json.dumps(value).encode())


def _sign(message: Message) -> str:
    return "🟢" if message.good else "🔴"


def _plain(text: str, most: int) -> str:
    """One line of characters that can be printed, cut off where it is too long."""
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _entities(text: str) -> str:
    """Slack's way: these three, and no others."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _escaped(text: str) -> str:
    """Markdown's way."""
    return _MARKDOWN.sub(r"\\\1", text)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
