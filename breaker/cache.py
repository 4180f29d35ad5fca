"""Values at hand by their keys, the newest, as many as have room in a number of bytes."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Cache(Generic[_K, _V]):
    """Keeps what was kept last, up to `most_bytes` of it; a value that has no room at all is not kept."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[_K, tuple[_V, int]] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: _K, otherwise: _V) -> _V:
        """The value last kept by this key; `otherwise` where there is none."""
        kept = self._kept.get(key)
        return otherwise if kept is None else kept[0]

    def keep(self, key: _K, value: _V, size: int) -> None:
        """Have this value by its key from now on, as the newest; `size` is the bytes that it takes."""
        _, before = self._kept.pop(key, (None, 0))
        self.bytes -= before
        if size > self._most_bytes:
            return
        self._kept[key] = value, size
        self.bytes += size
        while self.bytes > self._most_bytes:
            _, (_, oldest) = self._kept.popitem(last=False)
            self.bytes -= oldest
