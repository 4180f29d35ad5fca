"""What each receiver is sent."""

import json
from dataclasses import replace
from typing import Any

import pytest

from monitor.notify.forms import body_of
from monitor.notify.message import Message
from monitor.settings import Form, Told

MOVED = Message(
    id="a/m:e:3",
    event=Told.MOVES,
    at=1_764_500_000.0,
    target="a/m",
    before="closed",
    after="open",
    cause="slow",
    why="2 slow first bytes in a row",
    good=False,
    until=1_764_500_600.0,
)
NASTY = "<!channel> <@1> @everyone *bold* `x` [a](http://b) & \n# head \x1b[2J\u202e ~~s~~ || _u_"


def parsed(form: Form, message: Message) -> Any:
    return json.loads(body_of(message, form).content)


def test_plain_json_has_every_fact() -> None:
    said = parsed(Form.JSON, MOVED)

    assert said == {
        "event": "moves",
        "id": "a/m:e:3",
        "route": None,
        "target": "a/m",
        "before": "closed",
        "after": "open",
        "cause": "slow",
        "why": "2 slow first bytes in a row",
        "at": "2025-11-30T10:53:20.000Z",
        "until": "2025-11-30T11:03:20.000Z",
        "title": "a/m is open",
        "text": "Its circuit moved from closed to open at 2025-11-30 10:53:20 UTC, until 2025-11-30 11:03:20 UTC: "
        "2 slow first bytes in a row.",
    }


def test_slack_gets_a_text_in_which_nothing_of_ours_is_markup() -> None:
    text = parsed(Form.SLACK, replace(MOVED, why=NASTY))["text"]

    assert text.startswith("🔴 *a/m is open*\n")
    assert "&lt;!channel&gt; &lt;@1&gt;" in text
    assert not {"<", ">"} & set(text)
    assert text.count("\n") == 1


def test_teams_gets_an_adaptive_card() -> None:
    said = parsed(Form.TEAMS, MOVED)
    (attachment,) = said["attachments"]

    assert said["type"] == "message"
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert attachment["content"]["type"] == "AdaptiveCard"
    assert attachment["content"]["body"][0]["text"] == "a/m is open"


def test_discord_mentions_nobody_and_shows_signs_as_they_are() -> None:
    said = parsed(Form.DISCORD, replace(MOVED, why=NASTY))

    assert said["allowed_mentions"] == {"parse": []}
    assert r"\<\@1\> \@everyone \*bold\* \`x\`" in said["content"]


def test_ntfy_gets_a_text_with_a_title_in_ascii() -> None:
    headers, content = body_of(replace(MOVED, target="a/ü\r\nx: y"), Form.NTFY)

    assert headers["Title"] == "a/? x: y is open"
    assert (headers["Priority"], headers["Tags"]) == ("4", "rotating_light")
    assert content.decode().startswith("Its circuit moved from closed to open")


def test_a_route_without_a_target_is_told_by_its_name() -> None:
    message = replace(MOVED, event=Told.NO_TARGET, route="coder", until=None)

    assert parsed(Form.JSON, message)["title"] == "Route coder has no target left"


@pytest.mark.parametrize(
    ("form", "most"),
    [(Form.SLACK, 40_000), (Form.TEAMS, 28_000), (Form.DISCORD, 6_000), (Form.NTFY, 4_096), (Form.JSON, 120_000)],
)
def test_no_message_is_longer_than_its_receiver_takes(form: Form, most: int) -> None:
    long = replace(MOVED, why="*é" * 50_000, target="a/" + "m*" * 9_000)
    _, content = body_of(long, form)

    assert len(content) <= most
    if form is Form.DISCORD:
        assert len(json.loads(content)["content"]) <= 2_000


def test_a_message_is_read_as_it_was_written_and_another_versions_is_none() -> None:
    assert Message.read(MOVED.written()) == MOVED
    for text in ("", "[]", "{}", '{"event": "moves", "new": 1}'):
        assert Message.read(text) is None
