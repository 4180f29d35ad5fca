"""Tells the moves of all targets as an Atom feed (RFC 4287)."""

import re
from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from breaker.api import sentences, shaping
from breaker.api.reader import Cursor
from breaker.circuit import Move

# What XML can't hold in any form.
_UNSAYABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def feed(moves: Sequence[tuple[str, Move]], now: float) -> str:
    """The feed, newest first; it was updated when something moved last, or where nothing has, now."""
    updated = shaping.clock(moves[0][1].at if moves else now)
    entries = "".join(_entry(target, move) for target, move in moves)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom">\n'
        "<id>urn:firstbyte:moves</id>\n<title>Firstbyte: moves of all targets</title>\n"
        f"<updated>{updated}</updated>\n<author><name>Firstbyte</name></author>\n"
        '<link rel="alternate" type="text/html" href="./"/>\n<link rel="self" href="feed.atom"/>\n'
        f"{entries}</feed>\n"
    )


def _entry(target: str, move: Move) -> str:
    return (
        f"<entry><id>urn:firstbyte:move:{quote(target, safe='')}:{_said(str(Cursor.of(move)))}</id>\n"
        f"<title>{_said(f'{target} {sentences.move(move)}')}</title>\n"
        f"<updated>{shaping.clock(move.at)}</updated>\n"
        f'<category term="{move.cause.value}"/>\n<content type="text">{_said(move.why)}</content></entry>\n'
    )


def _said(text: str) -> str:
    return escape(_UNSAYABLE.sub("\ufffd", text))
