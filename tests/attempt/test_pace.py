from breaker.attempt.pace import KEPT, LEAST, Pace


def filled(count: int) -> Pace:
    pace = Pace()
    for number in range(count):
        pace.add(float(number))
    return pace


def test_too_few_say_nothing() -> None:
    assert filled(LEAST - 1).percentile(0.5) is None
    assert filled(LEAST).percentile(0.5) == 10.0


def test_only_the_newest_count() -> None:
    assert filled(KEPT + 50).percentile(0.95) == 145.0


def test_what_had_no_first_byte_is_none() -> None:
    pace = filled(LEAST - 1)
    pace.add(None)

    assert pace.percentile(0.5) is None
