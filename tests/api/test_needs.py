"""GET /route?needs=…&input_tokens=…: a target that can't take the step is not offered."""

import httpx
import pytest

from breaker.api.route.desk import Desk
from breaker.api.route.prepared import Prepared
from breaker.route import Route
from breaker.switchboard import Switchboard
from breaker.target import Ability, Target
from tests.api.world import BACKUP, EYES, MIXED, PRIMARY, ROUTES, TEXT, failed
from tests.reporting import report


@pytest.fixture
def routes() -> tuple[Route, ...]:
    return (*ROUTES, MIXED)


def lacking(target: str, lacks: list[str], most: int | None = None) -> dict[str, object]:
    return {"target": target, "lacks": lacks, "max_input_tokens": most}


BLIND = lacking("own/text", ["vision"])
BOTH = lacking("own/text", ["tools", "vision"])
LONG = lacking("own/text", [], 32_000)
DULL = lacking("own/text", ["tools"], 32_000)


@pytest.mark.parametrize(
    ("step", "target", "role", "reason", "able", "unable"),
    [
        pytest.param("", TEXT, "primary", "healthy", None, None, id="nothing"),
        pytest.param("&needs=&input_tokens=32000", TEXT, "primary", "healthy", None, None, id="what the primary takes"),
        pytest.param("&needs=vision", EYES, "backup", "unable", True, [BLIND], id="a need"),
        pytest.param("&needs= tools, ,vision,", EYES, "backup", "unable", True, [BOTH], id="two, written oddly"),
        pytest.param("&input_tokens=32001", EYES, "backup", "unable", True, [LONG], id="a long one"),
        pytest.param("&needs=tools&needs=vision", EYES, "backup", "unable", True, [BOTH], id="two, one each"),
        pytest.param("&needs=tools&input_tokens=32001", EYES, "backup", "unable", True, [DULL], id="both"),
        pytest.param(
            "&needs=audio,tools",
            EYES,
            "last_resort",
            "unable",
            False,
            [lacking("own/text", ["tools", "audio"]), lacking("zai/eyes", ["audio"])],
            id="what none can",
        ),
    ],
)
async def test_the_answer_says_who_cannot_take_the_step_and_why(
    door: httpx.AsyncClient, step: str, target: Target, role: str, reason: str, able: bool | None, unable: object
) -> None:
    answer = await door.get(f"/route?route=mixed{step}")

    said = answer.json()
    assert answer.status_code == 200
    assert (said["target"], said["role"], said["reason"], said.get("able")) == (target.name, role, reason, able)
    assert said.get("unable") == unable
    assert "retry_after_s" not in said


async def test_targets_of_which_nothing_is_declared_take_any_step(door: httpx.AsyncClient) -> None:
    plain = await door.get("/route?route=coder")
    needy = await door.get(f"/route?route=coder&needs={','.join(Ability)}&input_tokens=1000000000")

    assert needy.json() == plain.json()
    assert needy.headers["etag"] == plain.headers["etag"]


async def test_an_able_target_that_is_out_comes_before_those_that_cannot(
    door: httpx.AsyncClient, switchboard: Switchboard
) -> None:
    await switchboard.hold(EYES.name, opened=True, who="anna", why="test", for_s=60)

    said = (await door.get("/route?route=mixed&needs=vision")).json()

    assert (said["target"], said["role"], said["state"], said["able"]) == (EYES.name, "last_resort", "held-open", True)
    assert 0 < said["retry_after_s"] <= 60


async def test_a_step_that_none_can_take_has_a_tag_of_its_own_and_hears_of_moves(
    door: httpx.AsyncClient, switchboard: Switchboard
) -> None:
    tags = [
        (await door.get(f"/route?route=mixed{step}")).headers["etag"] for step in ("", "&needs=audio", "&needs=tools")
    ]
    same = await door.get("/route?route=mixed&needs=audio", headers={"If-None-Match": tags[1]})
    await switchboard.hold(EYES.name, opened=True, who="anna", why="test", for_s=60)
    other = await door.get("/route?route=mixed&needs=audio", headers={"If-None-Match": tags[1]})

    assert len(set(tags)) == 3
    assert (same.status_code, other.status_code) == (304, 200)


@pytest.mark.parametrize(
    ("query", "field", "wrong"),
    [
        pytest.param(
            "needs=tools,telepathy",
            "needs",
            "there is no need 'telepathy'; there are: tools, vision, audio, files, json_schema, reasoning",
            id="an unknown need",
        ),
        pytest.param("needs=Tools", "needs", "there is no need 'Tools'; there are: tools, ", id="capitals"),
        pytest.param("needs=" + "x" * 1000, "needs", f"there is no need '{'x' * 79}…'; there are: ", id="a long one"),
        pytest.param("needs=%00%1b", "needs", r"there is no need '\x00\x1b'; there are: ", id="unprintable"),
        pytest.param("input_tokens=", "input_tokens", "Input should be a valid integer", id="no number"),
        pytest.param("input_tokens=1.5", "input_tokens", "Input should be a valid integer", id="a broken number"),
        pytest.param("input_tokens=-1", "input_tokens", "Input should be greater than or equal to 0", id="below 0"),
        pytest.param("input_tokens=1000000001", "input_tokens", "Input should be less than or equal", id="too many"),
        pytest.param("session=", "session", "String should have at least 1 character", id="an empty session"),
        pytest.param("session=" + "s" * 129, "session", "String should have at most 128 characters", id="a long one"),
    ],
)
async def test_a_bad_value_is_named_with_what_would_be_good(
    door: httpx.AsyncClient, query: str, field: str, wrong: str
) -> None:
    answer = await door.get(f"/route?route=mixed&{query}")

    assert (answer.status_code, answer.json()["type"]) == (422, "urn:firstbyte:problem:bad-field")
    assert answer.headers["content-type"] == "application/problem+json"
    assert [each["field"] for each in answer.json()["fields"]] == [field]
    assert answer.json()["fields"][0]["wrong"].startswith(wrong)
    assert answer.json()["detail"].startswith(f"{field}: {wrong}")


async def test_few_answers_are_made_for_any_number_of_steps(switchboard: Switchboard) -> None:
    prepared = Prepared(switchboard)

    said = {
        id(prepared.answer(prepared.asked("mixed", needs, tokens)))
        for needs in ([], [Ability.TOOLS], [Ability.VISION, Ability.TOOLS], [Ability.AUDIO])
        for tokens in range(0, 100_000, 1_000)
    }

    assert len(said) == len(prepared._said) == 12


async def test_each_step_hears_at_once_of_a_move(switchboard: Switchboard) -> None:
    prepared = Desk.over(switchboard).prepared
    asked = [prepared.asked("mixed", needs) for needs in ([], [Ability.VISION], [Ability.AUDIO])]
    before = [prepared.answer(each) for each in asked]
    await switchboard.hold(TEXT.name, opened=True, who="anna", why="test", for_s=60)

    after = [prepared.answer(each).decision for each in asked]

    assert all(prepared.answer(each).etag != was.etag for each, was in zip(asked, before, strict=True))
    assert [each.reason for each in after] == ["manual", "unable", "unable"]


async def test_steps_of_other_routes_keep_their_answers(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    await report(door, [failed("a"), failed("b")])

    said = (await door.get("/route?route=coder&needs=tools&input_tokens=9")).json()

    assert (said["target"], said["reason"], said["primary"]) == (BACKUP.name, "errors", PRIMARY.name)
    assert "unable" not in said
