"""What is said of a proxy that can't be used."""

import logging

import httpx
import pytest

from breaker.client import Firstbyte
from breaker.client.door import Door
from breaker.client.proxies import usable_proxies
from breaker.errors import DoorAddressError
from tests.client.serving import eventually

ELSEWHERE = "http://service.invalid"
SECRET = "sesame"  # of nobody
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
REMEDY = "can't be used: name a proxy like http://HOST:PORT, or unset it"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        pytest.param("ALL_PROXY", f"gopher://me:{SECRET}@127.0.0.1:1", "gopher://127.0.0.1:1", id="another kind"),
        pytest.param("all_proxy", "gopher://[::1]:1/", "gopher://[::1]:1/", id="a small name"),
        pytest.param("HTTP_PROXY", f"me:{SECRET}@host:port", "(not shown)", id="no port"),
        pytest.param("HTTPS_PROXY", f"gopher://me:{SECRET}/@x@host", "gopher://host", id="a password with signs"),
        pytest.param("https_proxy", f"http://host:{SECRET}", "(not shown)", id="a password without a host"),
    ],
)
def test_a_proxy_that_can_not_be_used_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, shown: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(DoorAddressError) as raised:
        Door(ELSEWHERE)

    assert str(raised.value) == f"the proxy {name}={shown} {REMEDY}"


def test_a_proxy_that_needs_a_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", f"socks5://me:{SECRET}@127.0.0.1:1")

    with pytest.raises(DoorAddressError, match=r"^the proxy ALL_PROXY=socks5://127\.0\.0\.1:1 can't"):
        Door(ELSEWHERE)


def test_an_error_that_no_proxy_is_to_blame_for_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    with pytest.raises(httpx.InvalidURL, match="another"), usable_proxies(DoorAddressError):
        raise httpx.InvalidURL("another")


def test_a_client_says_in_one_line_why_it_goes_on_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ALL_PROXY", f"socks5://me:{SECRET}@127.0.0.1:1")
    with Firstbyte(ELSEWHERE):
        eventually(lambda: bool(caplog.records), "it is said")

    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert record.exc_info is None
    assert record.getMessage().startswith("going on without the service: the proxy ALL_PROXY=socks5://127.0.0.1:1 ")
