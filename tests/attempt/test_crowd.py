from breaker.attempt.crowd import GROW_AFTER, Crowd, says_crowded


def filled(crowd: Crowd, count: int) -> None:
    for _ in range(count):
        crowd.enter()


def test_there_is_room_as_long_as_nothing_is_known() -> None:
    crowd = Crowd()
    filled(crowd, 1000)

    assert crowd.has_room


def test_a_refusal_of_one_too_many_sets_the_limit_below_what_was_under_way() -> None:
    crowd = Crowd()
    filled(crowd, 5)
    crowd.leave(refused=True)

    assert (crowd.limit, crowd.inside, crowd.has_room) == (4, 4, False)


def test_those_refused_together_do_not_push_the_limit_below_the_rest() -> None:
    crowd = Crowd()
    filled(crowd, 3)
    crowd.leave(refused=True)
    crowd.leave(refused=True)

    assert crowd.limit == 1
    assert not crowd.has_room


def test_one_is_always_let_in() -> None:
    crowd = Crowd()
    crowd.enter()
    crowd.leave(refused=True)

    assert crowd.limit == 1
    assert crowd.has_room


def test_a_full_house_that_goes_well_lets_one_more_in() -> None:
    crowd = Crowd()
    filled(crowd, 3)
    crowd.leave(refused=True)
    for _ in range(GROW_AFTER):
        crowd.leave(refused=False)
        crowd.enter()

    assert crowd.limit == 3


def test_a_house_with_room_left_shows_nothing() -> None:
    crowd = Crowd()
    filled(crowd, 3)
    crowd.leave(refused=True)
    crowd.leave(refused=False)
    for _ in range(2 * GROW_AFTER):
        crowd.leave(refused=False)
        crowd.enter()

    assert crowd.limit == 2


def test_where_no_limit_is_known_a_good_answer_sets_none() -> None:
    crowd = Crowd()
    crowd.enter()
    crowd.leave(refused=False)

    assert (crowd.limit, crowd.inside) == (None, 0)


def test_too_many_at_once_is_told_from_too_many_a_minute() -> None:
    assert says_crowded(b'{"error": {"message": "Too many Concurrent requests"}}')
    assert not says_crowded(b'{"error": {"message": "Too many requests per minute"}}')
