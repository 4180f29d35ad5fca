"""URLs of several servers: what is read in them, what of it is shown, and what can't be used."""

import pytest

from breaker.errors import StoreError
from breaker.store.address import Address, Form, Host, read
from breaker.store.options import BadUrlError
from breaker.store.redis import RedisStore


def found(url: str) -> Address:
    """What is read in a URL of several servers."""
    address = read(url)
    assert address is not None
    return address


@pytest.mark.parametrize("url", ["redis://h:1/2", "rediss://h", "unix:///s", "", "hush", "http://h"])
def test_a_url_of_one_server_is_none_of_several(url: str) -> None:
    assert read(url) is None


@pytest.mark.parametrize(
    ("url", "form", "hosts", "service", "database"),
    [
        ("redis+sentinel://a/main", Form.SENTINEL, [("a", 26379)], "main", 0),
        ("rediss+sentinel://a:1,b:2,a:1/my.main-1_x/3", Form.SENTINEL, [("a", 1), ("b", 2)], "my.main-1_x", 3),
        ("redis+sentinel://u:p%40@[::1]:5,b/main/", Form.SENTINEL, [("::1", 5), ("b", 26379)], "main", 0),
        ("redis+cluster://a", Form.CLUSTER, [("a", 6379)], "", 0),
        ("rediss+cluster://:p@a:1,b:2,[fe80::2]/", Form.CLUSTER, [("a", 1), ("b", 2), ("fe80::2", 6379)], "", 0),
        ("redis+cluster://a/0?socket_keepalive=yes", Form.CLUSTER, [("a", 6379)], "", 0),
    ],
)
def test_hosts_service_and_database_are_read(
    url: str, form: Form, hosts: list[tuple[str, int]], service: str, database: int
) -> None:
    address = found(url)

    assert (address.form, address.hosts, address.service, address.database) == (
        form,
        tuple(Host(*host) for host in hosts),
        service,
        database,
    )


@pytest.mark.parametrize(
    ("url", "server", "sentinel"),
    [
        ("redis+sentinel://a/main", "redis://h:1/0", "redis://h:1"),
        ("redis+sentinel://a/main/4", "redis://h:1/4", "redis://h:1"),
        ("redis+sentinel://u:p%2F@a/main", "redis://u:p%2F@h:1/0", "redis://h:1"),
        (
            "rediss+sentinel://:p@a/main?sentinel_password=x%2Fy&ssl_ca_certs=%2Fca&socket_keepalive=1&client_name=f",
            "rediss://:p@h:1/0?ssl_ca_certs=%2Fca&socket_keepalive=1&client_name=f",
            "rediss://:x%2Fy@h:1?ssl_ca_certs=%2Fca&socket_keepalive=1",
        ),
        ("redis+sentinel://a/main?sentinel_username=s&sentinel_password=x", "redis://h:1/0", "redis://s:x@h:1"),
    ],
)
def test_servers_and_sentinels_are_connected_to_with_what_is_meant_for_them(
    url: str, server: str, sentinel: str
) -> None:
    address = found(url)

    assert address.url_of(Host("h", 1)) == server
    assert address.url_of_sentinel(Host("h", 1)) == sentinel


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis+sentinel://ann:hush@a,[::1]:7/main/3", "redis+sentinel://a:26379,[::1]:7/main"),
        ("rediss+cluster://:hush@a:1,b:2?password=hush", "rediss+cluster://a:1,b:2"),
        ("redis+sentinel://a/main?sentinel_password=hush", "redis+sentinel://a:26379/main"),
    ],
)
def test_what_is_shown_has_no_secret(url: str, place: str) -> None:
    address = found(url)

    assert address.place == RedisStore.from_url(url).place == place
    assert "hush" not in repr(address)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis+sentinel://a:26379", "names no service; add the name under which the sentinels know the master"),
        ("redis+sentinel://a:26379/?db=1", "names no service"),
        ("redis+sentinel://a/hush%20hush", "names a service that can't have that name; use letters, digits and ._-"),
        ("redis+sentinel://a/main/hush", "not the number of a database; write it as redis+sentinel://"),
        ("redis+sentinel://a/main/1/hush", "not the number of a database"),
        ("redis+cluster://a/1", "names a database, and a cluster has none but the first"),
        ("redis+cluster://a/hush", "names a database"),
        (
            "redis+cluster://a?db=1",
            "says db behind its ?, which doesn't go with redis+cluster://; name the database behind",
        ),
        ("redis+cluster://a,,b", "has a host or a port in it that can't be read; write it as redis+cluster://"),
        ("redis+cluster://a:0", "a host or a port"),
        ("redis+cluster://a:hush", "a host or a port"),
        ("redis+cluster://a:99999", "a host or a port"),
        ("redis+cluster://[::1", "a host or a port"),
        ("redis+cluster://", "can't be read; write it as redis+cluster://host:6379,host:6379"),
        ("redis+cluster://a#hush", "can't be read"),
        ("redis+hush://a", "can't be read; write it as redis://host:6379/0, redis+sentinel://"),
        ("unix+cluster:///hush", "can't be read"),
        ("redis+cluster://a?sentinel_password=hush", "sentinel_username and sentinel_password go with redis+sentinel"),
        ("redis+sentinel://:hush@a,:hush@b/main", "has more than one @; write user:password@ once, before all hosts"),
        ("redis+cluster://a,u:hush@b,u:hush@c", "has more than one @"),
        ("redis+cluster://u:hu@sh@a", "in a password %40"),
    ],
)
def test_what_cannot_be_used_is_said_without_quoting_it(url: str, said: str) -> None:
    with pytest.raises(BadUrlError) as error:
        read(url)
    with pytest.raises(StoreError) as whole:
        RedisStore.from_url(url)

    assert said in str(error.value)
    assert str(whole.value) == f"the store's URL {error.value}"
    assert "hush" not in str(error.value)
