"""What is at hand has room for so many bytes."""

from breaker.cache import Cache


def test_what_was_kept_last_holds() -> None:
    cache = Cache[str, str](most_bytes=10)
    cache.keep("a", "first", 5)
    cache.keep("a", "second", 6)

    assert cache.get("a", "") == "second"
    assert cache.get("b", "none") == "none"
    assert (len(cache), cache.bytes) == (1, 6)


def test_the_newest_have_room() -> None:
    cache = Cache[str, bool](most_bytes=10)
    for name in ("a", "b", "c", "a", "d", "e"):
        cache.keep(name, True, 2)
    cache.keep("f", True, 3)
    at_hand = [name for name in "abcdef" if cache.get(name, False)]

    assert at_hand == ["a", "d", "e", "f"]
    assert cache.bytes == 9


def test_to_be_asked_for_keeps_nothing_longer() -> None:
    cache = Cache[str, bool](most_bytes=2)
    cache.keep("a", True, 1)
    cache.keep("b", True, 1)
    cache.get("a", False)
    cache.keep("c", True, 1)

    assert [cache.get(name, False) for name in "abc"] == [False, True, True]


def test_what_has_no_room_at_all_takes_none_from_others() -> None:
    cache = Cache[str, bool](most_bytes=10)
    cache.keep("a", True, 10)
    cache.keep("b", True, 11)

    assert [cache.get(name, False) for name in "ab"] == [True, False]
    assert cache.bytes == 10


def test_what_has_no_room_at_all_is_not_kept() -> None:
    cache = Cache[str, bool](most_bytes=10)
    cache.keep("a", True, 11)
    cache.keep("b", True, 10)

    assert [cache.get(name, False) for name in "ab"] == [False, True]
    cache.keep("b", True, 11)
    assert (len(cache), cache.bytes) == (0, 0)
