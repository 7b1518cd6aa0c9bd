"""What the solved strategies mean: the recommendation, the runner-up and what lies between them, the break-evens."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from planner.finance.cashflow import Terms
from planner.finance.time_value import break_even, first_whole_period
from planner.request.assumptions import Assumptions
from planner.result import BreakEven, Recommendation, Strategy, describe_amount
from planner.result.audit_trail import discount_factor
from planner.result.financial_views import BridgeStep
from planner.supply import onprem
from planner.supply.onprem import OwnedNode
from pricing.catalog.price_catalog import Quote

SIMPLEST_FIRST = ("cloud", "onprem", "hybrid")
COST_TOLERANCE = 1e-6
VERBS = {"cloud": "Rent in the cloud", "onprem": "Own the hardware", "hybrid": "Mix owned and rented capacity"}


def recommend(strategies: Sequence[Strategy], months: int, currency: str, materiality: float) -> Recommendation:
    """The simplest strategy whose present cost is within `materiality` (a fraction) of the cheapest one's."""
    solved = [s for s in strategies if s.status != "infeasible"]
    if not solved:
        return Recommendation(None, "No plan is possible.", None, 0.0, 0.0)
    least = min(s.present_cost for s in solved)
    within = [s for s in solved if s.present_cost <= least + abs(least) * materiality + COST_TOLERANCE]
    chosen = min(within, key=lambda s: SIMPLEST_FIRST.index(s.name))
    others = [
        s for s in solved if abs(s.present_cost - chosen.present_cost) > COST_TOLERANCE * max(1.0, chosen.present_cost)
    ]
    runner = min(others, key=lambda s: s.present_cost, default=None)
    worth = runner.present_cost - chosen.present_cost if runner else 0.0
    fraction = worth / abs(runner.present_cost) if runner and runner.present_cost else 0.0
    sentence = (
        f"{VERBS[chosen.name]}{_describe_purchases(chosen)}: {chosen.total_cost:,.0f} {currency} over {months} months"
    )
    sentence += f" (present cost {chosen.present_cost:,.0f} {currency})"
    if runner and worth >= 0:
        sentence += f", {worth:,.0f} {currency} ({fraction:.1%}) less than {runner.name}."
    elif runner:
        sentence += (
            f"; {runner.name} would save {-worth:,.0f} {currency}, within {materiality:.0%}, for more to manage."
        )
    else:
        sentence += "; no other strategy differs." if len(solved) > 1 else "."
    return Recommendation(chosen.name, sentence, runner.name if runner else None, worth, fraction)


def build_cost_bridge(
    advice: Recommendation, strategies: Iterable[Strategy], rate_monthly: float
) -> tuple[BridgeStep, ...]:
    """From the runner-up to the recommended strategy by category, largest difference first; none without a runner-up.

    The differences add up to `advice.worth`.
    """
    present = {s.name: _sum_present_cost_by_category(s, rate_monthly) for s in strategies}
    if advice.strategy is None or advice.runner_up is None:
        return ()
    before, after = present[advice.runner_up], present[advice.strategy]
    steps = [
        BridgeStep(category, before[category], after[category], before[category] - after[category])
        for category in sorted({*before, *after})
    ]
    return tuple(sorted(steps, key=lambda step: -abs(step.difference)))


def _sum_present_cost_by_category(strategy: Strategy, rate_monthly: float) -> dict[str, float]:
    """Present cost by category; 0 for every other."""
    worths: dict[str, list[float]] = defaultdict(list)
    for row in strategy.cash:
        worths[row.category].append(row.amount * discount_factor(row.month, row.at, rate_monthly))
    return defaultdict(float, {category: math.fsum(parts) for category, parts in worths.items()})


def _describe_purchases(strategy: Strategy) -> str:
    """What is committed to or bought, in words; empty where nothing is."""
    counts: dict[tuple[str, str, str], float] = {}
    for purchase in strategy.purchases:
        name = f"{purchase.name} {purchase.purchase_option}".removesuffix(" owned")
        key = (purchase.what, name, purchase.unit)
        counts[key] = counts.get(key, 0) + purchase.amount
    parts = []
    for what, verb in (("owned", "buying"), ("commitment", "committing to")):
        listed = [
            f"{describe_amount(n, unit)} {name}" for (kind, name, unit), n in sorted(counts.items()) if kind == what
        ]
        if listed:
            more = f" and {len(listed) - 3} more kinds" if len(listed) > 3 else ""
            parts.append(f"{verb} {', '.join(listed[:3])}{more}")
    return f", {' and '.join(parts)}" if parts else ""


def find_break_evens(
    nodes: Iterable[OwnedNode], quotes: Iterable[Quote], assumptions: Assumptions, terms: Terms
) -> tuple[tuple[BreakEven, ...], tuple[Quote, ...]]:
    """For every owned node, against the cheapest on-demand price per hour of the same accelerator; with the quotes
    compared.

    Utilisation is own cost over rent: renting costs its price times the hours used, owning costs the same whatever is
    used.
    """
    cheapest: dict[str, Quote] = {}
    for quote in quotes:
        count = quote.offering.accelerator_count
        if quote.price.kind != "on_demand" or not count:
            continue
        best = cheapest.get(quote.offering.accelerator)
        if best is None or _price_per_accelerator(quote) < _price_per_accelerator(best):
            cheapest[quote.offering.accelerator] = quote
    rows, used = [], []
    for node in nodes:
        rented = cheapest.get(node.accelerator)
        if rented is None:
            continue
        used.append(rented)
        rows.append(_compare_owning_with_renting(node, rented, assumptions, terms))
    return tuple(rows), tuple(used)


def _price_per_accelerator(quote: Quote) -> float:
    return quote.price.price_per_hour / (quote.offering.accelerator_count or 1)


def _compare_owning_with_renting(node: OwnedNode, rented: Quote, assumptions: Assumptions, terms: Terms) -> BreakEven:
    cost = onprem.node_costs(node, assumptions, terms.hours_per_month, terms.discount_rate_monthly)
    life = round(assumptions["useful_life_months"].value)
    rent_per_month = _price_per_accelerator(rented) * node.accelerators * terms.hours_per_month
    level = onprem.cost_per_month_over_life(node, assumptions, terms)
    periods, utilisation = break_even(cost.capital, cost.per_month_at_work, rent_per_month, level)
    price = rented.price
    return BreakEven(
        system=node.name,
        rented=f"{price.provider} {price.region} {price.instance_type} {price.purchase_option}",
        month=first_whole_period(periods, life),
        utilisation=utilisation,
        own_cost_per_accelerator_hour=level / node.accelerators / terms.hours_per_month,
        rent_cost_per_accelerator_hour=_price_per_accelerator(rented),
        capital=cost.capital,
        own_per_month=cost.per_month_at_work,
        rent_per_month=rent_per_month,
        life_months=life,
        resale=onprem.resale_value(node, life, assumptions),
    )
