"""Changes since the last review: the facts of two plans side by side, and the causes of the difference in cost.

Months are matched by their calendar names, work over the months that both plans have, amounts within one currency.
Facts in different units are listed and not subtracted, and the notes state it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from planner.analysis.comparison.cost_comparison import compare_costs
from planner.analysis.comparison.currency_conversion import NoCommonCurrency, find_comparison_rates
from planner.analysis.comparison.renamed_workloads import match_renamed_workloads, rename_workloads
from planner.analysis.comparison.review_record import ReviewFact, ReviewRecord, build_review_record
from planner.result import Plan
from planner.result.comparison import (
    TOPIC_TITLES,
    Changes,
    ComparedValue,
    CostAttribution,
    PlanChange,
    Topic,
    month_span,
)
from planner.result.message import Message, message
from pricing.frozen_values import dataclass

ALWAYS_LISTED_TOPICS: frozenset[Topic] = frozenset({"cost", "recommendation", "month"})
"""Topics listed also without a change."""
COMMON_FACT_TOPICS: frozenset[Topic] = frozenset({"price", "throughput", "frame"})
"""Topics where a fact that only one plan has is no change: the other plan did not need it."""
VALUE_TOLERANCE = 1e-9
"""Of a value: a smaller difference is the rounding of a file or of the solver."""
WORKBOOK_PARTIAL_TOPICS: frozenset[Topic] = frozenset({"assumption"})
"""Topics of which a workbook may show less than its plan."""


@dataclass(frozen=True, slots=True)
class _ReviewPair:
    """Both reviews, and the calendar months that both have; `rate` converts an amount of the last review to the
    currency of the new plan, None where they have one currency or no rate is known.
    """

    then: ReviewRecord
    now: ReviewRecord
    common: tuple[str, ...]
    in_both: frozenset[Topic]
    rate: float | None


def list_changes(then: Plan | ReviewRecord, now: Plan) -> Changes:
    """The changes from the last review to the plan `now`, renamed workloads under their new names; causes only where
    `then` is a whole plan."""
    renamed = {} if isinstance(then, ReviewRecord) else match_renamed_workloads(then, now)
    then = then if isinstance(then, ReviewRecord) else rename_workloads(then, renamed)
    old = then if isinstance(then, ReviewRecord) else build_review_record(then)
    new = build_review_record(now)
    common = tuple(name for name in old.month_names if name in set(new.month_names))
    both = _ReviewPair(
        old,
        new,
        common,
        COMMON_FACT_TOPICS if then is not old else COMMON_FACT_TOPICS | WORKBOOK_PARTIAL_TOPICS,
        _conversion_rate(then, now),
    )
    causes, cause_notes = _find_causes(then, now)
    topic_changes = [change for topic in TOPIC_TITLES if topic in old.topics for change in _compare_topic(topic, both)]
    return Changes(
        old.plan_id,
        old.as_of,
        old.month_names,
        old.currency,
        old.strategy,
        tuple(topic_changes),
        causes,
        (*_note_renamed_workloads(renamed), *_list_notes(both, causes), *cause_notes, *_note_unmatched_prices(both)),
    )


def _conversion_rate(then: Plan | ReviewRecord, now: Plan) -> float | None:
    if isinstance(then, ReviewRecord) or then.currency == now.currency:
        return None
    try:
        return find_comparison_rates(then, now).join
    except (NoCommonCurrency, ArithmeticError):
        return None


def _find_causes(then: Plan | ReviewRecord, now: Plan) -> tuple[CostAttribution | None, tuple[Message, ...]]:
    """The causes of the difference between the recommended strategies; None, and why, where they cannot be computed."""
    if isinstance(then, ReviewRecord):
        return None, (message("review_read_from_workbook"), *then.notes)
    names = then.recommendation.strategy, now.recommendation.strategy
    if names[0] is None or names[1] is None:
        return None, (message("causes_need_a_strategy", plan="then" if names[0] is None else "now"),)
    try:
        comparison = compare_costs(then, now, names[0], names[1])
    except NoCommonCurrency:
        return None, (message("causes_need_a_rate", then_currency=then.currency, now_currency=now.currency),)
    except ArithmeticError as error:
        return None, (message("causes_not_computable", error=str(error)),)
    moved = [amount for step in comparison.steps for part in step.parts for amount in (part.total, part.present)]
    if not all(map(math.isfinite, (*comparison.restated, *moved))):
        return None, (message("causes_not_finite"),)
    return CostAttribution(comparison.strategies, comparison.restated, comparison.new, comparison.steps), ()


def _compare_topic(topic: Topic, both: _ReviewPair) -> Iterator[PlanChange]:
    if topic == "workload":
        yield from _compare_workloads(both)
        return
    then, now = (_select_facts(side, topic) for side in (both.then, both.now))
    if topic == "month":
        if not (then and now):
            return
        yield from _compare_common_months(both, then, now)
    for subject in _order_subjects(topic, then, now):
        old, new = then.get(subject), now.get(subject)
        if (old is None or new is None) and topic in both.in_both:
            continue
        change = _build_change(topic, subject, old, new, _explain_change(both, topic, old, new))
        if topic in ALWAYS_LISTED_TOPICS or not _is_same(both, topic, old, new):
            yield change


def _select_facts(side: ReviewRecord, topic: Topic) -> dict[str, ReviewFact]:
    return {fact.subject: fact for fact in side.facts if fact.topic == topic}


def _order_subjects(topic: Topic, then: Mapping[str, ReviewFact], now: Mapping[str, ReviewFact]) -> Sequence[str]:
    """As the new plan has them, those that are gone after them; months and purchases by the calendar."""
    subjects = list(dict.fromkeys((*now, *then)))
    return sorted(subjects) if topic in ("month", "purchase") else subjects


def _build_change(
    topic: Topic, subject: str, old: ReviewFact | None, new: ReviewFact | None, why: Message | None
) -> PlanChange:
    units = [fact.unit for fact in (old, new) if fact is not None]
    unit = " -> ".join(dict.fromkeys(units))
    then, now = (fact.value if fact else None for fact in (old, new))
    if len(set(units)) > 1:
        return PlanChange(topic, subject, then, now, None, unit, message("units_differ", why=why))
    return PlanChange(topic, subject, then, now, _subtract_values(then, now), unit, why)


def _subtract_values(then: ComparedValue, now: ComparedValue) -> float | None:
    """Now - then of two figures; 0 where they are the same but for rounding."""
    if not isinstance(then, float | int) or not isinstance(now, float | int):
        return None
    if math.isclose(then, now, rel_tol=VALUE_TOLERANCE, abs_tol=1e-12):
        return 0.0
    return now - then if math.isfinite(now - then) else None


def _is_same(both: _ReviewPair, topic: Topic, old: ReviewFact | None, new: ReviewFact | None) -> bool:
    """Gaps are the same by name: their effects hold values of the plan."""
    if old is None or new is None:
        return False
    if topic == "gap":
        return True
    if old.unit != new.unit:
        return _is_converted(both, old, new)
    return old.value == new.value or _subtract_values(old.value, new.value) == 0.0


def _is_converted(both: _ReviewPair, old: ReviewFact, new: ReviewFact) -> bool:
    """Whether only the currency is another: an amount that is the same at the rate is no change."""
    if both.rate is None or not isinstance(old.value, float | int):
        return False
    unit = old.unit.replace(both.then.currency, both.now.currency, 1)
    return unit == new.unit and _subtract_values(old.value * both.rate, new.value) == 0.0


def _explain_change(both: _ReviewPair, topic: Topic, old: ReviewFact | None, new: ReviewFact | None) -> Message | None:
    if topic == "month":
        return None if old and new else message("month_of_one_plan", plan="then" if old else "now")
    if topic == "purchase":
        return _explain_purchase(both, old, new)
    if topic == "gap":
        return message("gap_opened", effect=new.note) if new else message("gap_closed", effect=old.note if old else "")
    return _explain_source(old, new)


def _explain_purchase(both: _ReviewPair, old: ReviewFact | None, new: ReviewFact | None) -> Message | None:
    if old is None:
        return message("purchase_added")
    if new is not None:
        return None
    if old.subject.startswith(both.now.month_names):
        return message("purchase_dropped")
    return message("purchase_outside_new_plan")


def _explain_source(old: ReviewFact | None, new: ReviewFact | None) -> Message | None:
    """Where the values are from."""
    if old is None or new is None:
        return (
            message("fact_added", source=new.note) if new else message("fact_removed", source=old.note if old else "")
        )
    if old.note == new.note:
        return message("source_unchanged", source=old.note) if old.note else None
    return message("source_changed", then_source=old.note, now_source=new.note)


def _compare_common_months(
    both: _ReviewPair, then: Mapping[str, ReviewFact], now: Mapping[str, ReviewFact]
) -> Iterator[PlanChange]:
    """Where the plans cover different months: the payments of each in those that both have."""
    if both.then.month_names == both.now.month_names or not both.common:
        return
    old, new = (
        ReviewFact("month", "", _sum_months(facts, both.common), side.currency)
        for facts, side in ((then, both.then), (now, both.now))
    )
    subject = f"{month_span(both.common)}, months that both have"
    yield _build_change("month", subject, old, new, message("common_months_only"))


def _sum_months(facts: Mapping[str, ReviewFact], months: Sequence[str]) -> float:
    values = (facts[month].value for month in months if month in facts)
    return math.fsum(value for value in values if isinstance(value, float | int))


def _compare_workloads(both: _ReviewPair) -> Iterator[PlanChange]:
    """Requested work by workload, over the months that both plans have; over all of each where they share none."""
    for name in dict.fromkeys((*both.now.work, *both.then.work)):
        then, now = (_select_months(side, name, both.common) for side in (both.then, both.now))
        old, new = (
            None if demand is None else ReviewFact("workload", name, math.fsum(demand), side.work[name][0])
            for demand, side in ((then, both.then), (now, both.now))
        )
        changed = [m for m, a, b in zip(both.common, then or (), now or (), strict=False) if _subtract_values(a, b)]
        if _is_same(both, "workload", old, new) and not changed:
            continue
        why = message(
            "work_compared",
            status="added" if then is None else "removed" if now is None else "changed",
            months=both.common,
            changed_months=changed if len(changed) < len(both.common) else (),
        )
        yield _build_change("workload", name, old, new, why)


def _select_months(side: ReviewRecord, name: str, common: Sequence[str]) -> list[float] | None:
    """The demand of a workload in the common months, in all months where there are none; None without the workload."""
    if name not in side.work:
        return None
    demand = dict(zip(side.month_names, side.work[name][1], strict=True))
    return [demand[month] for month in common or side.month_names]


def _note_renamed_workloads(names: Mapping[str, str]) -> Iterator[Message]:
    if names:
        yield message("workloads_renamed", names=[f"{old} is now {new}" for old, new in names.items()])


def _list_notes(both: _ReviewPair, causes: CostAttribution | None) -> Iterator[Message]:
    then, now = both.then, both.now
    if then.month_names != now.month_names:
        yield message(
            "months_differ", then_months=then.month_names, now_months=now.month_names, common_months=both.common
        )
        if causes:
            yield message("causes_match_months_by_place", then_month=then.month_names[0], now_month=now.month_names[0])
    if then.currency != now.currency:
        yield message(
            "currencies_differ", then_currency=then.currency, now_currency=now.currency, exchange_rate=both.rate
        )
    if causes and causes.strategies[0] != causes.strategies[1]:
        yield message(
            "recommended_strategies_differ", then_strategy=causes.strategies[0], now_strategy=causes.strategies[1]
        )
    if causes and then.currency != now.currency:
        total, present = causes.restated
        yield message(
            "causes_start_from_converted_costs", currency=now.currency, total_cost=total, present_cost=present
        )


def _note_unmatched_prices(both: _ReviewPair) -> Iterator[Message]:
    """The number of prices that only one of the plans names: they are no changes."""
    old, new = (set(_select_facts(side, "price")) for side in (both.then, both.now))
    if "price" in both.then.topics and old != new:
        yield message("prices_of_one_plan", then_only=len(old - new), now_only=len(new - old))
