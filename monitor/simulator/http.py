"""As much of HTTP/1.1 as a provider needs: reading a request, writing a head and a chunk."""

import asyncio
import math
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from monitor.simulator.request import Request
from monitor.simulator.steps import Head

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 10 * 1024 * 1024

_MAX_DIGITS = 18


class HttpError(Exception):
    """The bytes are no request that can be answered further; the connection ends after the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request, None where the client ended the connection before one.

    Raises `HttpError` where the bytes are no HTTP or too many, `IncompleteReadError` where they end early.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        if end.partial.strip():
            raise
        return None
    except asyncio.LimitOverrunError:
        raise HttpError(431, "The headers are too large.") from None
    return _parse(head)


async def read_body(request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Return the body that follows a request, of at most 10 MiB.

    Raises `HttpError` where it has no length or is too large, `IncompleteReadError` where it ends early.
    """
    if request.headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if "chunked" in request.headers.get("transfer-encoding", "").lower():
        return await _read_chunks(reader)
    length = request.headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit() and len(length) <= _MAX_DIGITS):
        raise HttpError(400, "content-length is not a number, or far too large a one.")
    return await reader.readexactly(_allowed(int(length)))


def head_bytes(head: Head, *, keep_alive: bool, speed: float = 1.0) -> bytes:
    """Return the bytes of a head; a Retry-After is divided by `speed` and rounded up to a whole second."""
    lines = [f"HTTP/1.1 {head.status} {_reason(head.status)}"]
    if head.content_type is not None:
        lines.append(f"content-type: {head.content_type}")
    lines += [f"{name}: {' '.join(value.split())}" for name, value in head.others]
    lines.append("transfer-encoding: chunked" if head.length is None else f"content-length: {head.length}")
    lines.append(f"connection: {'keep-alive' if keep_alive else 'close'}")
    if head.retry_after_s is not None:
        lines.append(f"retry-after: {max(1, math.ceil(head.retry_after_s / speed))}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def chunk(data: bytes) -> bytes:
    """Return data in the frame of a chunk; no data is the last chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _parse(head: bytes) -> Request:
    first, *lines = head.decode("latin-1").strip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise HttpError(400, "This is no HTTP/1.1 request.")
    pairs = [line.partition(":") for line in lines]
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    try:
        address = urlsplit(words[1])
    except ValueError:
        raise HttpError(400, "The path can't be read.") from None
    return Request(
        method=words[0],
        path=address.path,
        query={name: values[0] for name, values in parse_qs(address.query).items()},
        headers=headers,
        keep_alive=words[2] == "HTTP/1.1" and "close" not in headers.get("connection", "").lower(),
    )


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := await _chunk_size(reader):
        _allowed(len(body) + size)
        body += (await reader.readexactly(size + 2))[:-2]
    while (await reader.readuntil(b"\r\n")).strip():
        pass  # trailers
    return bytes(body)


async def _chunk_size(reader: asyncio.StreamReader) -> int:
    line = (await reader.readuntil(b"\r\n")).split(b";")[0].strip()
    try:
        return int(line, 16)
    except ValueError:
        raise HttpError(400, "A chunk has no size.") from None


def _allowed(size: int) -> int:
    if not 0 <= size <= MAX_BODY_BYTES:
        raise HttpError(413, f"The body is larger than {MAX_BODY_BYTES} bytes.")
    return size


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Overloaded" if status == 529 else "Unknown"
