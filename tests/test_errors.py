from breaker.errors import DoorError, DoorRefusedError, FirstbyteError, UnknownNameError


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    error = UnknownNameError("route", "coder", ["chat", "review"])

    assert str(error) == "there is no route 'coder'; there are: chat, review"
    assert (error.kind, error.name, error.known) == ("route", "coder", ("chat", "review"))


def test_a_name_that_is_needed_and_was_not_given_is_asked_for() -> None:
    assert str(UnknownNameError("route", None, ["chat", "review"])) == "name a route; there are: chat, review"


def test_an_unknown_name_is_told_where_there_are_none() -> None:
    assert str(UnknownNameError("target", "a/b", [])) == "there is no target 'a/b'; there are: none"


def test_a_refusal_carries_its_status() -> None:
    error = DoorRefusedError(403, "a token is wanted")

    assert (error.status, str(error)) == (403, "a token is wanted")
    assert isinstance(error, DoorError)
    assert isinstance(error, FirstbyteError)
