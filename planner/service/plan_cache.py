"""The last plans that were answered, kept in memory for whoever asks for more of one. Knows bytes, not plans."""

from __future__ import annotations

from collections import OrderedDict


class PlanCache:
    """At most `plans_max` documents by id; the one that was longest not asked for goes first."""

    def __init__(self, plans_max: int) -> None:
        self._max = plans_max
        self._by_id: OrderedDict[str, bytes] = OrderedDict()

    def add(self, plan_id: str, document: bytes) -> None:
        """Keep a document, in place of an older one of the same id."""
        self._by_id[plan_id] = document
        self._by_id.move_to_end(plan_id)
        while len(self._by_id) > self._max:
            self._by_id.popitem(last=False)

    def get(self, plan_id: str) -> bytes | None:
        """The document, or None where it was never kept or is gone."""
        if plan_id in self._by_id:
            self._by_id.move_to_end(plan_id)
        return self._by_id.get(plan_id)
