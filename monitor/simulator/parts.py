"""The parts of an answer that behaviours share: when its first byte comes, its words, its events."""

import math
from collections.abc import Iterable, Iterator, Sequence

from monitor.simulator import text
from monitor.simulator.steps import Body, Hang, Head, Scene, Step

EVENTS = "text/event-stream; charset=utf-8"
JSON = "application/json"


def first_byte_s(scene: Scene) -> float:
    """Return a first byte from the log-normal around the behaviour's median."""
    return scene.behaviour.first_byte_s * math.exp(scene.behaviour.spread * scene.chance.gauss())


def headers_s(scene: Scene) -> float:
    """Return when the headers go out where no first byte holds them back."""
    return scene.behaviour.headers_s or 0.0


def after(scene: Scene, start_s: float, tokens: int) -> float:
    """Return the moment at which so many tokens have been said since `start_s`."""
    return start_s + tokens / scene.behaviour.tokens_per_s


def good_words(scene: Scene) -> tuple[list[str], bool]:
    """Return the tokens of a good answer, and whether the request's own limit cut it."""
    question = scene.reply.question
    return text.reply_to(question.prompt, question.max_tokens, scene.behaviour.answer_tokens, scene.chance)


def long_words(scene: Scene) -> list[str]:
    """Return the tokens of a good answer that goes on beyond `tokens`, whatever limit was asked for."""
    at_least = max(scene.behaviour.answer_tokens, scene.behaviour.tokens + 2)
    return text.reply_to(scene.reply.question.prompt, None, at_least, scene.chance)[0]


def phrase(scene: Scene, otherwise: str) -> str:
    """Return the behaviour's phrase, or else a wording of ours."""
    return otherwise if scene.behaviour.phrase is None else scene.behaviour.phrase


def head(scene: Scene, at_s: float, length: int | None = None) -> Head:
    """Return the head of an HTTP 200."""
    return Head(at_s=at_s, content_type=EVENTS if scene.reply.question.stream else JSON, length=length)


def opened(scene: Scene, first_s: float) -> Iterator[Step]:
    """Yield the head of a stream and its opening events, which carry no part of the answer."""
    at_s = first_s if scene.behaviour.headers_s is None else min(scene.behaviour.headers_s, first_s)
    yield head(scene, at_s)
    yield from openings(scene, at_s)


def openings(scene: Scene, at_s: float, *, empty: bool = False) -> Iterator[Step]:
    """Yield a stream's opening events alone."""
    for event in scene.wire.opening(scene.reply, empty=empty):
        yield Body(at_s=at_s, data=event)


def deltas(scene: Scene, start_s: float, words: Iterable[str]) -> Iterator[Step]:
    """Yield a token each, in the behaviour's rhythm."""
    for count, word in enumerate(words):
        yield Body(at_s=after(scene, start_s, count), data=scene.wire.delta(scene.reply, word), carries=True)


def closings(scene: Scene, at_s: float, words: Sequence[str], *, limited: bool = False) -> Iterator[Step]:
    """Yield a stream's last events, with the usage and the end mark."""
    for event in scene.wire.closing(scene.reply, "".join(words), len(words), limited=limited):
        yield Body(at_s=at_s, data=event)


def whole(scene: Scene, words: Sequence[str], *, limited: bool = False) -> bytes:
    """Return the body of a plain answer."""
    return scene.wire.whole(scene.reply, "".join(words), len(words), limited=limited)


def answer(scene: Scene, first_s: float, words: Iterable[str], *, limited: bool = False) -> Iterator[Step]:
    """Yield an answer with a proper end, streamed or plain as it was asked for."""
    if not scene.reply.question.stream:
        said = list(words)
        yield from page(after(scene, first_s, len(said)), whole(scene, said, limited=limited), JSON)
        return
    yield from opened(scene, first_s)
    yield from _spoken(scene, first_s, words, limited=limited)


def empty_answer(scene: Scene, first_s: float) -> Iterator[Step]:
    """Yield an answer that has a proper end and no text."""
    if not scene.reply.question.stream:
        yield from page(first_s, whole(scene, []), JSON, carries=False)
        return
    yield head(scene, min(headers_s(scene), first_s))
    yield from openings(scene, first_s, empty=True)
    yield from closings(scene, first_s, [])


def resumed(scene: Scene, silent_s: float) -> Iterator[Step]:
    """Yield what follows a head and a silence that began at `silent_s`: nothing for ever, or a good answer."""
    if scene.behaviour.silence_s is None:
        yield Hang()
        return
    at_s = silent_s + scene.behaviour.silence_s
    words, limited = good_words(scene)
    if scene.reply.question.stream:
        yield from openings(scene, at_s)
        yield from _spoken(scene, at_s, words, limited=limited)
    else:
        body = whole(scene, words, limited=limited)
        yield Body(at_s=after(scene, at_s, len(words)), data=body, carries=True)


def page(at_s: float, body: bytes, content_type: str, *, carries: bool = True) -> Iterator[Step]:
    """Yield a body that comes in one piece, with HTTP 200."""
    yield Head(at_s=at_s, content_type=content_type, length=len(body))
    yield Body(at_s=at_s, data=body, carries=carries)


def _spoken(scene: Scene, first_s: float, words: Iterable[str], *, limited: bool) -> Iterator[Step]:
    said: list[str] = []
    yield from deltas(scene, first_s, _noted(words, said))
    yield from closings(scene, after(scene, first_s, len(said)), said, limited=limited)


def _noted(words: Iterable[str], said: list[str]) -> Iterator[str]:
    for word in words:
        said.append(word)
        yield word
