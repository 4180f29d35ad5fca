"""What a person should know first."""

from dataclasses import replace

import pytest

from breaker.api.headline import Mood, headline, of_decision
from breaker.circuit import Cause
from breaker.log import Log
from breaker.route import Role, Route
from tests.api.scenes import circuit, entry, held, knows, scene
from tests.api.world import BACKUP, OTHER, PRIMARY


def said(**circuits: object) -> tuple[Mood, str, tuple[str, ...]]:
    view = scene(**circuits)  # type: ignore[arg-type] # circuits by the target's short name
    told = headline(view.decisions, view.standings, view.now, known=view.known)
    return told.mood, told.text, told.more


BACK = "The first good probe brings it back."
NO_CREDIT = f"is out of credit or quota. Somebody has to act: top up the account of zai, or raise its limit. {BACK}"
NO_KEY = "refuses the key. Somebody has to act: look at the key in {variable} (api_key_env of {provider}). " + BACK
NO_MODEL = (
    "doesn't know the model. "
    f"Somebody has to act: look at the name of the model (glm-5.3-flash) and at base_url of zai. {BACK}"
)
QUOTA = circuit(cause=Cause.QUOTA, moved_s=212, left_s=388)
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
            "coder is on its backup: zai/glm-5.3-flash is held open by Anna for about 48 min more; "
            "by itself it would take requests.",
            (),
            id="held open",
        ),
        pytest.param(
            {"primary": replace(OPEN, held=held(opened=True, left_s=2900).held)},
            Mood.BACKUP,
            "coder is on its backup: zai/glm-5.3-flash is held open by Anna for about 48 min more.",
            (),
            id="held open, and it would be so anyway",
        ),
        pytest.param(
            {"primary": OPEN, "backup": HALF_OPEN},
            Mood.LAST_RESORT,
            "coder has no working target and goes to openrouter/z-ai/glm-5.3-flash as a last resort.",
            ("The next chance comes in about 5 s.",),
            id="last resort",
        ),
        pytest.param(
            {"primary": OPEN, "other": OPEN},
            Mood.LAST_RESORT,
            "reviewer has no working target and goes to own/small as a last resort.",
            (
                "The next chance comes in about 6 min.",
                "coder is on its backup: zai/glm-5.3-flash is slow; it may be back in about 6 min.",
            ),
            id="the worse first",
        ),
        pytest.param(
            {"primary": QUOTA, "backup": replace(QUOTA, cause=Cause.AUTH)},
            Mood.LAST_RESORT,
            "coder has no working target and goes to zai/glm-5.3-flash as a last resort.",
            (
                "The next chance comes in about 6 min.",
                f"zai/glm-5.3-flash {NO_CREDIT}",
                f"openrouter/z-ai/glm-5.3-flash {NO_KEY.format(variable='OR_API_KEY', provider='openrouter')}",
            ),
            id="what somebody has to do",
        ),
        pytest.param(
            {"primary": held(opened=False, left_s=600)},
            Mood.WELL,
            "All routes are on their primaries; one target is kept in use by hand.",
            ("zai/glm-5.3-flash is held closed by Anna for about 10 min more.",),
            id="held closed, and it would be so anyway",
        ),
        pytest.param(
            {"primary": replace(OPEN, held=held(opened=False, left_s=600).held)},
            Mood.WELL,
            "All routes are on their primaries; one target is kept in use by hand.",
            ("zai/glm-5.3-flash is held closed by Anna for about 10 min more; by itself it would be out, slow.",),
            id="held closed over an open circuit",
        ),
        pytest.param(
            {"primary": held(opened=False, left_s=60), "other": held(opened=False, left_s=60)},
            Mood.WELL,
            "All routes are on their primaries; 2 targets are kept in use by hand.",
            (
                "zai/glm-5.3-flash is held closed by Anna for about 60 s more.",
                "own/small is held closed by Anna for about 60 s more.",
            ),
            id="two held closed",
        ),
        pytest.param(
            {"primary": OPEN, "backup": held(opened=False, left_s=600)},
            Mood.BACKUP,
            "coder is on its backup: zai/glm-5.3-flash is slow; it may be back in about 6 min.",
            ("openrouter/z-ai/glm-5.3-flash is held closed by Anna for about 10 min more.",),
            id="a backup that is held closed",
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


PART_GONE = "A part of the store hasn't answered for 12 s: of own/small this is what was last known."
ON_BACKUP = "coder is on its backup: zai/glm-5.3-flash is slow; it may be back in about 6 min."
LOST = "reviewer has no working target and goes to own/small as a last resort."


@pytest.mark.parametrize(
    ("circuits", "mood", "text", "more"),
    [
        pytest.param({}, Mood.UNKNOWN, PART_GONE, ("All is well: 2 routes on their primaries.",), id="else all well"),
        pytest.param({"primary": OPEN}, Mood.BACKUP, ON_BACKUP, (PART_GONE,), id="another part says worse"),
        pytest.param(
            {"other": OPEN}, Mood.UNKNOWN, PART_GONE, (LOST, "The next chance comes in about 6 min."), id="old bad news"
        ),
        pytest.param(
            {"primary": OPEN, "other": OPEN},
            Mood.BACKUP,
            ON_BACKUP,
            (PART_GONE, LOST, "The next chance comes in about 6 min."),
            id="new bad news before the old",
        ),
    ],
)
def test_a_part_of_the_store_that_is_gone_makes_no_other_part_old(
    circuits: dict[str, object], mood: Mood, text: str, more: tuple[str, ...]
) -> None:
    assert said(**circuits, gone={"other": 12.3}) == (mood, text, more)


def test_where_most_is_in_a_part_that_was_never_there_the_headline_counts_it() -> None:
    told = said(gone={"primary": 3.0, "other": None})

    assert told[1] == "A part of the store hasn't answered yet: of 2 of 3 targets this is what was last known."


def test_a_part_that_is_gone_is_said_beside_a_network_that_is_down() -> None:
    mood, _, more = said(gone={"other": 12.3}, self_suspect_s=40.0)

    assert (mood, more[0]) == (Mood.SELF_SUSPECT, PART_GONE)


def test_before_the_first_read_nothing_is_known() -> None:
    assert said(age_s=None) == (Mood.UNKNOWN, "The store hasn't answered yet: nothing is known.", ())


def test_when_our_own_network_is_down_that_is_the_headline_whatever_circuits_say() -> None:
    mood, text, more = said(primary=OPEN, self_suspect_s=40.0)

    assert (mood, text) == (
        Mood.SELF_SUSPECT,
        "Our own network seems to be down: nothing moves until it is back.",
    )
    assert more == (
        "It has been so for about 40 s; what was last known before:",
        "coder is on its backup: zai/glm-5.3-flash is slow; it may be back in about 6 min.",
    )


def test_a_store_that_is_gone_is_said_before_a_network_that_may_be_back_since() -> None:
    assert said(self_suspect_s=40.0, age_s=12.3)[0] is Mood.UNKNOWN


def test_a_route_on_a_further_backup_says_what_somebody_has_to_do_for_those_between() -> None:
    three = Route(name="coder", targets=(PRIMARY, BACKUP, OTHER))
    view = scene(primary=QUOTA, backup=replace(QUOTA, cause=Cause.AUTH), routes=(three,))

    told = headline(view.decisions, view.standings, view.now, known=view.known)

    assert told.text == f"coder is on a further backup: zai/glm-5.3-flash {NO_CREDIT}"
    assert told.more == (
        f"openrouter/z-ai/glm-5.3-flash {NO_KEY.format(variable='OR_API_KEY', provider='openrouter')}",
    )


CROWD = Route(name="coder", targets=(PRIMARY, BACKUP, OTHER), max_open_share=0.34)


def test_a_target_that_is_used_although_it_is_out_is_no_target_in_order() -> None:
    view = scene(primary=OPEN, backup=QUOTA, routes=(CROWD,))
    (decision,) = view.decisions

    told = headline(view.decisions, view.standings, view.now, known=view.known)

    assert (decision.role, decision.target) == (Role.LAST_RESORT, PRIMARY)
    assert told.text == "coder has too many targets out and goes to zai/glm-5.3-flash, although that is out too."
    assert of_decision(decision, view.by_name, view.now) == (
        "Too many of this route's targets are out, so zai/glm-5.3-flash is used although it is out. "
        "The next chance comes in about 6 min."
    )


@pytest.mark.parametrize(
    ("cause", "left_s", "text"),
    [
        (Cause.SLOW, 388, "is slow; it may be back in about 6 min."),
        (Cause.SLOW, -5, "was slow and is being tested before it comes back."),
        (Cause.ERRORS, 388, "fails; it may be back in about 6 min."),
        (Cause.ERROR_RATE, 388, "fails too often; it may be back in about 6 min."),
        (Cause.ERROR_RATE, -5, "failed too often and is being tested before it comes back."),
        (Cause.SLUMP, 388, "is far slower than usual (first byte 12 s, usually 3.0 s); it may be back in about 6 min."),
        (
            Cause.SLUMP,
            -5,
            "was far slower than usual (first byte 12 s, usually 3.0 s) and is being tested before it comes back.",
        ),
        (Cause.RATE_LIMITED, 40, "says that too much was asked of it; it may be asked again in about 40 s."),
        (Cause.RATE_LIMITED, -5, "was asked too much and is being tested before it comes back."),
        (Cause.QUOTA, -5, NO_CREDIT),
        (Cause.AUTH, 388, NO_KEY.format(variable="ZAI_API_KEY", provider="zai")),
        (Cause.NOT_FOUND, 388, NO_MODEL),
        (Cause.RESTORED, 388, "fails; it may be back in about 6 min."),
    ],
)
def test_each_cause_is_said_in_words_of_its_own(cause: Cause, left_s: float, text: str) -> None:
    log = knows(Log(probes=(entry(PRIMARY, 12, first_byte_s=12.0),)), usual_s=3.0)

    view = scene(primary=circuit(cause=cause, moved_s=700, left_s=left_s), logs={"primary": log})

    (decision, _) = view.decisions
    assert of_decision(decision, view.by_name, view.now) == f"zai/glm-5.3-flash {text}"


def test_a_slump_of_a_target_of_which_little_is_known_is_said_without_numbers() -> None:
    view = scene(primary=circuit(cause=Cause.SLUMP, moved_s=212, left_s=388))

    told = of_decision(view.decisions[0], view.by_name, view.now)

    assert told == "zai/glm-5.3-flash is far slower than usual; it may be back in about 6 min."


def test_a_provider_that_wants_a_key_which_nobody_named_says_so() -> None:
    more = said(other=circuit(cause=Cause.AUTH, moved_s=9, left_s=60))[2]

    assert (
        "own/small refuses the key. Somebody has to act: name the variable with the key of own in the configuration "
        "(api_key_env). The first good probe brings it back."
    ) in more
