"""What the page says in plain words."""

import pytest

from breaker.api import words
from breaker.api.words import Mood
from breaker.circuit import Cause, Move, State
from tests.api.scenes import NOW, circuit, held, scene


def said(**circuits: object) -> tuple[Mood, str, tuple[str, ...]]:
    view = scene(**circuits)  # type: ignore[arg-type] # circuits by the target's short name
    told = words.headline(view.decisions, view.standings, view.now, age_s=view.age_s, stale=view.stale)
    return told.mood, told.text, told.more


OPEN = circuit(cause=Cause.SLOW, moved_s=212, left_s=388)
HALF_OPEN = circuit(cause=Cause.ERRORS, moved_s=620, left_s=-20)


@pytest.mark.parametrize(
    ("circuits", "mood", "text", "more"),
    [
        pytest.param({}, Mood.WELL, "All is well: 2 routes on their primaries.", (), id="well"),
        pytest.param(
            {"backup": OPEN},
            Mood.WELL,
            "All routes are on their primaries; one backup is out.",
            ("openrouter/z-ai/glm-5.3-flash is slow; it may be back in about 6 min.",),
            id="a backup is out",
        ),
        pytest.param(
            {"primary": OPEN},
            Mood.BACKUP,
            "coder is on its backup: zai/glm-5.3-flash is slow; it may be back in about 6 min.",
            (),
            id="on the backup",
        ),
        pytest.param(
            {"primary": HALF_OPEN},
            Mood.BACKUP,
            "coder is on its backup: zai/glm-5.3-flash failed and is being tested before it comes back.",
            (),
            id="half-open",
        ),
        pytest.param(
            {"primary": held(opened=True, left_s=2900)},
            Mood.BACKUP,
            "coder is on its backup: zai/glm-5.3-flash is held open by Anna for about 48 min more.",
            (),
            id="held open",
        ),
        pytest.param(
            {"primary": OPEN, "backup": HALF_OPEN},
            Mood.LAST_RESORT,
            "coder has no target in order and goes to openrouter/z-ai/glm-5.3-flash as a last resort.",
            ("The next chance comes in about 5 s.",),
            id="last resort",
        ),
        pytest.param(
            {"primary": OPEN, "other": OPEN},
            Mood.LAST_RESORT,
            "reviewer has no target in order and goes to own/small as a last resort.",
            (
                "The next chance comes in about 6 min.",
                "coder is on its backup: zai/glm-5.3-flash is slow; it may be back in about 6 min.",
            ),
            id="the worse first",
        ),
    ],
)
def test_the_headline_says_what_matters_most(
    circuits: dict[str, object], mood: Mood, text: str, more: tuple[str, ...]
) -> None:
    assert said(**circuits) == (mood, text, more)


@pytest.mark.parametrize(
    ("heard_s", "text"),
    [
        pytest.param({"primary": None}, "No answer of zai/glm-5.3-flash has come in yet.", id="one never"),
        pytest.param({"primary": None, "other": None}, "No answer has come in yet.", id="never"),
        pytest.param({"primary": 600.0}, "Nothing new has been heard of zai/glm-5.3-flash for 10 min.", id="old"),
        pytest.param(
            {"primary": 600.0, "other": 400.0}, "Nothing new has been heard of 2 primaries for 10 min.", id="both old"
        ),
    ],
)
def test_what_is_old_is_never_called_well(heard_s: dict[str, float | None], text: str) -> None:
    mood, headline, more = said(heard_s=heard_s)

    assert (mood, headline) == (Mood.UNKNOWN, text)
    assert more == ("Until more is known: 2 routes on their primaries.",)


def test_a_backup_that_is_silent_spoils_nothing() -> None:
    assert said(heard_s={"backup": None})[0] is Mood.WELL


def test_a_store_that_is_gone_is_said_before_what_was_last_known() -> None:
    mood, text, more = said(primary=OPEN, age_s=12.3)

    assert (mood, text) == (Mood.UNKNOWN, "The store hasn't answered for 12 s: this is what was last known.")
    assert more == ("coder is on its backup: zai/glm-5.3-flash is slow; it may be back in about 6 min.",)


def test_before_the_first_read_nothing_is_known() -> None:
    assert said(age_s=None) == (Mood.UNKNOWN, "The store hasn't answered yet: nothing is known.", ())


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.0 s"),
        (0, "0.0 s"),
        (0.04, "0.04 s"),
        (0.0951, "0.1 s"),
        (4.23, "4.2 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (388, "6 min 28 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (86_399, "23 h 59 min"),
        (86_400, "1 d"),
        (270_000, "3 d 3 h"),
    ],
)
def test_a_time_span_is_said_to_the_second(seconds: float, text: str) -> None:
    assert words.lasting(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "a moment"),
        (5, "about 5 s"),
        (89, "about 89 s"),
        (388, "about 6 min"),
        (7300, "about 2 h"),
        (200_000, "about 2 days"),
    ],
)
def test_a_time_span_is_said_as_people_say_it(seconds: float, text: str) -> None:
    assert words.roughly(seconds) == text


@pytest.mark.parametrize(
    ("before", "after", "cause", "text"),
    [
        (State.CLOSED, State.OPEN, Cause.SLOW, "was taken out, slow"),
        (State.CLOSED, State.OPEN, Cause.ERRORS, "was taken out, failing"),
        (State.HALF_OPEN, State.OPEN, Cause.SLOW, "stays out, still slow"),
        (State.HALF_OPEN, State.OPEN, Cause.ERRORS, "stays out, still failing"),
        (State.CLOSED, State.HELD_OPEN, Cause.MANUAL, "was taken out by hand"),
        (State.OPEN, State.HELD_CLOSED, Cause.MANUAL, "was kept in use by hand"),
        (State.HELD_OPEN, State.CLOSED, Cause.MANUAL, "was released from a hold by hand"),
        (State.HALF_OPEN, State.CLOSED, Cause.RECOVERED, "is back, recovered"),
        (State.HALF_OPEN, State.CLOSED, Cause.UNVERIFIED, "is back, unverified"),
        (State.CLOSED, State.CLOSED, Cause.HOLD_OVER, "is no longer held by hand"),
        (State.OPEN, State.OPEN, Cause.CLOCK, "had its times set anew"),
        (State.CLOSED, State.OPEN, Cause.RESTORED, "was put back into the store"),
    ],
)
def test_a_move_is_told_in_plain_words(before: State, after: State, cause: Cause, text: str) -> None:
    assert words.move(Move(at=NOW, before=before, after=after, cause=cause, why="x", circuit=OPEN)) == text
