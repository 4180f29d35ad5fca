"""Reads an HTTP/1.1 response from bytes, however they are cut."""

import httptools

from monitor.exchange.errors import BrokenHttpError

# More bytes in a row without one of the body are no response: headers, trailers, interim responses, extensions.
MOST_HEAD = 128 * 1024


class Response:
    """One response; `headed` once its head is there, `complete` once its body is. Neither holds for interim ones.

    What comes after the end is left unread and makes the connection unfit for another request.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.headed = False
        self.complete = False
        self.keep = False
        self._pieces: list[bytes] = []
        self._bodiless = 0
        self._parser = httptools.HttpResponseParser(self)
        # As forgiving as most clients are: a body that is chunked and has a length, too, is chunked (RFC 9112, 6.3).
        self._parser.set_dangerous_leniencies(
            lenient_chunked_length=True,
            lenient_version=True,
            lenient_data_after_close=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    def feed(self, data: bytes) -> list[bytes]:
        """The pieces of the body in these bytes, cut as its chunks are. Raises BrokenHttpError."""
        self._pieces = []
        if self.complete:
            self.keep = False
            return []
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.keep = False
            if not self.complete:
                raise BrokenHttpError("no HTTP") from None
        self._bodiless = 0 if self._pieces else self._bodiless + len(data)
        if self._bodiless > MOST_HEAD and not self.complete:
            raise BrokenHttpError("no end of headers")
        return self._pieces

    def end(self) -> None:
        """The connection has ended. Raises BrokenHttpError where that is no end of the response."""
        if not self.headed or (self._framed and not self.complete):
            raise BrokenHttpError("cut off")
        self.complete = True
        self.keep = False

    @property
    def _framed(self) -> bool:
        """Whether the response itself says where its body ends."""
        coded = self.headers.get("transfer-encoding")
        if coded is not None:
            return coded.rpartition(",")[2].strip().lower() == "chunked"
        return "content-length" in self.headers

    # For the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer, which says nothing to us."""
        if self.headed:
            return
        key, said = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        self.headers[key] = f"{self.headers[key]}, {said}" if key in self.headers else said

    def on_headers_complete(self) -> None:
        """All headers of a response, final or interim."""
        if self.complete:
            self.keep = False
            return
        status = self._parser.get_status_code()
        if status < 200:
            self.headers = {}
            return
        self.status, self.headed = status, True

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        if not self.complete:
            self._pieces.append(data)

    def on_message_complete(self) -> None:
        """The end of a response, final or interim."""
        if self.headed and not self.complete:
            self.complete = True
            self.keep = self._parser.should_keep_alive()
