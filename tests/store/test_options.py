"""What stands behind the ? of a store's URL is one of a closed list, or it is said what is wrong."""

import pytest

from breaker.errors import StoreError
from breaker.store.options import BadUrlError, read_options
from breaker.store.redis import RedisStore

LISTED = "remove it; there may be client_name, db, password, socket_keepalive, username"


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("redis", "db=3&username=ann&password=hush&client_name=firstbyte&socket_keepalive=Yes"),
        ("unix", "db=0&password=hush"),
        ("rediss", "ssl_ca_certs=/ca&ssl_ca_path=/cas&ssl_cert_reqs=none&ssl_check_hostname=0"),
        ("rediss+cluster", "ssl_certfile=/c&ssl_keyfile=/k&ssl_password=hush&ssl_ciphers=HIGH&ssl_min_version=772"),
        ("redis+sentinel", "sentinel_username=ann&sentinel_password=a%40b%26c"),
        ("redis", ""),
    ],
)
def test_what_is_on_the_list_is_taken(kind: str, query: str) -> None:
    names = [name for name, _ in read_options(kind, query)]

    assert "&".join(part.partition("=")[0] for part in query.split("&")) == "&".join(names)


@pytest.mark.parametrize(
    ("kind", "query", "wrong", "hint"),
    [
        ("redis", "encoding=utf-16", "says encoding behind its ?, which isn't to be set there", LISTED),
        ("redis", "credential_provider=hush", "says credential_provider behind its ?, which isn't to be set", LISTED),
        ("redis", "redis_connect_func=hush", "says redis_connect_func behind its ?, which isn't to be set", LISTED),
        ("redis", "socket_timeout=30", "says socket_timeout behind its ?, which isn't to be set", LISTED),
        ("redis", "max_connections=1", "says max_connections behind its ?, which isn't to be set", LISTED),
        ("redis", "protocol=3", "says protocol behind its ?, which isn't to be set", LISTED),
        ("redis", "hush=1", "has an option behind its ? that there isn't (not shown)", LISTED),
        ("rediss", "ssl_ca_cert=/hush", "says ssl_ca_cert behind its ?, which there isn't", "write ssl_ca_certs"),
        ("redis", "ssl_ca_certs=/hush", "says ssl_ca_certs behind its ?, which doesn't go with redis://", "rediss"),
        ("unix", "socket_keepalive=yes", "which doesn't go with unix://", "there is no TCP"),
        ("redis+cluster", "db=1", "says db behind its ?, which doesn't go with redis+cluster://", "but the first"),
        ("redis+cluster", "sentinel_password=hush", "which doesn't go with redis+cluster://", "go with redis+sentinel"),
        ("redis", "db=main", "says db=main behind its ?", "write the number of a database"),
        ("redis", "db=-1", "says db=-1 behind its ?", "write the number of a database"),
        ("redis", "socket_keepalive=maybe", "says socket_keepalive=maybe behind its ?", "write one of: yes, no, true"),
        (
            "rediss",
            "ssl_cert_reqs=hmm",
            "says ssl_cert_reqs=hmm behind its ?",
            "write one of: none, optional, req",
        ),
        ("rediss", "ssl_min_version=1.2", "says ssl_min_version=1.2 behind its ?", "write one of: 771, 772"),
        ("rediss", "ssl_keyfile=/k", "says ssl_keyfile behind its ?, and no ssl_certfile", "its certificate too"),
        ("redis", "client_name=a%20b", "says client_name=something else (not shown) behind its ?", "without blanks"),
        ("redis", "client_name=", "says client_name behind its ?, and no value", "write client_name=…, or remove it"),
        ("redis", "db=1&db=2", "says db twice behind its ?", "remove one of them"),
        ("redis", "hush@host:6379", "has an @ behind its ? (not shown)", "write ? as %3F"),
    ],
)
def test_what_is_not_is_refused_with_its_name_and_the_remedy(kind: str, query: str, wrong: str, hint: str) -> None:
    with pytest.raises(BadUrlError) as error:
        read_options(kind, query)

    assert wrong in error.value.wrong
    assert hint in error.value.hint
    assert "hush" not in str(error.value)


@pytest.mark.parametrize("url", ["redis://h/0", "unix:///s", "redis+sentinel://h/main", "redis+cluster://h"])
def test_no_address_is_an_exception(url: str) -> None:
    with pytest.raises(
        StoreError, match=r"^the store's URL says encoding behind its \?, which isn't to be set there; "
    ):
        RedisStore.from_url(f"{url}?encoding=utf-16")
