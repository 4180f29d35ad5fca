"""Turns a caller's request into one to a target: address, model and key are the target's, all else stays."""

import os
import re
from typing import Any
from urllib.parse import urlsplit

from breaker.attempt import Asked, Attempt, Place, read_request
from breaker.attempt.members import members, replaced
from breaker.client.transport.family import Family, family_of
from breaker.wire import READERS

# Where keys stand, and what says whose account it is.
_KEYS = frozenset(("authorization", "x-api-key", "api-key", "x-goog-api-key"))
_ACCOUNT = frozenset(("openai-organization", "openai-project", "cookie"))
# How others name what holds a key: gateways their headers, callers the parameters of their addresses.
_SECRET = re.compile(
    r"(?:.*[-_])?(?:auth|authorization|token|jwt|secret|password|credentials?)"
    r"|(?:.*[-_])?(?:api|access|subscription|secret|auth)[-_]?key|key",
    re.IGNORECASE,
)
_REPLACED = frozenset(("host", "content-length", "transfer-encoding", "accept-encoding"))


def asked_in(request: Any, family: Family) -> Asked | None:
    """What a request asks; None for one that asks no model, or whose body can be sent only once."""
    try:
        body: bytes = request.content
    except family.not_read:
        return None
    return read_request(request.method, request.url.raw_path.decode("ascii", "replace"), body)


def request_to(request: Any, family: Family, asked: Asked, attempt: Attempt) -> Any:
    """The request to a target.

    Its key comes from the environment; where it isn't there, the caller's own is sent only to the host to which the
    caller addressed it. Bodies are asked for as they are, so that they can be read as they come.
    """
    place = attempt.place
    url = family.url(place.base_url.rstrip("/") + asked.path_for(place.model))
    headers, url = _without_keys(request, url, place)
    headers += [("accept-encoding", "identity"), *_keys(place)]
    content = asked.body_for(place.model, attempt.more)
    timeout = dict(request.extensions.get("timeout", {}))
    extensions = {**request.extensions, "timeout": timeout}
    return family.request(request.method, url, headers=headers, content=content, extensions=extensions)


def side_request(request: Any, place: Place, behind: str, body: bytes | None = None) -> Any:
    """A request besides those that ask a model, to the provider of a target: with its key, and its model for another.

    `behind` continues the provider's base URL. Without a `body` what the request streams is sent, once.
    """
    family = family_of(request)
    url = _without_secrets(family.url(place.base_url.rstrip("/") + behind))
    dropped = _REPLACED | _KEYS | _ACCOUNT if body is not None else _KEYS | _ACCOUNT | {"host"}
    headers = [*_kept(request, dropped, away=True), *_keys(place)]
    if body is None:
        headers.append(("host", url.netloc.decode("ascii")))
        return family.request(
            request.method, url, headers=headers, stream=request.stream, extensions=request.extensions
        )
    content = _with_model(body, place.model)
    return family.request(request.method, url, headers=headers, content=content, extensions=request.extensions)


def _with_model(body: bytes, model: str) -> bytes:
    """A body that asks for a model, where it is JSON that names one; else as it is."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body
    return replaced(text, {"model": model}).encode() if "model" in (members(text) or {}) else body


def _without_keys(request: Any, url: Any, place: Place) -> tuple[list[tuple[str, str]], Any]:
    """The headers of the caller's request that go to a target, and the target's URL without what doesn't."""
    if (request.url.scheme, request.url.host, request.url.port) != (url.scheme, url.host, url.port):
        return _kept(request, _REPLACED | _KEYS | _ACCOUNT, away=True), _without_secrets(url)
    if _key(place):
        return _kept(request, _REPLACED | _KEYS), url.copy_remove_param("key")
    return _kept(request, _REPLACED), url


def _kept(request: Any, dropped: frozenset[str], *, away: bool = False) -> list[tuple[str, str]]:
    """The headers that stay; `away` says that they go to another host than the one that the caller addressed."""
    return [
        (name, value)
        for name, value in request.headers.multi_items()
        if name.lower() not in dropped and not (away and _SECRET.fullmatch(name))
    ]


def _without_secrets(url: Any) -> Any:
    for name in [name for name in url.params if _SECRET.fullmatch(name)]:
        url = url.copy_remove_param(name)
    return url


def _keys(place: Place) -> list[tuple[str, str]]:
    key = _key(place)
    return list(READERS[place.wire].key_headers(key).items()) if key else []


def _key(place: Place) -> str:
    return os.environ.get(place.api_key_env, "").strip() if place.api_key_env else ""


def is_sendable(place: Place) -> bool:
    """Whether a place can be asked at all: its address is one, its key can stand in a header, its wire is known."""
    key = _key(place)
    address = urlsplit(place.base_url)
    return place.wire in READERS and bool(address.hostname) and key.isascii() and (not key or key.isprintable())
