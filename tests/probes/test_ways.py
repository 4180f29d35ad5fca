from collections.abc import Sequence

import pytest

from breaker.policy import Policy
from breaker.target import Provider, Target
from monitor.network.ways import Proxies, Scope, address_of, scope, ways_out
from monitor.settings import Address, TargetPlan

ONE, TWO = "https://one.example/v1", "https://two.example:8443/v1"
NEAR, HERE, THERE = "http://10.0.0.7:8000/v1", "http://127.0.0.1:11434/v1", "http://localhost:4000/v1"
CONTROL = Address("9.9.9.9", 53)
HOSTS = {
    "one": "one.example:443",
    "two": "two.example:8443",
    "near": "10.0.0.7:8000",
    "here": "127.0.0.1:11434",
    "there": "localhost:4000",
    "control": "9.9.9.9:53",
    "proxy": "proxy.example:3128",
}


def ways(
    urls: Sequence[str], control: Sequence[Address] = (), proxies: dict[str, str] | None = None, past: str = ""
) -> list[list[set[str]]]:
    """The ways to each of some providers, in the order of the providers."""
    plans = [
        TargetPlan(
            target=Target(provider=Provider(name=f"p{n}", base_url=url, wire="openai-chat"), model="m"), policy=Policy()
        )
        for n, url in enumerate(urls)
    ]
    found = ways_out(plans, control, Proxies(proxies or {}, lambda host: host == past))
    return [[{str(address) for address in way} for way in found[plan.name]] for plan in plans]


def named(*told: str) -> list[set[str]]:
    """Ways as the tables write them: names of one way joined by a plus."""
    return [{HOSTS[name] for name in way.split("+")} for way in told]


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        pytest.param([ONE, TWO], [["one+two"], ["one+two"]], id="two providers say it for each other"),
        pytest.param([ONE], [[]], id="one alone has nobody"),
        pytest.param([ONE, "https://ONE.example/other"], [[], []], id="two accounts at one host are related"),
        pytest.param([ONE, TWO, HERE], [["one+two"], ["one+two"], []], id="what runs here says nothing of the way out"),
        pytest.param([ONE, HERE], [[], []], id="not even where it is all there is besides"),
        pytest.param([ONE, TWO, NEAR], [["one+two"]] * 3, id="a private network's host says nothing but is excused"),
        pytest.param([HERE, THERE], [["here+there"]] * 2, id="where all is here it counts"),
        pytest.param([NEAR, HERE], [[], []], id="of a near one and one that is here only the near one would count"),
    ],
)
def test_which_providers_stand_for_the_way_out(urls: list[str], expected: list[list[str]]) -> None:
    assert ways(urls) == [named(*each) for each in expected]


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        pytest.param([ONE, TWO], [["control"], ["control"]], id="they alone decide"),
        pytest.param([ONE], [["control"]], id="also for one provider"),
        pytest.param([ONE, HERE], [["control"], []], id="what runs here isn't excused by them"),
    ],
)
def test_control_addresses_decide(urls: list[str], expected: list[list[str]]) -> None:
    assert ways(urls, [CONTROL]) == [named(*each) for each in expected]


def test_a_control_address_that_runs_here_decides_where_all_does() -> None:
    assert ways([HERE], [Address("127.0.0.1", 9)]) == [[{"127.0.0.1:9"}]]


@pytest.mark.parametrize(
    ("proxies", "past", "control", "expected"),
    [
        pytest.param({"https": "http://me:secret@proxy.example:3128"}, "", [], ["proxy"], id="it is the way out"),
        pytest.param({"all": "proxy.example:3128"}, "", [], ["proxy"], id="for all schemes, written without one"),
        pytest.param({"http": "http://proxy.example:3128"}, "", [], [], id="another scheme's is none"),
        pytest.param({"https": "http://proxy.example:3128"}, "one.example", [], [], id="NO_PROXY is heeded"),
        pytest.param(
            {"all": "http://proxy.example:3128"}, "", [CONTROL], ["proxy", "control"], id="with control, both"
        ),
    ],
)
def test_where_a_proxy_stands_before_a_provider(
    proxies: dict[str, str], past: str, control: list[Address], expected: list[str]
) -> None:
    assert ways([ONE], control, proxies, past) == [named(*expected)]


def test_a_provider_behind_a_proxy_says_nothing_for_one_without() -> None:
    assert ways([ONE, TWO], (), {"https": "http://proxy.example:3128"}, "two.example") == [named("proxy"), []]


def test_proxies_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "two.example")
    before = [Proxies().before(Provider(name="p", base_url=url, wire="openai-chat")) for url in (ONE, TWO)]

    assert before == [Address("proxy.example", 3128), None]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", Scope.LOOPBACK),
        ("::1", Scope.LOOPBACK),
        ("localhost", Scope.LOOPBACK),
        ("api.localhost.", Scope.LOOPBACK),
        ("192.168.1.4", Scope.NEAR),
        ("fd00::7", Scope.NEAR),
        ("ollama", Scope.NEAR),
        ("gateway.internal", Scope.NEAR),
        ("8.8.8.8", Scope.PUBLIC),
        ("api.example.com", Scope.PUBLIC),
    ],
)
def test_how_far_away_a_host_is(host: str, expected: Scope) -> None:
    assert scope(Address(host, 443)) is expected


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.com/v1", "api.example.com:443"),
        ("http://api.example.com", "api.example.com:80"),
        ("https://[2001:db8::1]:8443/v1", "[2001:db8::1]:8443"),
        ("socks5://proxy.example", "proxy.example:1080"),
    ],
)
def test_an_address_is_that_of_the_host(url: str, shown: str) -> None:
    assert str(address_of(url)) == shown
