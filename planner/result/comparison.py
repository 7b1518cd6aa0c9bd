"""What changed since the last review: values of the answer, part of a plan that was compared with an earlier one.

Differences are now - then and only of like with like: none between currencies or units.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Literal

from planner.result.message import Message
from pricing.frozen_values import dataclass

ComparedValue = int | float | str | None
"""A figure or a text; None: there is none in that plan."""

Topic = Literal[
    "cost",
    "recommendation",
    "month",
    "purchase",
    "workload",
    "request",
    "assumption",
    "price",
    "throughput",
    "gap",
    "frame",
]
TOPIC_TITLES: dict[Topic, str] = {
    "cost": "what each strategy costs",
    "recommendation": "what is recommended",
    "month": "what is paid in each calendar month",
    "purchase": "what is bought or committed to",
    "workload": "the work asked for, in the months that both plans have",
    "request": "limits and settings of the request",
    "assumption": "what is assumed",
    "price": "the prices used",
    "throughput": "work an hour of a gang",
    "gap": "what is missing or estimated",
    "frame": "what the plan covers",
}


@dataclass(frozen=True, slots=True)
class PlanChange:
    """One fact of both plans. `difference` is None where the two cannot be subtracted; `why` has the sources with their
    dates, or the reason why one plan lacks the fact.
    """

    topic: Topic
    """Topic of the change."""
    subject: str
    """The thing that changed."""
    then: ComparedValue
    """Value in the earlier plan; null: absent."""
    now: ComparedValue
    """Value in this plan; null: absent."""
    difference: float | None
    """`now` - `then`, in `unit`; null: not comparable."""
    unit: str
    """Unit of the values."""
    why: Message | None = None
    """Source and date of the values, or why they cannot be compared."""

    @property
    def is_same(self) -> bool:
        """Whether it is as it was; rounding is no change."""
        return self.then == self.now or self.difference == 0.0


@dataclass(frozen=True, slots=True)
class CauseComponent:
    """One figure that changed, with what that adds to total and present cost."""

    name: str
    """Name of the value that changed."""
    old: ComparedValue
    """Value in the earlier plan."""
    new: ComparedValue
    """Value in this plan."""
    unit: str
    """Unit of the value."""
    total: float
    """Effect on the total cost, in the plan's currency; positive: costlier."""
    present: float
    """Effect on the present cost, in the plan's currency; positive: costlier."""


@dataclass(frozen=True, slots=True)
class CostCause:
    """One cause: what it adds to total and present cost in the new plan's currency; its parts add up to it."""

    cause: str
    """Name of the cause."""
    total: float
    """Effect on the total cost, in the plan's currency; positive: costlier."""
    present: float
    """Effect on the present cost, in the plan's currency; positive: costlier."""
    parts: tuple[CauseComponent, ...] = ()
    """The values behind it; their effects add up to it."""


@dataclass(frozen=True, slots=True)
class CostAttribution:
    """Why the recommended strategy of one plan costs what that of the other did not: from `restated`, the old total and
    present cost in the new plan's currency, `steps` add up to `new`.
    """

    strategies: tuple[str, str]
    """Recommended strategy of the earlier plan, and of this one."""
    restated: tuple[float, float]
    """Total and present cost of the earlier plan, in this plan's currency."""
    new: tuple[float, float]
    """Total and present cost of this plan, in its currency."""
    steps: tuple[CostCause, ...]
    """Causes in the order in which they were applied; they add up from `restated` to `new`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that changed since the plan `plan_id` of `as_of`.

    `changes` has all costs and every month that either plan covers, of other topics only what changed. `causes` is None
    where they cannot be told; `notes` then say why, and how unlike months or currencies were set side by side.
    """

    plan_id: str
    """Identifier of the earlier plan."""
    as_of: date
    """Date of the earlier plan."""
    month_names: tuple[str, ...]
    """Months of the earlier plan."""
    currency: str
    """Currency of the earlier plan, ISO 4217."""
    strategy: str
    """Strategy that the earlier plan recommended."""
    changes: tuple[PlanChange, ...]
    """Differences by topic."""
    causes: CostAttribution | None = None
    """Causes of the cost difference; null: they cannot be separated."""
    notes: tuple[Message, ...] = ()
    """How unlike months or currencies were compared, or why causes are missing."""

    def of(self, topic: Topic) -> tuple[PlanChange, ...]:
        """The changes of a topic."""
        return tuple(change for change in self.changes if change.topic == topic)


def month_span(months: Sequence[str]) -> str:
    """The first and the last of consecutive months; empty without any.

    >>> month_span(["2026-12", "2027-01", "2027-02"]), month_span(["2026-12"])
    ('2026-12..2027-02', '2026-12')
    """
    return "..".join(dict.fromkeys((months[0], months[-1]))) if months else ""
