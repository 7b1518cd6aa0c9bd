"""The record of a review: values and texts of a plan as a flat list of facts, so that any two reviews can be compared,
wherever they were read from.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date

from planner.request.calendar import name_month
from planner.result import Plan, Strategy
from planner.result.comparison import TOPIC_TITLES, ComparedValue, Topic
from planner.result.message import Message
from pricing.frozen_values import dataclass

NOT_POSSIBLE = "not possible"
RECOMMENDED = "recommended"
RECOMMENDED_STRATEGY = "recommended strategy"
PURCHASE_UNITS = {"node": "nodes", "node_day": "days of a node"}
"""Purchases are counted in these, a commitment to an amount in money an hour."""


@dataclass(frozen=True, slots=True)
class ReviewFact:
    """One value or text of a plan; `note` is its source."""

    topic: Topic
    subject: str
    value: ComparedValue
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """The facts of a plan for a review. `strategy` is the recommended one, "" where there is none; `work` has the unit
    and the work of each month by workload; `topics` are those that were recorded, `notes` are remarks for the reader.
    """

    plan_id: str
    as_of: date
    month_names: tuple[str, ...]
    currency: str
    strategy: str
    facts: tuple[ReviewFact, ...]
    work: Mapping[str, tuple[str, tuple[float, ...]]]
    topics: frozenset[Topic]
    notes: tuple[Message, ...] = ()


def build_review_record(plan: Plan) -> ReviewRecord:
    """The record of `plan`."""
    name = plan.recommendation.strategy
    facts = [*_list_cost_facts(plan), build_recommendation_fact(name or "none", str(plan.recommendation.sentence))]
    if name is not None:
        facts += [*_list_month_facts(plan, plan.strategy(name)), *_list_purchase_facts(plan, plan.strategy(name))]
    facts += _list_evidence_facts(plan)
    facts += (
        build_gap_fact(gap.kind.replace("_", " "), gap.subject, str(gap.effect), gap.workload) for gap in plan.gaps
    )
    facts += [*_list_setting_facts(plan), *_list_frame_facts(plan)]
    return ReviewRecord(
        plan.plan_id,
        plan.as_of,
        plan.month_names,
        plan.currency,
        name or "",
        tuple({(fact.topic, fact.subject): fact for fact in reversed(facts)}.values())[::-1],  # the first of each name
        {workload.name: (workload.unit, workload.demand) for workload in plan.workloads},
        frozenset(TOPIC_TITLES) - (frozenset() if plan.settings is not None else {"request"}),
    )


def build_cost_facts(
    strategy: str, total: ComparedValue, present: ComparedValue, currency: str, note: str
) -> tuple[ReviewFact, ReviewFact]:
    """The costs of a strategy; NOT_POSSIBLE where there are none."""
    return (
        ReviewFact("cost", f"{strategy}: total cost", total, currency, note),
        ReviewFact("cost", f"{strategy}: present cost", present, currency, note),
    )


def build_recommendation_fact(strategy: str, sentence: str) -> ReviewFact:
    """The recommended strategy, with its sentence as note."""
    return ReviewFact("recommendation", RECOMMENDED_STRATEGY, strategy, note=sentence)


def build_purchase_fact(month: str, node: tuple[str, str, str, str], amount: float, unit: str) -> ReviewFact:
    """An order in a calendar month; the node is its name, provider, region and purchase option."""
    return ReviewFact("purchase", " ".join((f"{month}:", *(part for part in node if part))), amount, unit)


def _list_cost_facts(plan: Plan) -> Iterator[ReviewFact]:
    for s in plan.strategies:
        possible = s.status != "infeasible"
        total, present = (s.total_cost, s.present_cost) if possible else (NOT_POSSIBLE, NOT_POSSIBLE)
        note = RECOMMENDED if s.name == plan.recommendation.strategy else ""
        yield from build_cost_facts(s.name, total, present, plan.currency, note)


def _list_month_facts(plan: Plan, strategy: Strategy) -> Iterator[ReviewFact]:
    first = min([1, *(row.month for row in strategy.cash)])
    for month in range(first, plan.months + 1):
        name = name_month(plan.month_names[0], month)
        paid = math.fsum(row.amount for row in strategy.cash if row.month == month)
        yield ReviewFact("month", name, paid, plan.currency)


def _list_purchase_facts(plan: Plan, strategy: Strategy) -> Iterator[ReviewFact]:
    """Orders, rows of one node and month together."""
    amounts: dict[tuple[int, tuple[str, str, str, str], str], list[float]] = defaultdict(list)
    for p in strategy.purchases:
        unit = PURCHASE_UNITS.get(p.unit, f"{plan.currency} an hour")
        amounts[p.month, (p.name, p.provider, p.region, p.purchase_option), unit].append(p.amount)
    for (month, node, unit), each in sorted(amounts.items()):
        yield build_purchase_fact(name_month(plan.month_names[0], month), node, math.fsum(each), unit)


def _list_evidence_facts(plan: Plan) -> Iterator[ReviewFact]:
    for a in plan.assumptions:
        yield ReviewFact("assumption", a.name, a.value, a.unit, f"{a.source}, as of {a.as_of}")
    for p in plan.prices:
        subject = f"{p.provider} {p.region} {p.instance_type} {p.purchase_option}"
        yield ReviewFact("price", subject, p.price_per_hour, f"{p.currency} an hour", f"{p.source_id}, as of {p.as_of}")
    for t in plan.throughput:
        subject = f"{t.workload} on {t.accelerator}, gang of {t.gang:g}"
        yield ReviewFact("throughput", subject, t.units_per_hour, "units an hour", t.basis.replace("_", " "))


def build_gap_fact(kind: str, subject: str, effect: str, workload: str) -> ReviewFact:
    """A gap by its kind, subject and workload."""
    whose = f" ({workload})" if workload else ""
    return ReviewFact("gap", f"{kind}: {subject}{whose}", "open", note=effect)


def _list_setting_facts(plan: Plan) -> Iterator[ReviewFact]:
    for setting in plan.settings or ():
        yield ReviewFact("request", setting.name, ", ".join(setting.values))


def _list_frame_facts(plan: Plan) -> Iterator[ReviewFact]:
    yield ReviewFact("frame", "date of the plan", plan.as_of.isoformat())
    yield ReviewFact("frame", "currency", plan.currency)
    yield ReviewFact("frame", "first month", plan.month_names[0] if plan.month_names else plan.start)
    yield ReviewFact("frame", "months planned", plan.months, "months")
    yield ReviewFact("frame", "hours in a month", plan.hours_per_month, "hours")
    yield ReviewFact("frame", "strategies", ", ".join(sorted(s.name for s in plan.strategies)))
    if plan.oldest_price:
        yield ReviewFact("frame", "oldest price", plan.oldest_price.isoformat())
