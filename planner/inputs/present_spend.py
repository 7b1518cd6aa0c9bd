"""What is spent at present, by a bill: carried on over the months of a plan, and held against what the plan costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from planner.result import Plan

UNCOMPARED_CATEGORIES = ("cloud_support", "tax")
"""Payments of a plan that a bill's accelerator lines do not hold: bills list support and tax apart."""


@dataclass(frozen=True, slots=True)
class SunkCommitment:
    """A commitment that the plan takes over: `sunk_per_month` is what it costs amortised beyond what is still owed for
    it each month, up to `ends`."""

    ends: str
    sunk_per_month: float


@dataclass(frozen=True, slots=True)
class PresentSpend:
    """What accelerators cost in a month of a plan's length, in `currency`, by the full months of a bill.

    `grows_per_month` is for hours outside commitments, which grow; `covered_per_month` for hours under them and
    `unused_per_month` for what nothing used of them, into which the covered hours grow first. `view` says whether costs
    are effective (amortised) or billed (cash): never both. `loose_per_month` is what commitments cost of it that the
    plan does not take over: they are owed beside it, for as long as they run.
    """

    view: str
    currency: str
    grows_per_month: float
    covered_per_month: float
    unused_per_month: float
    growth_per_month: float
    kept: tuple[SunkCommitment, ...] = ()
    loose_per_month: float = 0.0

    def projected_cost(self, months: int) -> float:
        """As today over a plan of `months`, each hour at its cost of today and commitments renewed as they are.

        The first month has no growth yet, as the plan's demand.
        """
        committed = self.covered_per_month + self.unused_per_month
        factors = [(1 + self.growth_per_month) ** month for month in range(months)]
        return math.fsum(self.grows_per_month * f + max(committed, self.covered_per_month * f) for f in factors)

    def sunk_cost(self, month_names: tuple[str, ...]) -> float:
        """What was paid before the plan for commitments that it uses, as far as it falls into its months."""
        return math.fsum(each.sunk_per_month * sum(name <= each.ends for name in month_names) for each in self.kept)


def add_present_spend_note(plan: Plan, present: PresentSpend) -> Plan:
    """The plan with a note on what it saves against the present spend."""
    return replace(plan, inputs=replace(plan.inputs, notes=(*plan.inputs.notes, _format_savings_note(plan, present))))


def _format_savings_note(plan: Plan, present: PresentSpend) -> str:
    if plan.status == "infeasible" or plan.recommendation.strategy is None:
        return "not held against the present spend: there is no plan"
    if present.currency != plan.currency:
        bill_currency = present.currency or "a currency that it does not tell"
        return (
            f"not held against the present spend: the bill is in {bill_currency}, the plan in "
            f"{plan.currency} (see --currency)"
        )
    best = plan.strategy(plan.recommendation.strategy)
    beside = math.fsum(row.amount for row in best.cash if row.category in UNCOMPARED_CATEGORIES)
    sunk = present.sunk_cost(plan.month_names)
    there, here = present.projected_cost(plan.months), best.total_cost - beside + sunk
    less = there - here
    share = f" ({abs(less) / abs(there):.0%})" if there else ""
    parts = [f"{best.total_cost:,.2f} to pay"]
    parts += [f"less {beside:,.2f} of support and tax, which the bill lists apart"] if beside else []
    parts += [f"with {sunk:,.2f} paid already for commitments in force"] if sunk else []
    beyond = (
        f"; from that goes what is still owed for commitments that the plan does not hold, at "
        f"{present.loose_per_month:,.2f} a month for as long as they run"
    )
    return (
        f"as today against plan, over {plan.months} months in {plan.currency}: going on as today costs {there:,.2f} "
        f"({present.view}; each hour at its cost of today, commitments renewed as they are), the recommended plan "
        f"({best.name}) {here:,.2f} ({', '.join(parts)}): it {'saves' if less >= 0 else 'costs more by'} "
        f"{abs(less):,.2f}{share}{beyond if present.loose_per_month else ''}"
    )
