import gzip
import zlib

import pytest

from breaker.wire.inflate import PIECE, BrokenEncodingError, Inflater

TEXT = b"data: {}\n\n" * 1000


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "sent", "read"),
    [
        pytest.param("gzip", gzip.compress(TEXT), TEXT, id="gzip"),
        pytest.param(" X-GZIP ", gzip.compress(TEXT), TEXT, id="its old name"),
        pytest.param("deflate", zlib.compress(TEXT), TEXT, id="deflate in zlib's wrapping"),
        pytest.param("deflate", bare_deflate(TEXT), TEXT, id="deflate without it"),
        pytest.param("", TEXT, TEXT, id="none"),
        pytest.param("identity", TEXT, TEXT, id="named none"),
        pytest.param("br", TEXT, TEXT, id="one that we never asked for"),
        pytest.param("gzip, gzip", gzip.compress(TEXT), gzip.compress(TEXT), id="several at once"),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_a_body_reads_the_same_however_it_is_cut(encoding: str, sent: bytes, read: bytes, step: int) -> None:
    inflater = Inflater(encoding)
    pieces = [p for at in range(0, len(sent), step) for p in inflater.feed(sent[at : at + step])]

    assert b"".join(pieces) == read


def test_a_bomb_comes_out_in_pieces() -> None:
    pieces = [len(piece) for piece in Inflater("gzip").feed(gzip.compress(bytes(20 * PIECE)))]

    assert sum(pieces) == 20 * PIECE
    assert max(pieces) <= PIECE


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_what_is_not_encoded_as_it_says_is_broken(encoding: str) -> None:
    with pytest.raises(BrokenEncodingError):
        list(Inflater(encoding).feed(b"data: this is plain text\n\n"))
