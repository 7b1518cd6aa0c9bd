"""What changed since the last review: values of the answer, part of a plan that was compared with an earlier one.

Differences are now - then and only of like with like: none between currencies or units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from planner.result.message import Message

ComparedValue = float | str | None
"""A figure or a text; None: there is none in that plan."""

Topic = Literal[
    "cost", "recommendation", "month", "purchase", "workload", "assumption", "price", "throughput", "gap", "frame"
]
TOPIC_TITLES: dict[Topic, str] = {
    "cost": "what each strategy costs",
    "recommendation": "what is recommended",
    "month": "what is paid in each calendar month",
    "purchase": "what is bought or committed to",
    "workload": "the work asked for, in the months that both plans have",
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
    subject: str
    then: ComparedValue
    now: ComparedValue
    difference: float | None
    unit: str
    why: Message | None = None

    @property
    def is_same(self) -> bool:
        """Whether it is as it was; rounding is no change."""
        return self.then == self.now or self.difference == 0.0


@dataclass(frozen=True, slots=True)
class CauseComponent:
    """One figure that changed, with what that adds to total and present cost."""

    name: str
    old: ComparedValue
    new: ComparedValue
    unit: str
    total: float
    present: float


@dataclass(frozen=True, slots=True)
class CostCause:
    """One cause: what it adds to total and present cost in the new plan's currency; its parts add up to it."""

    cause: str
    total: float
    present: float
    parts: tuple[CauseComponent, ...] = ()


@dataclass(frozen=True, slots=True)
class CostAttribution:
    """Why the recommended strategy of one plan costs what that of the other did not: from `restated`, the old total and
    present cost in the new plan's currency, `steps` add up to `new`.
    """

    strategies: tuple[str, str]
    restated: tuple[float, float]
    new: tuple[float, float]
    steps: tuple[CostCause, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that changed since the plan `plan_id` of `as_of`.

    `changes` has all costs and every month that either plan covers, of other topics only what changed. `causes` is None
    where they cannot be told; `notes` then say why, and how unlike months or currencies were set side by side.
    """

    plan_id: str
    as_of: date
    month_names: tuple[str, ...]
    currency: str
    strategy: str
    changes: tuple[PlanChange, ...]
    causes: CostAttribution | None = None
    notes: tuple[Message, ...] = ()

    def of(self, topic: Topic) -> tuple[PlanChange, ...]:
        """The changes of a topic."""
        return tuple(change for change in self.changes if change.topic == topic)


def month_span(months: Sequence[str]) -> str:
    """The first and the last of consecutive months; empty without any.

    >>> month_span(["2026-12", "2027-01", "2027-02"]), month_span(["2026-12"])
    ('2026-12..2027-02', '2026-12')
    """
    return "..".join(dict.fromkeys((months[0], months[-1]))) if months else ""
