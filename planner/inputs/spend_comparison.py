"""What a plan costs against what a price calculator said of the same demand: words for the plan's input notes."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.inputs.parsed_file import CalculatorEstimate, ParsedFile
from planner.inputs.present_spend import add_present_spend_note
from planner.result import Plan


def add_savings_note(plan: Plan, read: ParsedFile) -> Plan:
    """The plan with a note on what it saves; as it is where the file is no calculator's export and no bill."""
    if read.present is not None:
        return add_present_spend_note(plan, read.present)
    if not read.estimated:
        return plan
    note = _format_savings_note(plan, read.estimated, has_more=len(read.tables) > len(read.estimated))
    return replace(plan, inputs=replace(plan.inputs, notes=(*plan.inputs.notes, note)))


def _format_savings_note(plan: Plan, estimates: tuple[CalculatorEstimate, ...], *, has_more: bool) -> str:
    currencies = {each.currency for each in estimates}
    chosen = plan.recommendation.strategy
    if plan.status == "infeasible" or chosen is None:
        return "not held against the estimate: there is no plan"
    if has_more:
        return "not held against the estimate: the plan has workloads beside those of the estimate"
    if currencies != {plan.currency}:
        stated = ", ".join(sorted(each or "several currencies" for each in currencies))
        return f"not held against the estimate: it is in {stated}, the plan in {plan.currency} (see --currency)"
    there = math.fsum(estimated_cost(each, plan.months) for each in estimates)
    best = plan.strategy(chosen)
    less = there - best.total_cost
    share = f" ({abs(less) / there:.0%})" if there else ""
    words = "less" if less >= 0 else "more"
    return (
        f"estimate against plan, cash over {plan.months} months in {plan.currency}: the accelerator lines cost "
        f"{there:,.0f} there, the recommended plan ({best.name}) {best.total_cost:,.0f}: "
        f"{abs(less):,.0f} {words}{share}"
    )


def estimated_cost(estimated: CalculatorEstimate, months: int) -> float:
    """What the accelerator lines cost over `months`: upfront amounts once a term, once where no term is told."""
    again = [amount * (math.ceil(months / term) if term else 1) for amount, term in estimated.upfront]
    return math.fsum([estimated.per_month * months, *again])
