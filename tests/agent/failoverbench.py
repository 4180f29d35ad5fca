"""Situations in which a provider fails an agent, each with what a good client makes of it.

They are the project's own, after the sixteen of FailoverBench's methodology (S01-S16) and thirteen more (A1-A13). All
times are divided by twenty.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from breaker.answer import Ended
from breaker.client.transport import Limits
from breaker.exchange import Exchange
from monitor.simulator import Asked, Recorded
from tests.agent.faces import Came, Face, message
from tests.cases.said import Said, joined
from tests.cases.wires import CHAT, RESPONSES, plain, stream

SPEED = 20.0
# The words of a good answer are more than these characters, and begin so.
LEAST, BEGIN = 300, "Lorem ipsum dolor"
GOOD_ENDS = ("stop", "end_turn", "completed")

_FAST = "first_byte_s=0.4,spread=0,tokens_per_s=400"
FINE = f"healthy,{_FAST},answer_tokens=80"
_WORDS = " ".join(f"{BEGIN} sit amet, as line {number} of the book has it." for number in range(12)).split(" ")

# Patient enough for a busy machine, where nothing but the failure itself is to be noticed.
PATIENT = Limits(first_byte_s=20.0, silence_s=40.0, grace_s=0.2, pause_s=0.05)
# A first byte is awaited for twenty seconds (of the situation's own), silence is borne for as long.
HASTY = Limits(first_byte_s=0.99, silence_s=1.0, grace_s=0.1, pause_s=0.05)

Told = Any
Behaviour = Told | Callable[[Face], Told]


def question(situation: "Situation", face: Face) -> dict[str, Any]:
    """What is asked: as long a prompt as the situation wants, and that tokens are counted."""
    prompt = "Which birds are these? "
    prompt *= max(situation.prompt_chars // len(prompt), 1)
    said: dict[str, Any] = {"input": prompt} if face.wire == RESPONSES else {"messages": [message(prompt)]}
    if face.wire == CHAT and face.streamed:
        said["stream_options"] = {"include_usage": True}
    return said


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a question, and what the targets were asked for it; `s` is how long it took, in real seconds."""

    came: Came
    asked: Mapping[str, Asked]
    s: float

    @property
    def whole(self) -> bool:
        """Whether the caller holds what it takes for a whole answer."""
        return self.came.error is None and self.came.finish in GOOD_ENDS

    @property
    def good(self) -> bool:
        """Whether it is one."""
        return self.whole and self.came.text.startswith(BEGIN) and len(self.came.text) > LEAST

    @property
    def clear(self) -> bool:
        """Whether the caller was told by an error, and not by a fault of the SDK's own."""
        return self.came.error is not None and not isinstance(self.came.error, (ValueError, TypeError, AttributeError))

    def count(self, target: str) -> int:
        """How often a target was asked."""
        return self.asked[target].count


@dataclass(frozen=True, kw_only=True)
class Situation:
    """`targets` in the order of preference, with what each does; `best` is what a good client makes of it.

    `lies` says that what the first target says is never right, however whole it looks. `prompt_chars` is the length of
    the question.
    """

    id: str
    what: str
    wants: str
    targets: Mapping[str, Behaviour]
    best: Callable[[Outcome], bool]
    limits: Limits = PATIENT
    lies: bool = False
    prompt_chars: int = 5

    def told(self, face: Face) -> dict[str, Told]:
        """What each target does where it is asked through a face."""
        return {name: one(face) if callable(one) else one for name, one in self.targets.items()}


def _recorded(*exchanges: Callable[[Face], Exchange]) -> Callable[[Face], Recorded]:
    return lambda face: Recorded(tuple(made(face) for made in exchanges))


def _exchange(face: Face, pieces: Sequence[bytes], *, status: int = 200, retry_after_ms: str = "") -> Exchange:
    kind = "text/event-stream" if face.streamed and status == 200 else "application/json"
    return Exchange(
        id="made",
        wire=face.wire,
        streamed=face.streamed,
        status=status,
        headers={"content-type": kind, **({"retry-after-ms": retry_after_ms} if retry_after_ms else {})},
        chunks=tuple((0.4, data) for data in pieces),
        ended=Ended.COMPLETE,
        end_at_s=0.5,
    )


def _good(face: Face) -> Exchange:
    said = Said(text=(_WORDS[0], *(f" {word}" for word in _WORDS[1:])), read=2_000, written=200)
    pieces = [joined([piece]) for piece in stream(face.wire, said)] if face.streamed else [plain(face.wire, said).data]
    return _exchange(face, pieces)


