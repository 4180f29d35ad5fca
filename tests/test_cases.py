import json
from pathlib import Path
from typing import Any

import pytest

from breaker.exchange import Exchange, Played, play
from breaker.verdict import Verdict
from tests.cases import make

FILES = sorted(make.HERE.glob("*.jsonl"))
CASES: list[dict[str, Any]] = [json.loads(line) for file in FILES for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_an_exchange_is_judged_as_it_must_be(case: dict[str, Any]) -> None:
    expect, played = case["expect"], play(Exchange.read(case))

    why = f"{case['rule']}; said: {played.judgement.why}"
    assert _verdict(case, played) in [expect["verdict"], *expect.get("accept", ())], why
    assert played.judgement.blame in [expect["class"], *expect.get("accept_class", ())], why
    assert _first_byte_ms(played) == expect["ttft_ms"]
    assert (played.finish_word or None) == expect["finish_reason"]
    assert played.judgement.cause == expect.get("cause", played.judgement.cause), why


def _verdict(case: dict[str, Any], played: Played) -> str:
    verdict = played.judgement.verdict
    return f"{verdict}:{case['status']}" if verdict is Verdict.HTTP_ERROR else verdict


def _first_byte_ms(played: Played) -> int | None:
    return None if played.first_byte_s is None else round(played.first_byte_s * 1000)


@pytest.mark.parametrize("name", make.FILES)
def test_the_files_are_what_the_script_makes(name: str) -> None:
    written = (make.HERE / f"{name}.jsonl").read_text(encoding="utf-8")

    assert written == "".join(make.lines(name))


def test_each_exchange_has_a_name_of_its_own_and_a_rule() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 120
    assert all(case["rule"] for case in CASES)
    assert {Path(file).stem for file in FILES} == set(make.FILES)
