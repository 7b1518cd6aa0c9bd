"""An in-memory cache of the last plans, as bytes, for requests that refer to one by its id."""

from __future__ import annotations

from collections import OrderedDict


class PlanCache:
    """At most `plans_max` documents by id; the least recently used is evicted first."""

    def __init__(self, plans_max: int) -> None:
        self._max = plans_max
        self._by_id: OrderedDict[str, bytes] = OrderedDict()

    def add(self, plan_id: str, document: bytes) -> None:
        """Store a document, replacing one of the same id."""
        self._by_id[plan_id] = document
        self._by_id.move_to_end(plan_id)
        while len(self._by_id) > self._max:
            self._by_id.popitem(last=False)

    def get(self, plan_id: str) -> bytes | None:
        """The document, or None if it is not in the cache."""
        if plan_id in self._by_id:
            self._by_id.move_to_end(plan_id)
        return self._by_id.get(plan_id)
