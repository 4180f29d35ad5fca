"""The servers behind a store's URL, however many they are."""

from breaker.errors import StoreError
from breaker.store.address import Form, read
from breaker.store.cluster import Cluster
from breaker.store.options import BadUrlError
from breaker.store.pool import place_of
from breaker.store.sentinels import Sentinels
from breaker.store.servers import Servers, Single


def servers_at(url: str, limit_s: float) -> Servers:
    """The servers at a URL, each call with this limit. Raises StoreError for a URL that can't be used."""
    try:
        address = read(url)
    except BadUrlError as error:
        raise StoreError(f"the store's URL {error.wrong}; {error.hint}") from None
    if address is None:
        return Single(url, limit_s)
    match address.form:
        case Form.SENTINEL:
            return Sentinels(address, limit_s)
        case Form.CLUSTER:
            return Cluster(address, limit_s)


def place_at(url: str) -> str:
    """A URL that can be used, without user, password and options, as it may be shown."""
    address = read(url)
    return address.place if address else place_of(url)
