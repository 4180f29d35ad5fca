"""Each behaviour as a script: what is sent at which moment, decided without any input or output."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from monitor.simulator import text
from monitor.simulator.arrays import as_array
from monitor.simulator.behaviour import BehaviourName as Name
from monitor.simulator.parts import (
    JSON,
    after,
    answer,
    closings,
    deltas,
    empty_answer,
    first_byte_s,
    good_words,
    head,
    headers_s,
    long_words,
    opened,
    page,
    phrase,
    resumed,
    whole,
)
from monitor.simulator.steps import Body, Cut, Hang, Head, Reset, Scene, Step

_PAGE = b"<!doctype html>\n<html><head><title>Welcome</title></head><body><h1>It works</h1></body></html>\n"
_BYTES_PER_TOKEN = 4
_MOST_PLAIN_TOKENS = 200_000  # a plain answer is built in memory before it goes out


def script(scene: Scene) -> Iterator[Step]:
    """Yield the steps of one answer in the order of their times."""
    steps = _SCRIPTS[scene.behaviour.name](scene)
    return as_array(steps, f"{JSON}; charset=UTF-8") if scene.reply.question.array else steps


def _healthy(scene: Scene) -> Iterator[Step]:
    words, limited = good_words(scene)
    return answer(scene, first_byte_s(scene), words, limited=limited)


def _first_byte_after(scene: Scene) -> Iterator[Step]:
    words, limited = good_words(scene)
    return answer(scene, scene.behaviour.after_s, words, limited=limited)


def _headers_only(scene: Scene) -> Iterator[Step]:
    yield head(scene, headers_s(scene))
    yield from resumed(scene, headers_s(scene))


def _comments_only(scene: Scene) -> Iterator[Step]:
    # providers keep a plain answer's connection awake with blank lines, which JSON allows
    comment = b": keep-alive\n\n" if scene.reply.question.stream else b"\n"
    silence_s = math.inf if scene.behaviour.silence_s is None else scene.behaviour.silence_s
    yield head(scene, headers_s(scene))
    for turn in itertools.count():
        if turn * scene.behaviour.every_s >= silence_s:
            break
        yield Body(at_s=headers_s(scene) + turn * scene.behaviour.every_s, data=comment)
    yield from resumed(scene, headers_s(scene))


def _never_answers(scene: Scene) -> Iterator[Step]:
    silence_s = scene.behaviour.silence_s
    if silence_s is None:
        return iter([Hang()])
    words, limited = good_words(scene)
    held = replace(scene, behaviour=replace(scene.behaviour, headers_s=None))
    return answer(held, silence_s, words, limited=limited)


def _reset(scene: Scene) -> Iterator[Step]:
    yield Reset(at_s=headers_s(scene))


def _cut(scene: Scene) -> Iterator[Step]:
    words, first_s, count = long_words(scene), first_byte_s(scene), scene.behaviour.tokens
    end_s = after(scene, first_s, count)
    if scene.reply.question.stream:
        yield from opened(scene, first_s)
        yield from deltas(scene, first_s, words[:count])
        yield Cut(at_s=end_s, data=scene.wire.delta(scene.reply, words[count]))
    else:
        body = whole(scene, words)
        yield head(scene, end_s, len(body))
        yield Cut(at_s=end_s, data=body)


def _stall(scene: Scene) -> Iterator[Step]:
    first, rest = _stalled_stream(scene) if scene.reply.question.stream else _stalled_body(scene)
    yield from first
    if scene.behaviour.silence_s is None:
        yield Hang()
    else:
        yield from rest


def _stalled_stream(scene: Scene) -> tuple[Iterator[Step], Iterator[Step]]:
    words, first_s, count = long_words(scene), first_byte_s(scene), scene.behaviour.tokens
    again_s = after(scene, first_s, count) + (scene.behaviour.silence_s or 0.0)
    end_s = after(scene, again_s, len(words) - count)
    first = itertools.chain(opened(scene, first_s), deltas(scene, first_s, words[:count]))
    return first, itertools.chain(deltas(scene, again_s, words[count:]), closings(scene, end_s, words))


def _stalled_body(scene: Scene) -> tuple[Iterator[Step], Iterator[Step]]:
    body = whole(scene, long_words(scene))
    half = len(body) // 2
    at_s = after(scene, first_byte_s(scene), scene.behaviour.tokens)
    again_s = at_s + (scene.behaviour.silence_s or 0.0)
    first: list[Step] = [head(scene, at_s, len(body)), Body(at_s=at_s, data=body[:half], carries=True)]
    return iter(first), iter([Body(at_s=again_s, data=body[half:], carries=True)])


def _empty(scene: Scene) -> Iterator[Step]:
    return empty_answer(scene, first_byte_s(scene))


def _empty_unended(scene: Scene) -> Iterator[Step]:
    yield head(scene, first_byte_s(scene))


def _gateway_text(scene: Scene) -> Iterator[Step]:
    return answer(scene, first_byte_s(scene), [phrase(scene, text.GATEWAY)])


def _truncated_prompt(scene: Scene) -> Iterator[Step]:
    question = scene.reply.question
    kept = min(scene.behaviour.keep_tokens, max(1, question.prompt_tokens // 4))
    prompt = question.prompt.encode("utf-8", "replace")[-kept * _BYTES_PER_TOKEN :].decode("utf-8", "ignore")
    reply = replace(scene.reply, question=replace(question, prompt=prompt, prompt_tokens=kept))
    return _healthy(replace(scene, reply=reply))


def _error_first(scene: Scene) -> Iterator[Step]:
    first_s = first_byte_s(scene)
    if not scene.reply.question.stream:
        return _error_body(scene, first_s)
    return itertools.chain([head(scene, first_s)], _error_event(scene, first_s))


def _error_after_text(scene: Scene) -> Iterator[Step]:
    first_s, count = first_byte_s(scene), scene.behaviour.tokens
    end_s = after(scene, first_s, count)
    if not scene.reply.question.stream:
        return _error_body(scene, end_s)
    said = deltas(scene, first_s, long_words(scene)[:count])
    return itertools.chain(opened(scene, first_s), said, _error_event(scene, end_s))


def _error_event(scene: Scene, at_s: float) -> Iterator[Step]:
    yield Body(at_s=at_s, data=scene.wire.error_event(scene.reply, _upstream_error(scene)))


def _error_body(scene: Scene, at_s: float) -> Iterator[Step]:
    return page(at_s, scene.wire.error(500, _upstream_error(scene)), JSON, carries=False)


def _upstream_error(scene: Scene) -> str:
    return phrase(scene, "The upstream stopped unexpectedly.")


def _html(scene: Scene) -> Iterator[Step]:
    return page(first_byte_s(scene), _PAGE, "text/html; charset=utf-8", carries=False)


def _loop(scene: Scene) -> Iterator[Step]:
    return _for_seconds(scene, text.repeat(), limited=True)


def _flow(scene: Scene) -> Iterator[Step]:
    return _for_seconds(scene, itertools.chain(good_words(scene)[0], text.wander(scene.chance)))


def _for_seconds(scene: Scene, words: Iterator[str], *, limited: bool = False) -> Iterator[Step]:
    count = math.ceil(scene.behaviour.seconds * scene.behaviour.tokens_per_s)
    if not scene.reply.question.stream:
        count = min(count, _MOST_PLAIN_TOKENS)
    return answer(scene, first_byte_s(scene), itertools.islice(words, count), limited=limited)


def _http_error(scene: Scene) -> Iterator[Step]:
    told = scene.behaviour
    body = scene.wire.error(told.status, phrase(scene, f"The simulator was told to answer with {told.status}."))
    yield Head(
        at_s=headers_s(scene),
        status=told.status,
        content_type=JSON,
        length=len(body),
        retry_after_s=told.retry_after_s,
    )
    yield Body(at_s=headers_s(scene), data=body)


_SCRIPTS: Mapping[Name, Callable[[Scene], Iterator[Step]]] = {
    Name.HEALTHY: _healthy,
    Name.FIRST_BYTE_AFTER: _first_byte_after,
    Name.HEADERS_ONLY: _headers_only,
    Name.COMMENTS_ONLY: _comments_only,
    Name.NEVER_ANSWERS: _never_answers,
    Name.REFUSED: _reset,  # for a request that was already under way when the port closed
    Name.RESET: _reset,
    Name.CUT: _cut,
    Name.STALL: _stall,
    Name.EMPTY: _empty,
    Name.EMPTY_UNENDED: _empty_unended,
    Name.GATEWAY_TEXT: _gateway_text,
    Name.TRUNCATED_PROMPT: _truncated_prompt,
    Name.ERROR_FIRST: _error_first,
    Name.ERROR_AFTER_TEXT: _error_after_text,
    Name.HTML: _html,
    Name.LOOP: _loop,
    Name.FLOW: _flow,
    Name.HTTP_ERROR: _http_error,
}
