"""The first screen of every report: decision and reason, cash, cost centres, orders, risks, and doubts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from planner.reports._content.call_prices import call_sentences
from planner.reports._content.cash_flow import cash_periods_section
from planner.reports._content.changes import change_sentences
from planner.reports._content.cost_centres import cost_centre_section
from planner.reports._content.evidence import price_age_text
from planner.reports._content.number_format import (
    format_money,
    format_number,
    format_percent,
    in_words,
    month_name,
)
from planner.reports._content.risk import nearest_flip
from planner.reports._content.sections import (
    Section,
    against_runner_up,
    headline,
    make_bullets,
    make_table,
    place_text,
    plan_frame,
    recommended_strategy,
    status_text,
)
from planner.result import Plan, Purchase, Strategy, describe_amount
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass
from pricing.plain_text import truncate_text

LISTED_MAX, ORDERS_MIN, RISKS_MAX = 8, 4, 5
"""Lines of each list, orders that are listed in any case, and risks."""
SENTENCE_MAX, REMARK_MAX = 210, 320
"""Characters: two lines of a terminal, and three."""
RISK_CODES = ("owed_whatever_is_used", "resale_counted", "term_price_unknown", "owned_used_briefly", "not_told_apart")
"""Reasons of a recommendation that tell what may go wrong with it."""
KINDS_MAX = 3
"""Kinds of gaps that are named."""
BLANK = "blank"


def first_screen(plan: Plan, listed: int) -> list[Section]:
    """Its sections, with at most `listed` lines in each list."""
    chosen = recommended_strategy(plan)
    sections: list[Section | None] = [_decision_section(plan, listed)]
    if chosen is not None:
        sections += [
            cash_periods_section(plan, chosen),
            cost_centre_section(plan, listed),
            _orders_section(plan, chosen, listed),
            Section("Risks, the largest first", (make_bullets(risks),))
            if (risks := risk_sentences(plan, chosen))
            else None,
        ]
    sections.append(Section("Not understood, missing or old", (make_bullets(doubt_sentences(plan, listed)),)))
    return [section for section in sections if section is not None]


def _decision_section(plan: Plan, listed: int) -> Section:
    """The recommendation, what it does better than its rival, and the remarks that are no risk."""
    chosen = plan.recommendation
    facts = [_against_rival(plan)] if chosen.runner_up else []
    facts += [
        f"{plan_frame(plan)} {_search_text(plan)}".rstrip(),
        *(f"Converted at {rate.words}." for rate in plan.exchange_rates),
    ]
    facts += [*change_sentences(plan), *list(call_sentences(plan))[:listed]]
    others = [str(reason) for reason in (*chosen.reasons, *plan.reasons) if reason.code not in RISK_CODES]
    if chosen.strategy is None:
        others = [str(reason) for reason in (*chosen.reasons, *plan.reasons)]
    facts += (truncate_text(text, REMARK_MAX) for text in others[:listed])
    if len(others) > listed:
        facts.append(f"{format_count(len(others) - listed, 'more remark')}: --section recommendation.")
    return Section("Recommendation", (headline(plan), make_bullets(facts)))


def _search_text(plan: Plan) -> str:
    """How the search of the recommended strategy ended."""
    chosen = recommended_strategy(plan)
    if chosen is None:
        return ""
    gap = f", at most {format_percent(chosen.gap_fraction or 0.0, 2)} above the bound"
    gap = gap if round(chosen.gap_fraction or 0.0, 4) else ""
    return f"{chosen.name}: {status_text(chosen)}{gap}."


def _against_rival(plan: Plan) -> str:
    """The costs of the recommended strategy and its runner-up, and most of the difference."""
    steps = sorted(plan.views.bridge, key=lambda step: -step.difference)
    saved = [
        f"{in_words(step.category)} {format_money(step.difference)}" for step in steps if round(step.difference) > 0
    ]
    costlier = [
        f"{'lost ' if step.category == 'resale' else ''}{in_words(step.category)} {format_money(-step.difference)}"
        for step in reversed(steps)
        if round(step.difference) < 0
    ]
    parts = [f"saves {' and '.join(saved[:2])}"] if saved else []
    parts += [f"pays {' and '.join(costlier[:2])} more"] if costlier else []
    difference = f" It {', '.join(parts)} (present cost)." if parts else ""
    return f"{against_runner_up(plan)}{difference}"


@dataclass(frozen=True, slots=True)
class PlannedOrder:
    """Something to order, commit to or request by the start of a month; amounts are for all of it."""

    month: int
    title: str
    where: str
    usable_from: str = ""
    usable_to: str = ""
    upfront: float | None = None
    per_month: float | None = None
    cash: float = 0.0
    """What all of it costs in the plan."""
    purchase: Purchase | None = None
    """The purchase; None for a quota."""


def list_orders(plan: Plan, chosen: Strategy) -> list[PlannedOrder]:
    """Purchases, commitments and quotas to request, in order of time."""
    orders = [
        PlannedOrder(
            p.month,
            f"{describe_amount(p.amount, p.unit, plan.currency)} {p.name}"
            + ("" if p.what == "owned" else f" {p.purchase_option}"),
            place_text(p),
            month_name(plan, p.usable_from),
            month_name(plan, p.usable_to),
            p.upfront,
            p.per_month,
            p.upfront + p.per_month * (p.usable_to - p.usable_from + 1),
            p,
        )
        for p in chosen.purchases
    ]
    orders += [
        PlannedOrder(q.first_month, f"quota {q.title}: raise to {format_number(q.ask_for)}", f"{q.provider} {q.region}")
        for q in plan.quota_requests
        if q.strategy == chosen.name
    ]
    return sorted(orders, key=lambda order: order.month)


def _orders_section(plan: Plan, chosen: Strategy, listed: int) -> Section:
    """Orders, in order of time; those left out cost least, and stand together in the last line."""
    title, orders = f"What to order by when, {plan.currency}", list_orders(plan, chosen)
    if not orders:
        return Section(title, ("Nothing: all of it is rented by the hour.",))
    most = max(ORDERS_MIN, listed)
    by_cost = sorted(range(len(orders)), key=lambda n: (-orders[n].cash, n))
    shown = set(by_cost if len(orders) <= most else by_cost[: most - 1])
    lines = [order for n, order in enumerate(orders) if n in shown]
    others = [order for n, order in enumerate(orders) if n not in shown]
    if others:
        upfront, per_month = (math.fsum(amounts) for amounts in zip(*map(_order_amounts, others), strict=True))
        more = PlannedOrder(others[0].month, f"{len(others)} more", "--section purchases", "", "", upfront, per_month)
        lines.append(more)
    cells = [
        (
            month_name(plan, order.month) + (" on" if n == len(shown) else ""),
            f"{order.title}, {order.where}",
            order.usable_from,
            *("" if amount is None else format_money(amount) for amount in (order.upfront, order.per_month)),
        )
        for n, order in enumerate(lines)
    ]
    return Section(title, (make_table(("by", "order", "usable from", "upfront", "per month"), cells, (3, 4)),))


def _order_amounts(order: PlannedOrder) -> tuple[float, float]:
    return order.upfront or 0.0, order.per_month or 0.0


Stake = Literal["committed", "resale", "slower", "spot", "idle", "lead"]
"""What the money at stake in a risk is: all commitments, the present value of resale, the slow end of throughputs, spot
capacity, idle hours, or the lead over the runner-up."""


@dataclass(frozen=True, slots=True)
class PlanRisk:
    """A risk in a sentence, with the money at stake."""

    stake: Stake
    amount: float
    text: str


def risk_sentences(plan: Plan, chosen: Strategy) -> list[str]:
    """The largest risks, by the money at stake."""
    return [risk.text for risk in list_risks(plan, chosen)[:RISKS_MAX]]


def list_risks(plan: Plan, chosen: Strategy) -> list[PlanRisk]:
    """Every risk, that with the most money at stake first."""
    risks = sorted(_find_risks(plan, chosen), key=lambda risk: -risk.amount)
    return [replace(risk, text=truncate_text(risk.text, SENTENCE_MAX)) for risk in risks]


def _find_risks(plan: Plan, chosen: Strategy) -> Iterator[PlanRisk]:
    total, money = chosen.total_cost, plan.currency
    for reason in plan.recommendation.reasons:
        if reason.code in RISK_CODES:
            stakes: dict[Stake, object] = {name: reason.parameters.get(name) for name in ("committed", "resale")}
            known = [(name, stake) for name, stake in stakes.items() if isinstance(stake, float)]
            stake, amount = known[0] if known else ("lead", abs(plan.recommendation.worth))
            yield PlanRisk(stake, amount, str(reason))
    spread = [(w.cost_high - w.cost, w.workload) for w in chosen.workloads if w.cost_high > w.cost]
    if spread:
        more, (largest, name) = math.fsum(cost for cost, _ in spread), max(spread)
        text = f"The throughput of {format_count(len(spread), 'workload')} is predicted: at the slow end of the 80 %"
        text += " interval they cost"
        text += f" {format_money(more)} {money} more, the most {name} ({format_money(largest)}). Measure that first."
        yield PlanRisk("slower", more, text)
    spot = math.fsum(row.amount for row in chosen.cash if row.category == "spot")
    if spot > 0:
        names = {use.workload for use in chosen.uses if use.purchase_option == "spot"}
        part = f"{format_money(spot)} {money} ({format_percent(spot / total)})"
        users = format_count(len(names), "workload")
        yield PlanRisk("spot", spot, f"{part} is spot capacity for {users}: it may be taken back or not be there.")
    idle = math.fsum(row.idle for row in plan.views.cost_centres)
    if round(idle):
        part = f"{format_money(idle)} {money} ({format_percent(idle / total)})"
        yield PlanRisk("idle", idle, f"{part} pays for hours that nobody uses.")
    if plan.recommendation.runner_up and (flip := nearest_flip(plan)):
        yield PlanRisk("lead", abs(plan.recommendation.worth), f"The advice may turn: {flip}")


def doubt_sentences(plan: Plan, listed: int = LISTED_MAX) -> list[str]:
    """Rows that were left out, how doubtful cells were read, and how much is missing, estimated or old."""
    refused = [row for row in plan.inputs.rows_refused if row.reason != BLANK]
    facts = []
    if refused:
        places = ", ".join(f"{row.place} ({row.reason})" for row in refused)
        facts.append(f"{format_count(len(refused), 'row')} left out: {places}.")
    facts += plan.inputs.notes
    most = max(2, listed // 2)
    lines = [truncate_text(fact, SENTENCE_MAX) for fact in facts[:most]]
    if len(facts) > most:
        lines.append(f"{len(facts) - most} more: --section input.")
    kinds = Counter(in_words(gap.kind) for gap in plan.gaps).most_common(KINDS_MAX)
    of = f" ({', '.join(f'{count} {kind}' for kind, count in kinds)}; see Gaps)" if kinds else ""
    gaps = f"{format_count(len(plan.gaps), 'gap')}{of}" if plan.gaps else "No gaps"
    return [*lines, f"{gaps}. Oldest price used: {price_age_text(plan)}."]
