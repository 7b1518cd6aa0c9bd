"""Values of pure functions that a process computed last, for the next plan that asks the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class RecentValues(Generic[T]):
    """Frozen values by their keys, together of at most the size `limit` (each of 1, unless `size_of` tells); the least
    recently used is dropped first, never the last one.

    A key holds by value all that its value depends on. Threads share it: two that ask at once compute equal values.
    """

    def __init__(self, limit: int, size_of: Callable[[T], int] = lambda _: 1) -> None:
        self._limit, self._size_of = limit, size_of
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable) -> T | None:
        """The value of a key, where it is known."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def add(self, key: Hashable, value: T) -> None:
        """A value to be found again."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > 1 and sum(map(self._size_of, self._values.values())) > self._limit:
                self._values.popitem(last=False)

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of a key, computed where it is not known."""
        value = self.find(key)
        if value is None:
            value = compute()
            self.add(key, value)
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
