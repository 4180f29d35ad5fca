"""What is heard of servers that are asked all at once."""

import asyncio

import pytest

from breaker.errors import StoreError
from breaker.store.finder import Finder


async def nothing() -> None:
    """A look that finds nothing."""


@pytest.mark.parametrize("first", ["a", "b"])
async def test_refusals_are_told_alike_whichever_comes_first(first: str) -> None:
    was_first = asyncio.Event()

    async def refuse(name: str) -> None:
        if name != first:
            await was_first.wait()
        was_first.set()
        raise StoreError(name)

    finder = Finder(nothing)
    said, refused = await finder.most([refuse("a"), refuse("b")])
    await finder.close()

    assert not said
    assert list(map(str, refused)) == ["a", "b"]
