"""What changed since the last review: the facts of two plans side by side, and why the cost is another.

Like is set beside like: months by their calendar names, work over the months that both plans have, amounts of one
currency only. What cannot be subtracted is shown and not subtracted, and the notes say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.analysis.comparison.cost_comparison import compare_costs
from planner.analysis.comparison.currency_conversion import NoCommonCurrency, find_comparison_rates
from planner.analysis.comparison.review_record import ReviewFact, ReviewRecord, build_review_record
from planner.result import Plan
from planner.result.comparison import TOPIC_TITLES, Changes, ComparedValue, CostAttribution, PlanChange, Topic

ALWAYS_LISTED_TOPICS: frozenset[Topic] = frozenset({"cost", "recommendation", "month"})
"""Topics told also where nothing changed."""
COMMON_FACT_TOPICS: frozenset[Topic] = frozenset({"price", "throughput", "frame"})
"""Topics where a fact that only one plan has says no more than that the other did not need it."""
VALUE_TOLERANCE = 1e-9
"""Of a figure: what differs by less is the rounding of a file or of the solver."""
NOT_SUBTRACTED = "another unit: not subtracted"
WORKBOOK_PARTIAL_TOPICS: frozenset[Topic] = frozenset({"assumption"})
"""Topics of which a workbook may tell less than its plan."""
NO_PLAN_NOTE = (
    "then is read from the cells of the last review's workbook as it was saved, edits included; causes that add up "
    "need its plan.json"
)


@dataclass(frozen=True, slots=True)
class _ReviewPair:
    """Both reviews, and the calendar months that both have; `rate` is what an amount then is multiplied by to be in
    the currency of now, None where there is one currency or nothing tells.
    """

    then: ReviewRecord
    now: ReviewRecord
    common: tuple[str, ...]
    in_both: frozenset[Topic]
    rate: float | None

    @property
    def span(self) -> str:
        return _format_span(self.common)


def list_changes(then: Plan | ReviewRecord, now: Plan) -> Changes:
    """What changed from the last review to the plan `now`; causes only where `then` is a whole plan."""
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
    causes, why_not = _find_causes(then, now)
    topic_changes = [change for topic in TOPIC_TITLES if topic in old.topics for change in _compare_topic(topic, both)]
    return Changes(
        old.plan_id,
        old.as_of,
        old.month_names,
        old.currency,
        old.strategy,
        tuple(topic_changes),
        causes,
        (*_list_notes(both, causes), *why_not, *_note_unmatched_prices(both)),
    )


def _conversion_rate(then: Plan | ReviewRecord, now: Plan) -> float | None:
    if isinstance(then, ReviewRecord) or then.currency == now.currency:
        return None
    try:
        return find_comparison_rates(then, now).join
    except (NoCommonCurrency, ArithmeticError):
        return None


def _find_causes(then: Plan | ReviewRecord, now: Plan) -> tuple[CostAttribution | None, tuple[str, ...]]:
    """The causes of the difference between what each plan recommends; None, and why, where they cannot be told."""
    if isinstance(then, ReviewRecord):
        return None, (NO_PLAN_NOTE, *then.notes)
    names = then.recommendation.strategy, now.recommendation.strategy
    if names[0] is None or names[1] is None:
        return None, (f"causes cannot be told: {'then' if names[0] is None else 'now'} no strategy is possible",)
    try:
        comparison = compare_costs(then, now, names[0], names[1])
    except NoCommonCurrency as error:
        return None, (f"causes cannot be told: {error}",)
    except ArithmeticError as error:
        return None, (f"causes cannot be told, from figures that nothing can be computed with: {error}",)
    moved = [amount for step in comparison.steps for part in step.parts for amount in (part.total, part.present)]
    if not all(map(math.isfinite, (*comparison.restated, *moved))):
        return None, ("causes cannot be told: they come to no number",)
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
    """As the new plan has them, those that are gone after them; months and what is bought in them by the calendar."""
    subjects = list(dict.fromkeys((*now, *then)))
    return sorted(subjects) if topic in ("month", "purchase") else subjects


def _build_change(topic: Topic, subject: str, old: ReviewFact | None, new: ReviewFact | None, why: str) -> PlanChange:
    units = [fact.unit for fact in (old, new) if fact is not None]
    unit = " -> ".join(dict.fromkeys(units))
    then, now = (fact.value if fact else None for fact in (old, new))
    if len(set(units)) > 1:
        return PlanChange(topic, subject, then, now, None, unit, f"{NOT_SUBTRACTED}; {why}".removesuffix("; "))
    return PlanChange(topic, subject, then, now, _subtract_values(then, now), unit, why)


def _subtract_values(then: ComparedValue, now: ComparedValue) -> float | None:
    """Now - then of two figures; 0 where they are the same but for rounding."""
    if not isinstance(then, float | int) or not isinstance(now, float | int):
        return None
    if math.isclose(then, now, rel_tol=VALUE_TOLERANCE, abs_tol=1e-12):
        return 0.0
    return now - then if math.isfinite(now - then) else None


def _is_same(both: _ReviewPair, topic: Topic, old: ReviewFact | None, new: ReviewFact | None) -> bool:
    """Gaps are the same by name: their words hold figures of the plan."""
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


def _explain_change(both: _ReviewPair, topic: Topic, old: ReviewFact | None, new: ReviewFact | None) -> str:
    special = {"month": _explain_month, "purchase": _explain_purchase, "gap": _explain_gap}
    return special.get(topic, _explain_source)(both, old, new)


def _explain_month(_: _ReviewPair, old: ReviewFact | None, new: ReviewFact | None) -> str:
    return "" if old and new else f"a month of the {'last review' if old else 'new plan'} only"


def _explain_purchase(both: _ReviewPair, old: ReviewFact | None, new: ReviewFact | None) -> str:
    if old is None:
        return "new"
    if new is not None:
        return ""
    is_over = not old.subject.startswith(both.now.month_names)
    return "ordered in a month that the new plan does not cover" if is_over else "no longer planned"


def _explain_gap(_: _ReviewPair, old: ReviewFact | None, new: ReviewFact | None) -> str:
    return f"new: {new.note}" if new else f"closed: {old.note}" if old else ""


def _explain_source(_: _ReviewPair, old: ReviewFact | None, new: ReviewFact | None) -> str:
    """Where the figures are from."""
    if old is None or new is None:
        words, fact = ("new", new) if old is None else ("gone", old)
        return f"{words}: {fact.note}" if fact and fact.note else words
    if old.note == new.note:
        return f"then and now: {old.note}" if old.note else ""
    return "; ".join(f"{word}: {fact.note}" for word, fact in (("then", old), ("now", new)) if fact.note)


def _compare_common_months(
    both: _ReviewPair, then: Mapping[str, ReviewFact], now: Mapping[str, ReviewFact]
) -> Iterator[PlanChange]:
    """Where the plans cover unlike months: what both pay in those that both have."""
    if both.then.month_names == both.now.month_names or not both.common:
        return
    old, new = (
        ReviewFact("month", "", _sum_months(facts, both.common), side.currency)
        for facts, side in ((then, both.then), (now, both.now))
    )
    subject = f"{both.span}, months that both have"
    yield _build_change("month", subject, old, new, "like for like: payments of other months left out")


def _sum_months(facts: Mapping[str, ReviewFact], months: Sequence[str]) -> float:
    values = (facts[month].value for month in months if month in facts)
    return math.fsum(value for value in values if isinstance(value, float | int))


def _compare_workloads(both: _ReviewPair) -> Iterator[PlanChange]:
    """Work asked for by workload, over the months that both plans have; over all of each where they share none."""
    for name in dict.fromkeys((*both.now.work, *both.then.work)):
        old, new = (_build_work_fact(side, name, both.common) for side in (both.then, both.now))
        if not _is_same(both, "workload", old, new) or _list_changed_months(both, name):
            yield _build_change("workload", name, old, new, _explain_workload(both, name))


def _build_work_fact(side: ReviewRecord, name: str, common: Sequence[str]) -> ReviewFact | None:
    if name not in side.work:
        return None
    unit, demand = side.work[name]
    return ReviewFact("workload", name, math.fsum(_select_months(side, demand, common)), unit)


def _select_months(side: ReviewRecord, demand: Sequence[float], common: Sequence[str]) -> list[float]:
    named = dict(zip(side.month_names, demand, strict=True))
    return [named[month] for month in common] if common else list(demand)


def _list_changed_months(both: _ReviewPair, name: str) -> list[str]:
    """The months that both plans have in which a workload of both asks for other work."""
    if not (name in both.then.work and name in both.now.work):
        return []
    old, new = (_select_months(side, side.work[name][1], both.common) for side in (both.then, both.now))
    return [month for month, a, b in zip(both.common, old, new, strict=False) if _subtract_values(a, b)]


def _explain_workload(both: _ReviewPair, name: str) -> str:
    months = both.span or "all months of each plan"
    if name not in both.then.work:
        return f"new, work of {months}"
    if name not in both.now.work:
        return f"gone, work of {months}"
    moved = _list_changed_months(both, name)
    listed = moved[0] if len(moved) == 1 else f"{len(moved)} months, {moved[0]} first" if moved else ""
    return f"work of {months}" + (f", other in {listed}" if listed and len(moved) < len(both.common) else "")


def _list_notes(both: _ReviewPair, causes: CostAttribution | None) -> Iterator[str]:
    then, now = both.then, both.now
    if then.month_names != now.month_names:
        shared = f"the {len(both.common)} months that both have, {both.span}" if both.common else "no month is in both"
        yield (
            f"then {_format_span(then.month_names)}, now {_format_span(now.month_names)}: payments and work "
            "are set side by side by "
            f"calendar month ({shared})"
        )
        if causes:
            yield f"causes set the months side by side by their place: {then.month_names[0]} with {now.month_names[0]}"
    if then.currency != now.currency:
        alike = "" if both.rate is None else f"; what is the same at {both.rate:.6g} is no change"
        yield f"then in {then.currency}, now in {now.currency}: amounts are not subtracted from one another{alike}"
    if causes and causes.strategies[0] != causes.strategies[1]:
        yield f"causes lead from {causes.strategies[0]}, recommended then, to {causes.strategies[1]}, recommended now"
    if causes and then.currency != now.currency:
        total, present = causes.restated
        yield (
            f"causes start from the costs of the last review in {now.currency}, at that rate: total {total:,.2f}, "
            f"present {present:,.2f}"
        )


def _note_unmatched_prices(both: _ReviewPair) -> Iterator[str]:
    """How many prices are named by one of the plans only: they are no changes."""
    sides = [set(_select_facts(side, "price")) for side in (both.then, both.now)]
    if "price" in both.then.topics and sides[0] != sides[1]:
        yield (
            f"prices are compared where both plans name them; {len(sides[0] - sides[1]):,} were named then only, "
            f"{len(sides[1] - sides[0]):,} now only"
        )


def _format_span(months: Sequence[str]) -> str:
    if not months:
        return ""
    return months[0] if len(months) == 1 else f"{months[0]}..{months[-1]}"