def _unmarked(face: Face) -> Exchange:
    """Everything but the end mark, on a connection that stays open."""
    said = _good(face)
    chunks = tuple(chunk for chunk in said.chunks if b"[DONE]" not in chunk[1] and b"message_stop" not in chunk[1])
    ended = Ended.SILENCE if face.streamed else Ended.COMPLETE
    return replace(said, chunks=chunks, ended=ended)


def _garbled(face: Face) -> Exchange:
    """One event is broken JSON, after a few words."""
    said = _good(face)
    broken = b'data: {"choices": [{"index": 0, "delta": {"content": "Lo\n\n'
    if not face.streamed:
        return replace(said, chunks=((0.4, said.chunks[0][1][:-20]),))
    return replace(said, chunks=(*said.chunks[:2], (0.4, broken), *said.chunks[2:]))


def _refused(status: int, code: str, message: str, *, retry_after_ms: str = "") -> Callable[[Face], Exchange]:
    body = {"type": "error", "error": {"type": "invalid_request_error", "code": code, "message": message}}
    return lambda face: _exchange(face, [json.dumps(body).encode()], status=status, retry_after_ms=retry_after_ms)


def _silent(face: Face) -> Exchange:
    """The request is taken, and nothing comes."""
    return replace(_good(face), status=None, chunks=(), ended=Ended.SILENCE)


def _by_backup(outcome: Outcome) -> bool:
    return outcome.good and outcome.came.done.get("target") == "b/m"


def _backup_after(least: int, most: int) -> Callable[[Outcome], bool]:
    return lambda outcome: _by_backup(outcome) and least <= outcome.count("a/m") <= most


def _rescued_or_told(outcome: Outcome) -> bool:
    return outcome.good or (outcome.clear and not outcome.whole)


def _gap(outcome: Outcome) -> float:
    first, second = outcome.asked["a/m"].attempts[:2]
    return second.asked_at - first.asked_at


def _only_asked_once(code: str) -> Callable[[Outcome], bool]:
    def best(outcome: Outcome) -> bool:
        told = code in json.dumps(getattr(outcome.came.error, "body", None))
        return outcome.clear and told and outcome.count("a/m") == 1 and outcome.count("b/m") == 0

    return best


