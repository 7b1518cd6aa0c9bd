"""What a review keeps of a plan: its figures and texts as a flat list of facts, so that any two can be set side by
side, wherever they were read from.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from planner.answer import Plan, Purchase, RequestedWorkload, Strategy
from planner.answer.changes import TOPICS, Topic, Value

NOT_POSSIBLE = "not possible"
RECOMMENDED = "recommended"
RECOMMENDED_STRATEGY = "recommended strategy"
BOUGHT_IN = {"node": "nodes", "node_day": "days of a node"}
"""What is bought is counted in these, a commitment to an amount in money an hour."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure or text of a plan; `note` says where it is from."""

    topic: Topic
    subject: str
    value: Value
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A plan as a review keeps it. `strategy` is the recommended one, "" where there is none; `work` has the unit and
    the work of each month by workload; `topics` are those that were told, `notes` what else a reader must know.
    """

    plan_id: str
    as_of: date
    month_names: tuple[str, ...]
    currency: str
    strategy: str
    facts: tuple[Fact, ...]
    work: Mapping[str, tuple[str, tuple[float, ...]]]
    topics: frozenset[Topic]
    notes: tuple[str, ...] = ()


def record(plan: Plan) -> Record:
    """What a review keeps of `plan`."""
    name = plan.recommendation.strategy
    facts = [*_costs(plan), recommended(name or "none", plan.recommendation.sentence)]
    if name is not None:
        facts += [*_months(plan, plan.strategy(name)), *_purchases(plan, plan.strategy(name))]
    facts += [*_grounds(plan), *_gaps(plan), *_frame(plan)]
    return Record(
        plan.plan_id,
        plan.as_of,
        plan.month_names,
        plan.currency,
        name or "",
        tuple({(fact.topic, fact.subject): fact for fact in reversed(facts)}.values())[::-1],  # the first of each name
        {workload.name: _work(workload) for workload in plan.workloads},
        frozenset(TOPICS),
    )


def costs(strategy: str, total: Value, present: Value, currency: str, note: str) -> tuple[Fact, Fact]:
    """The costs of a strategy; NOT_POSSIBLE where there are none."""
    return (
        Fact("cost", f"{strategy}: total cost", total, currency, note),
        Fact("cost", f"{strategy}: present cost", present, currency, note),
    )


def recommended(strategy: str, sentence: str) -> Fact:
    """What is recommended, and in which words."""
    return Fact("recommendation", RECOMMENDED_STRATEGY, strategy, note=sentence)


def bought(month: str, node: tuple[str, str, str, str], amount: float, unit: str) -> Fact:
    """What is ordered in a calendar month; the node is its name, provider, region and way of paying."""
    return Fact("purchase", " ".join((f"{month}:", *(part for part in node if part))), amount, unit)


def _costs(plan: Plan) -> Iterator[Fact]:
    for s in plan.strategies:
        possible = s.status != "infeasible"
        total, present = (s.total_cost, s.present_cost) if possible else (NOT_POSSIBLE, NOT_POSSIBLE)
        note = RECOMMENDED if s.name == plan.recommendation.strategy else ""
        yield from costs(s.name, total, present, plan.currency, note)


def _months(plan: Plan, strategy: Strategy) -> Iterator[Fact]:
    for month, name in enumerate(plan.month_names, start=1):
        paid = math.fsum(row.amount for row in strategy.cash if row.month == month)
        yield Fact("month", name, paid, plan.currency)


def _purchases(plan: Plan, strategy: Strategy) -> Iterator[Fact]:
    """What is ordered, rows of one node and month together."""
    amounts: dict[tuple[int, tuple[str, str, str, str], str], list[float]] = defaultdict(list)
    for p in strategy.purchases:
        amounts[p.month, (p.name, p.provider, p.region, p.purchase_option), _unit(p, plan.currency)].append(p.amount)
    for (month, node, unit), each in sorted(amounts.items()):
        yield bought(plan.month_names[month - 1], node, math.fsum(each), unit)


def _unit(purchase: Purchase, currency: str) -> str:
    return BOUGHT_IN.get(purchase.unit, f"{currency} an hour")


def _grounds(plan: Plan) -> Iterator[Fact]:
    for a in plan.assumptions:
        yield Fact("assumption", a.name, a.value, a.unit, f"{a.source}, as of {a.as_of}")
    for p in plan.prices:
        subject = f"{p.provider} {p.region} {p.instance_type} {p.purchase_option}"
        yield Fact("price", subject, p.price_per_hour, f"{p.currency} an hour", f"{p.source_id}, as of {p.as_of}")
    for t in plan.throughput:
        subject = f"{t.workload} on {t.accelerator}, gang of {t.gang:g}"
        yield Fact("throughput", subject, t.units_per_hour, "units an hour", t.basis.replace("_", " "))


def _gaps(plan: Plan) -> Iterator[Fact]:
    for gap in plan.gaps:
        yield gap_fact(gap.kind.replace("_", " "), gap.subject, gap.effect, gap.workload)


def gap_fact(kind: str, subject: str, effect: str, workload: str) -> Fact:
    """A gap by its kind, subject and workload."""
    whose = f" ({workload})" if workload else ""
    return Fact("gap", f"{kind}: {subject}{whose}", "open", note=effect)


def _frame(plan: Plan) -> Iterator[Fact]:
    yield Fact("frame", "date of the plan", plan.as_of.isoformat())
    yield Fact("frame", "currency", plan.currency)
    yield Fact("frame", "first month", plan.month_names[0] if plan.month_names else plan.start)
    yield Fact("frame", "months planned", plan.months, "months")
    yield Fact("frame", "hours in a month", plan.hours_per_month, "hours")
    yield Fact("frame", "strategies", ", ".join(sorted(s.name for s in plan.strategies)))
    if plan.oldest_price:
        yield Fact("frame", "oldest price", plan.oldest_price.isoformat())


def _work(workload: RequestedWorkload) -> tuple[str, tuple[float, ...]]:
    return workload.unit, workload.demand
