"""A plan's cost compared with a price calculator's estimate or with a bill's present spend: a note of the plan."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.inputs.parsed_file import CalculatorEstimate, ParsedFile, PresentSpend
from planner.result import Plan
from pricing.counted_nouns import format_count

UNCOMPARED_CATEGORIES = ("cloud_support", "tax")
"""Payments of a plan that the accelerator lines of a bill do not contain: bills list support and tax separately."""


def add_savings_note(plan: Plan, source: ParsedFile) -> Plan:
    """The plan with a note on its savings; unchanged where its input is neither a calculator's export nor a bill."""
    if source.present is None and not source.estimated:
        return plan
    has_others = source.present is None and len(source.tables) > len(source.estimated)
    currencies = {source.present.currency} if source.present else {each.currency for each in source.estimated}
    subject = "present spend" if source.present else "estimate"
    if plan.status == "infeasible" or plan.recommendation.strategy is None:
        note = f"not compared with the {subject}: there is no plan"
    elif has_others:
        note = f"not compared with the {subject}: the plan has further workloads"
    elif currencies != {plan.currency}:
        unknown = "an unknown currency" if source.present else "several currencies"
        listed = ", ".join(sorted(each or unknown for each in currencies))
        note = f"not compared with the {subject}: it is in {listed}, the plan in {plan.currency} (see --currency)"
    elif source.present is not None:
        note = _compare_with_bill(plan, plan.recommendation.strategy, source.present)
    else:
        note = _compare_with_estimate(plan, plan.recommendation.strategy, source.estimated)
    return replace(plan, inputs=replace(plan.inputs, notes=(*plan.inputs.notes, note)))


def _compare_with_bill(plan: Plan, strategy: str, present: PresentSpend) -> str:
    best = plan.strategy(strategy)
    uncompared = math.fsum(row.amount for row in best.cash if row.category in UNCOMPARED_CATEGORIES)
    sunk = present.sunk_cost(plan.month_names)
    before, after = present.projected_cost(plan.months), best.total_cost - uncompared + sunk
    saving = before - after
    share = f" ({abs(saving) / abs(before):.0%})" if before else ""
    parts = [f"{best.total_cost:,.2f} to pay"]
    parts += [f"less {uncompared:,.2f} of support and tax, which the bill lists separately"] if uncompared else []
    parts += [f"with {sunk:,.2f} paid already for commitments in force"] if sunk else []
    remaining = (
        f"; the remaining payments for commitments that the plan does not include, {present.loose_per_month:,.2f} a "
        "month for as long as they run, reduce that"
    )
    return (
        f"present spend against plan, over {format_count(plan.months, 'month')} in {plan.currency}: continuing "
        f"as today costs "
        f"{before:,.2f} ({present.view}; each hour at its present cost, commitments renewed as they are), the "
        f"recommended plan ({best.name}) {after:,.2f} ({', '.join(parts)}): it "
        f"{'saves' if saving >= 0 else 'costs more by'} {abs(saving):,.2f}{share}"
        f"{remaining if present.loose_per_month else ''}"
    )


def _compare_with_estimate(plan: Plan, strategy: str, estimates: tuple[CalculatorEstimate, ...]) -> str:
    before, best = math.fsum(estimated_cost(each, plan.months) for each in estimates), plan.strategy(strategy)
    saving = before - best.total_cost
    share = f" ({abs(saving) / before:.0%})" if before else ""
    return (
        f"estimate against plan, cash over {format_count(plan.months, 'month')} in {plan.currency}: the "
        f"accelerator lines of the "
        f"estimate cost {before:,.0f}, the recommended plan ({best.name}) {best.total_cost:,.0f}: "
        f"{abs(saving):,.0f} {'less' if saving >= 0 else 'more'}{share}"
    )


def estimated_cost(estimated: CalculatorEstimate, months: int) -> float:
    """The cost of the accelerator lines over `months`: upfront amounts once a term, or once where no term is known."""
    upfront = [amount * (math.ceil(months / term) if term else 1) for amount, term in estimated.upfront]
    return math.fsum([estimated.per_month * months, *upfront])