SITUATIONS = [
    Situation(
        id="S01",
        what="429 with Retry-After 2 s, then well; no backup",
        wants="waits as long as asked, then answers",
        targets={"a/m": _recorded(_refused(429, "rate_limit", "slow down", retry_after_ms="100"), _good)},
        best=lambda outcome: outcome.good and outcome.count("a/m") == 2 and _gap(outcome) >= 0.09,
    ),
    Situation(
        id="S02",
        what="429 for ever, without a word of how long",
        wants="leaves it after at most 6 tries",
        targets={"a/m": "http_error,status=429", "b/m": FINE},
        best=_backup_after(1, 6),
    ),
    Situation(
        id="S03",
        what="500 once; no backup",
        wants="one more try at the same is enough",
        targets={"a/m": _recorded(_refused(500, "server_error", "oops"), _good)},
        best=lambda outcome: outcome.good and outcome.count("a/m") == 2,
    ),
    Situation(
        id="S04",
        what="503 for ever",
        wants="goes to the backup within 6 tries",
        targets={"a/m": "http_error,status=503", "b/m": FINE},
        best=_backup_after(1, 6),
    ),
    Situation(
        id="S05",
        what="the connection is reset before any header",
        wants="tries again, or goes to the backup",
        targets={"a/m": "reset", "b/m": FINE},
        best=_backup_after(1, 2),
    ),
    Situation(
        id="S06",
        what="no answer at all for 120 s",
        wants="one try, then the backup",
        targets={"a/m": f"never_answers,silence_s=120,{_FAST},answer_tokens=80", "b/m": FINE},
        limits=HASTY,
        best=_backup_after(1, 1),
    ),
    Situation(
        id="S07",
        what="headers at once, the first token after 60 s",
        wants="doesn't wait for it",
        targets={"a/m": f"headers_only,silence_s=60,{_FAST},answer_tokens=80", "b/m": FINE},
        limits=HASTY,
        best=_backup_after(1, 1),
    ),
    Situation(
        id="S08",
        what="dies after 100 tokens of an answer",
        wants="the whole answer, or a clear error; never a short one that passes for whole",
        targets={"a/m": f"cut,tokens=100,{_FAST}", "b/m": FINE},
        best=_rescued_or_told,
    ),
    Situation(
        id="S09",
        what="falls silent after 100 tokens",
        wants="notices, and ends",
        targets={"a/m": f"stall,tokens=100,{_FAST}", "b/m": FINE},
        limits=HASTY,
        best=_rescued_or_told,
    ),
    Situation(
        id="S10",
        what="one event is broken JSON",
        wants="recovers, or fails cleanly",
        targets={"a/m": _recorded(_garbled), "b/m": FINE},
        best=_by_backup,
    ),
    Situation(
        id="S11",
        what="no end mark, and the connection stays open",
        wants="ends by itself, with all of the answer",
        targets={"a/m": _recorded(_unmarked)},
        best=lambda outcome: outcome.good and outcome.count("a/m") == 1,
    ),
    Situation(
        id="S12",
        what="400: the context is too long",
        wants="asks once; the caller sees why",
        targets={"a/m": _recorded(_refused(400, "context_length_exceeded", "too long")), "b/m": FINE},
        best=_only_asked_once("context_length_exceeded"),
    ),
    Situation(
        id="S13",
        what="400: the content is refused",
        wants="asks once; the caller sees why",
        targets={"a/m": _recorded(_refused(400, "content_policy_violation", "not this")), "b/m": FINE},
        best=_only_asked_once("content_policy_violation"),
    ),
    Situation(
        id="S14",
        what="dies after 100 tokens, and the backup takes no half answer to go on with",
        wants="begins anew, or says clearly that it broke; the backup's 400 is never seen",
        targets={"a/m": f"cut,tokens=100,{_FAST}", "b/m": FINE},
        best=_rescued_or_told,
    ),
    Situation(
        id="S16",
        what="503 for ever; who is to be billed?",
        wants="the caller sees the backup's model and what it counted",
        targets={"a/m": "http_error,status=503", "b/n": FINE},
        best=lambda outcome: outcome.good and outcome.came.done.get("target") == "b/n" and outcome.came.model == "n",
    ),
    Situation(
        id="A1",
        what="200 with a gateway's error text as the answer",
        wants="the text is never shown",
        targets={"a/m": f"gateway_text,{_FAST}", "b/m": FINE},
        lies=True,
        best=_backup_after(1, 1),
    ),
    Situation(
        id="A2",
        what="200 with an error in place of the answer",
        wants="the backup's answer",
        targets={"a/m": f"error_first,{_FAST}", "b/m": FINE},
        best=_backup_after(1, 1),
    ),
    Situation(
        id="A3",
        what="an empty answer with a good end",
        wants="the backup's answer",
        targets={"a/m": f"empty,{_FAST}", "b/m": FINE},
        lies=True,
        best=_backup_after(1, 1),
    ),
    Situation(
        id="A4",
        what="an empty body",
        wants="the backup's answer",
        targets={"a/m": f"empty_unended,{_FAST}", "b/m": FINE},
        lies=True,
        best=_backup_after(1, 1),
    ),
    Situation(
        id="A5",
        what="a prompt of 40,000 characters of which 2,000 were read",
        wants="no answer to half a question passes for one",
        targets={"a/m": f"truncated_prompt,keep_tokens=300,{_FAST},answer_tokens=80", "b/m": FINE},
        lies=True,
        prompt_chars=40_000,
        best=lambda outcome: _by_backup(outcome) or (outcome.clear and not outcome.whole),
    ),
    Situation(
        id="A6",
        what="the first byte is late twice, then quick; no backup",
        wants="the third try's answer",
        targets={"a/m": _recorded(_silent, _silent, _good)},
        limits=HASTY,
        best=lambda outcome: outcome.good and outcome.count("a/m") == 3,
    ),
    Situation(
        id="A7",
        what="slow only for prompts of more than 8,000 tokens",
        wants="a long question goes to the backup, a short one doesn't",
        targets={"a/m": f"never_answers,silence_s=120,{_FAST},answer_tokens=80", "b/m": FINE},
        prompt_chars=40_000,
        limits=HASTY,
        best=_backup_after(1, 1),
    ),
    Situation(
        id="A8",
        what="keep-alives, and never a word",
        wants="one try, then the backup",
        targets={"a/m": "comments_only,every_s=1", "b/m": FINE},
        limits=HASTY,
        best=_backup_after(1, 1),
    ),
    Situation(
        id="A9",
        what="0.8 tokens a second after a quick first one",
        wants="what flows is never cut",
        targets={"a/m": "healthy,first_byte_s=0.4,spread=0,tokens_per_s=0.8,answer_tokens=8"},
        best=lambda outcome: outcome.whole and outcome.count("a/m") == 1,
    ),
    Situation(
        id="A12",
        what="the backup is dead too",
        wants="a clear error, at once",
        targets={"a/m": "http_error,status=503", "b/m": "refused"},
        best=lambda outcome: outcome.clear and outcome.count("a/m") <= 2,
    ),
    Situation(
        id="A13",
        what="402: the account is empty",
        wants="the backup, and not a second try",
        targets={"a/m": "http_error,status=402", "b/m": FINE},
        best=_backup_after(1, 1),
    ),
]
