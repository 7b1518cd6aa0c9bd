"""Values of pure functions that a process computed last, for the next plan that asks the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class RecentValues(Generic[T]):
    """At most `limit` frozen values by their keys, of which the least recently used is dropped first.

    A key holds by value all that its value depends on. Threads share it: two that ask at once compute equal values.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of a key, computed where it is not known."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = compute()
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
