from typing import NamedTuple

import h11
import pytest

from monitor.exchange.errors import BrokenHttpError
from monitor.exchange.response import MOST_HEAD, Response


class Read(NamedTuple):
    status: int
    body: bytes
    keep: bool


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HINTS = b"HTTP/1.1 103 Hints\r\nLink: a\r\nContent-Length: 7\r\n\r\n"
SOUND = {
    "a length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Read(200, b"hello", keep=True)),
    "no body": (b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", Read(500, b"", keep=True)),
    "none by its status": (b"HTTP/1.1 204 No Content\r\n\r\n", Read(204, b"", keep=True)),
    "chunks": (CHUNKED + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", Read(200, b"hello", keep=True)),
    "chunks with extensions": (CHUNKED + b"5;a=b\r\nhello\r\n0;last\r\n\r\n", Read(200, b"hello", keep=True)),
    "a blank after a chunk's size": (CHUNKED + b"5 \r\nhello\r\n0\r\n\r\n", Read(200, b"hello", keep=True)),
    "trailers": (CHUNKED + b"5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", Read(200, b"hello", keep=True)),
    "no reason": (b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", Read(200, b"hi", keep=True)),
    "an old version": (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", Read(200, b"hi", keep=False)),
    "a wish to close": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        Read(200, b"hi", False),
    ),
    "line feeds alone": (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", Read(200, b"hi", keep=True)),
    "chunks and a length": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Read(200, b"hi", keep=True),
    ),
    "an interim response": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        Read(200, b"hi", keep=True),
    ),
    "two interim responses with headers": (
        HINTS + b"HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 429 Slow\r\nContent-Length: 2\r\n\r\nhi",
        Read(429, b"hi", keep=True),
    ),
}
UNTIL_CLOSE = {
    "no length": b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nhello",
    "an old version": b"HTTP/1.0 200 OK\r\n\r\nhello",
    "a coding that isn't chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello",
}


def read(*parts: bytes) -> Response:
    return read_all(*parts)[0]


def read_all(*parts: bytes) -> tuple[Response, bytes]:
    response = Response()
    body = b"".join(piece for part in parts for piece in response.feed(part))
    return response, body


def cut(data: bytes) -> list[list[bytes]]:
    """A response as a whole, at every place in two, and byte by byte."""
    halves = [[data[:at], data[at:]] for at in range(1, len(data))]
    return [[data], *halves, [data[at : at + 1] for at in range(len(data))]]


@pytest.mark.parametrize("kind", SOUND)
def test_a_response_reads_the_same_however_it_is_cut(kind: str) -> None:
    sent, expected = SOUND[kind]
    for parts in cut(sent):
        response, body = read_all(*parts)
        assert (response.complete, response.headed) == (True, True)
        assert Read(response.status, body, response.keep) == expected
        response.end()


@pytest.mark.parametrize("kind", UNTIL_CLOSE)
def test_a_body_without_an_end_of_its_own_ends_with_the_connection(kind: str) -> None:
    for parts in cut(UNTIL_CLOSE[kind]):
        response, body = read_all(*parts)
        assert not response.complete
        response.end()
        assert (response.complete, response.keep, body) == (True, False, b"hello")


# httpx reads with h11; agents' clients are no stricter.
@pytest.mark.parametrize("kind", SOUND)
def test_h11_reads_the_same(kind: str) -> None:
    sent, expected = SOUND[kind]
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="POST", target="/", headers=[("host", "h"), ("content-length", "0")]))
    client.send(h11.EndOfMessage())
    client.receive_data(sent)
    status, body = 0, b""
    while not isinstance(event := client.next_event(), h11.EndOfMessage):
        assert not isinstance(event, type), event
        if isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            body += event.data

    assert (status, body) == (expected.status, expected.body)


def test_headers_are_read_by_small_names_those_of_interim_responses_and_trailers_left_out() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Empty:\r\nX-Two: a\r\nx-two:  b \r\nTransfer-Encoding: chunked\r\n\r\n"
    for parts in cut(HINTS + head + b"0\r\nX-Sum: 1\r\n\r\n"):
        assert read(*parts).headers == {"x-empty": "", "x-two": "a, b", "transfer-encoding": "chunked"}


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x16\x03\x01 no http at all\r\n\r\n", id="no http"),
        pytest.param(b"220 some other service\r\n", id="another service"),
        pytest.param(b"HTTP/1.1 200 OK\r\nbroken header\r\n\r\n", id="a header without a colon"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", id="a length that is no number"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", id="a length below nothing"),
        pytest.param(CHUNKED + b"zz\r\nhello\r\n", id="a chunk whose size is no number"),
        pytest.param(CHUNKED + b"2\r\nhello\r\n0\r\n\r\n", id="a chunk longer than it says"),
        pytest.param(CHUNKED + b"fffffffffffffffff\r\nhello", id="a chunk larger than there are numbers"),
        pytest.param(b"HTTP/1.1 101 Switching\r\nUpgrade: w\r\nConnection: upgrade\r\n\r\nxx", id="another protocol"),
    ],
)
def test_what_is_no_response_is_broken_however_it_is_cut(sent: bytes) -> None:
    for parts in cut(sent):
        with pytest.raises(BrokenHttpError):
            read(*parts).end()


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="before anything"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Le", id="in the head"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", id="after an interim response"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", id="before its length"),
        pytest.param(CHUNKED + b"5\r\nhel", id="in a chunk"),
        pytest.param(CHUNKED + b"5\r\nhello\r\n", id="before the last chunk"),
        pytest.param(CHUNKED + b"5\r\nhello\r\n0\r\n", id="before the end of the trailers"),
    ],
)
def test_a_connection_that_ends_inside_a_response_has_cut_it_off(sent: bytes) -> None:
    with pytest.raises(BrokenHttpError):
        read(sent).end()


@pytest.mark.parametrize("more", [b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", b"\x00 garbage", b"\r\n"])
def test_what_comes_after_the_end_is_left_unread_and_nothing_more_is_asked_there(more: bytes) -> None:
    whole = SOUND["a length"][0]
    for parts in ([whole + more], [whole, more]):
        response, body = read_all(*parts)
        assert (response.status, response.headers, body) == (200, {"content-length": "5"}, b"hello")
        assert response.complete
        assert not response.keep or more == b"\r\n"


@pytest.mark.parametrize(
    ("head", "flood"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\n", b"X-More: of it\r\n", id="headers"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: ", b"long", id="one header"),
        pytest.param(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", id="interim responses"),
        pytest.param(CHUNKED + b"5\r\nhello\r\n0\r\n", b"X-More: of it\r\n", id="trailers"),
        pytest.param(CHUNKED + b"5;", b"more", id="a chunk's extension"),
    ],
)
def test_a_flood_that_is_no_body_is_given_up(head: bytes, flood: bytes) -> None:
    response = Response()
    response.feed(head)
    parts = [flood * 50] * (4 * MOST_HEAD // len(flood * 50))
    unread = iter(parts)
    with pytest.raises(BrokenHttpError):
        any(response.feed(part) for part in unread)

    assert next(unread)
