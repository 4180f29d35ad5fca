import pytest

from monitor.guard.address import Address, read_address


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/v1/chat/completions", Address(None, "/chat/completions")),
        ("/coder/v1/messages?beta=true", Address("coder", "/messages?beta=true")),
        ("/my%20route/v1/responses", Address("my route", "/responses")),
        ("/v1beta/models/x:generateContent", Address(None, "/models/x:generateContent")),
        ("/chat/completions", Address(None, "/chat/completions")),
        ("/", Address(None, "/")),
    ],
)
def test_a_path_tells_the_route_and_what_is_asked(path: str, address: Address) -> None:
    assert read_address(path) == address
