"""Which slot a key is in, and what a node says of slots."""

from typing import Any

import pytest

from breaker.errors import StoreError
from breaker.store.address import Host
from breaker.store.slots import Range, read_ranges, slot_of

ASKED = Host("seed", 7)


def test_keys_of_one_target_share_a_slot() -> None:
    assert slot_of("firstbyte:{p/m}:circuit") == slot_of("firstbyte:{p/m}:ids") == slot_of("p/m")
    assert slot_of("123456789") == 0x31C3  # the specification's own example


@pytest.mark.parametrize("nameless", [None, "", "?"])
def test_a_node_without_a_name_is_the_one_that_was_asked(nameless: str | None) -> None:
    said = [[5, 16383, ["b", 2, "id"], ["c", 3, "id"]], [0, 4, [nameless, 1, "id", []]]]

    assert read_ranges(said, ASKED, "here") == (Range(0, 4, Host("seed", 1)), Range(5, 16383, Host("b", 2)))


def test_a_node_that_belongs_to_nothing_has_no_ranges() -> None:
    assert read_ranges([], ASKED, "here") == ()


@pytest.mark.parametrize(
    "said", [None, "OK", 1, [1], [[0, 1]], [[0, 16384, ["a", 1]]], [["x", 1, ["a", 1]]], [[2, 1, ["a", 1]]]]
)
def test_anything_else_is_no_node_of_a_cluster(said: Any) -> None:
    with pytest.raises(StoreError, match="the server at here talks as no node of a cluster does"):
        read_ranges(said, ASKED, "here")
