"""One attempt at a target: its bytes are read as they come, and held back until they are an answer."""

from collections.abc import Iterable, Mapping

from breaker.answer import Answer, Ended, Source
from breaker.attempt.asked import Asked
from breaker.attempt.crowd import says_crowded
from breaker.attempt.limits import Limits
from breaker.attempt.loops import Loops
from breaker.attempt.place import Place
from breaker.attempt.words import End, Stand, Turn, failed
from breaker.verdict import Verdict, judge, sounds_foreign
from breaker.wire.inflate import BrokenEncodingError, Inflater, readable
from breaker.wire.reading import Reading

# A body that is to be judged as a whole is held up to this size.
MAX_HELD = 64 * 1024 * 1024
# How long the body that explains an error is waited for, or silence_s if that is less.
ERROR_BODY_S = 10.0

_NEVER = float("inf")


class Attempt:
    """The bytes of one attempt come in, and go out once they are an answer; the facts of it are left at its end.

    `began` and all `now` are seconds on one monotonic clock. `leaves` says that another attempt is left, so that a late
    first byte is given up; `doubts` that it is taken for bad, too, where its text may be a gateway's or a model's that
    quotes one. `stands_in` says that the question was another target's: what this one refuses of it, such as thoughts
    that the other has signed, or a length that is too much for it alone, is no fault of the caller's. `more` are values
    in the request besides the model.
    `looped` says that it was broken off since it had no end.
    """

    looped = False
    _unreadable = False
    _doubted = False

    def __init__(
        self,
        asked: Asked,
        place: Place,
        limits: Limits,
        *,
        id: str,  # noqa: A002 # a fact's name
        began: float,
        leaves: bool,
        doubts: bool = False,
        stands_in: bool = False,
        more: Mapping[str, object] | None = None,
    ) -> None:
        self.place = place
        self.began = began
        self.more = dict(more or {})
        self.stand = Stand.HELD
        self._held: list[bytes] = []
        self._doubts = doubts
        self._stands_in = stands_in
        self._end: End | None = None
        self._asked = asked
        self._limits = limits
        self._leaves = leaves
        self._id = id
        self._reading = Reading(
            asked.wire,
            streamed=asked.streamed,
            prompt_bytes=asked.prompt_bytes,
            max_tokens=asked.max_tokens,
            tools=asked.tools,
        )
        self._loops = Loops(limits.loop_chars)
        self._inflater: Inflater | None = None
        self._status: int | None = None
        self._opaque = False
        self._size = 0
        self._sign = began
        self._away_s = 0.0
        self._ending_since: float | None = None

    # What comes

    def begin(self, now: float) -> None:
        """It is sent now: until then it has waited for its turn."""
        self.began = self._sign = now

    def headers(self, status: int, headers: Mapping[str, str], now: float) -> None:
        """The response has begun; `headers` has names in any case."""
        encoding = {name.lower(): value for name, value in headers.items()}.get("content-encoding", "").strip().lower()
        self._status = status
        self._sign = now
        self._reading.headers(status, headers, now - self.began)
        if not readable(encoding):
            self._opaque = True
            self._reading.packed()
            self.stand = Stand.HELD if self._refused else Stand.GOOD
        elif encoding not in ("", "identity"):
            self._inflater = Inflater(encoding)

    def feed(self, data: bytes, now: float) -> None:
        """More of the body has come; what comes after the end is nothing."""
        if self._end is not None:
            return
        self._size += len(data)
        self._held.append(data)
        if self._opaque:
            self._heard(now)
            if self._refused and self._ending_since is None:
                self._ending_since = now
        elif self._inflater is None:
            self._read((data,), now)
        else:
            self._undo(self._inflater.feed(data), now)

    def passes(self, data: bytes, now: float) -> bool:
        """Read more of an answer that is shown and hand it on at once, as nearly all may be: gives whether it may.

        Where it may not, nothing is done, and it is to be fed.
        """
        if self.stand is not Stand.GOOD or self._held or self._end or self._inflater:
            return False
        if self._size >= self._loops.look_at:
            return False
        if not self._reading.goes_on(data, now - self.began):
            return False
        self._size += len(data)
        self._sign, self._away_s, self._ending_since = now, 0.0, None
        return True

    def take(self) -> list[bytes]:
        """What may be shown now. What comes with an answer's end is held back until it is known what the answer was."""
        if self.stand is not Stand.GOOD or (self._ending_since is not None and self._end is None):
            return []
        return self.rest()

    def rest(self) -> list[bytes]:
        """All that is held back, whatever it is."""
        held, self._held = self._held, []
        return held

    def away(self, seconds: float) -> None:
        """Whoever reads the answer was busy elsewhere for so long: that was no silence of the provider."""
        self._away_s += seconds

    def end(self, ended: Ended, now: float) -> None:
        """Nothing more comes: it ended so, or it is given up. The first end counts."""
        if self._end is not None:
            return
        answer = self._reading.end(ended, now - self.began, target=self.place.target, id=self._id, source=Source.REPORT)
        self._end = End(answer, judge(answer))
        self._doubted = self._doubts and self._is_doubtful(self._end)
        bad = self.refused_ours or failed(self._end.judgement) or self._doubted
        self.stand = Stand.BAD if bad else Stand.GOOD

    @property
    def is_over(self) -> bool:
        """Whether it has come to its end."""
        return self._end is not None

    @property
    def ended(self) -> End:
        """The facts and what they mean, once it is over."""
        assert self._end is not None
        return self._end

    # The limits on silence

    @property
    def is_ending(self) -> bool:
        """Whether its end has come, so that only little more is waited for."""
        return self._ending_since is not None

    @property
    def until(self) -> float:
        """The moment at which silence has lasted too long, on the monotonic clock."""
        if self._ending_since is not None:
            return self._ending_since + min(self._ending_s, self._limits.silence_s)
        silent = self._sign + self._away_s + self._limits.silence_s
        if self._leaves and self._waits:
            return min(silent, self.began + self._limits.first_byte_s)
        return silent

    @property
    def late_at(self) -> float:
        """The moment at which a first byte counts as late and is awaited still; infinite once it has come."""
        return self.began + self._limits.first_byte_s if self._waits and not self._leaves else _NEVER

    def late(self, now: float) -> Answer:
        """The part that says "nothing yet"."""
        return self._reading.late(now - self.began, target=self.place.target, id=self._id, source=Source.REPORT)

    def overdue(self, now: float) -> None:
        """Nothing came in time: that is the end of an answer that was finished, and silence in any other."""
        self.end(Ended.COMPLETE if self._reading.finished else Ended.SILENCE, now)

    @property
    def verdict(self) -> Verdict:
        """What it was to its caller, once it is over; its facts may say less of what was broken off."""
        if self.looped:
            return Verdict.LOOP
        if self._doubted:
            return Verdict.GATEWAY_TEXT
        return Verdict.MALFORMED if self._unreadable else self.ended.judgement.verdict

    @property
    def refused_ours(self) -> bool:
        """Whether it was refused, once it is over, for what its caller may not be blamed for."""
        verdict = self.ended.judgement.verdict
        if verdict is Verdict.BAD_REQUEST:
            return self._stands_in or bool(self.more)
        return verdict is Verdict.CONTEXT_TOO_LONG and self._stands_in

    @property
    def crowded(self) -> bool:
        """Whether it was refused as one too many at once."""
        return self._refused and self.stand is Stand.BAD and says_crowded(b"".join(self._held))

    def turn(self, run: str) -> Turn:
        """What a run needs to know of it besides its facts."""
        from breaker.run import claims, digests  # here, since few steps are of a run

        return Turn(digests.calls(run, self._reading.calls), claims.says(self._reading.last_words))

    @property
    def shown_chars(self) -> int:
        """How many characters of it the model has made so far."""
        return self._reading.made_chars

    # Inside

    @property
    def _waits(self) -> bool:
        """Whether a first byte is still awaited; a plain answer has none."""
        watched = self._asked.streamed and not self._refused and not self._opaque
        return watched and self._reading.first_byte_s is None

    @property
    def _refused(self) -> bool:
        return self._status is not None and not 200 <= self._status < 300

    @property
    def _ending_s(self) -> float:
        return ERROR_BODY_S if self._refused else self._limits.grace_s

    def _undo(self, pieces: Iterable[bytes], now: float) -> None:
        try:
            self._read(pieces, now)
        except BrokenEncodingError:
            self.end(Ended.RESET, now)

    def _read(self, pieces: Iterable[bytes], now: float) -> None:
        at_s, reading = now - self.began, self._reading
        for piece in pieces:
            reading.feed(piece, at_s)
            if not self._asked.streamed and piece.strip():
                self._heard(now)
        if reading.last_token_s == at_s:
            self._heard(now)
        if reading.unreadable:
            self._break_off(Ended.CANCELLED, now)
            self._unreadable = True
            return
        if not (reading.finished or self._refused):
            self._ending_since = None
        elif self._ending_since is None:
            self._ending_since = now
        if self.stand is Stand.HELD:
            self._look(now)
        if self._size >= self._loops.look_at:
            self._guard(now)

    def _is_doubtful(self, end: End) -> bool:
        """Whether all of an unseen answer is what gateways write, though nothing else speaks for one."""
        believed = end.judgement.verdict in (Verdict.OK, Verdict.GATEWAY_TEXT)
        return self.stand is Stand.HELD and believed and sounds_foreign(end.answer)

    def _heard(self, now: float) -> None:
        self._sign, self._away_s = now, 0.0

    def _look(self, now: float) -> None:
        """Show what was held back once there is enough of it, and nothing speaks against it."""
        if not self._asked.streamed or self._refused:
            enough = self._size > MAX_HELD
        else:
            enough = not self._reading.faulty and self._is_enough(now)
        if enough:
            self.stand = Stand.GOOD

    def _is_enough(self, now: float) -> bool:
        first_s = self._reading.first_byte_s
        if first_s is None:
            return False
        chars, limits = self._reading.made_chars, self._limits
        long_held = now - self.began - first_s >= limits.hold_s
        much = chars >= limits.hold_chars or self._reading.media > 0 or long_held
        return much and not self._reading.sounds_foreign

    def _guard(self, now: float) -> None:
        """Break off what repeats itself, or goes on for too long."""
        found = self._loops.found(self._size, self._reading)
        if found is not None:
            # To its provider an answer that is only too long is no failure.
            self._break_off(Ended.RESET if found.repeats else Ended.CANCELLED, now)
            self.looped = True

    def _break_off(self, ended: Ended, now: float) -> None:
        """It is no answer to its caller, whatever its facts are."""
        self.end(ended, now)
        self.stand = Stand.BAD
