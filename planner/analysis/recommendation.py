"""The recommendation among the solved strategies, its cost bridge from the runner-up, and the break-evens of owning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from planner.finance.cashflow import Terms, present_cost_by
from planner.finance.time_value import break_even, first_whole_period
from planner.request.assumptions import Assumptions
from planner.result import BreakEven, Recommendation, Strategy
from planner.result.financial_views import BridgeStep
from planner.result.message import Message, message
from planner.supply import onprem
from planner.supply.onprem import OwnedNode
from pricing.catalog.quotes import Quote

SIMPLEST_FIRST = ("cloud", "onprem", "hybrid")
COST_TOLERANCE = 1e-6


def recommend(strategies: Sequence[Strategy], months: int, currency: str, materiality: float) -> Recommendation:
    """The simplest strategy whose present cost is within `materiality` (a fraction) of the cheapest one's."""
    solved = [s for s in strategies if s.status != "infeasible"]
    if not solved:
        return Recommendation(None, message("no_plan_possible"), None, 0.0, 0.0)
    simplest = pick_simplest({s.name: s.present_cost for s in solved}, materiality)
    chosen = next(s for s in solved if s.name == simplest)
    others = [
        s for s in solved if abs(s.present_cost - chosen.present_cost) > COST_TOLERANCE * max(1.0, chosen.present_cost)
    ]
    runner = min(others, key=lambda s: s.present_cost, default=None)
    saving = runner.present_cost - chosen.present_cost if runner else 0.0
    fraction = saving / abs(runner.present_cost) if runner and runner.present_cost else 0.0
    sentence = message(
        "recommended",
        strategy=chosen.name,
        owned=_sum_purchases(chosen, "owned"),
        committed=_sum_purchases(chosen, "commitment"),
        total_cost=chosen.total_cost,
        present_cost=chosen.present_cost,
        currency=currency,
        months=months,
        runner_up=runner.name if runner else None,
        saving=saving,
        saving_fraction=fraction,
        materiality_fraction=materiality,
        strategies=len(solved),
    )
    return Recommendation(chosen.name, sentence, runner.name if runner else None, saving, fraction)


def pick_simplest(costs: Mapping[str, float], allowed_fraction: float) -> str:
    """The simplest strategy whose present cost is at most a fraction above the least; rounding is no difference."""
    least = min(costs.values())
    most = least + abs(least) * allowed_fraction + COST_TOLERANCE
    return min((name for name, cost in costs.items() if cost <= most), key=SIMPLEST_FIRST.index)


def build_cost_bridge(
    advice: Recommendation, strategies: Iterable[Strategy], rate_monthly: float
) -> tuple[BridgeStep, ...]:
    """From the runner-up to the recommended strategy by category, largest difference first; none without a runner-up.

    The differences add up to `advice.worth`.
    """
    present = {
        s.name: defaultdict(float, present_cost_by(((row.category, row) for row in s.cash), rate_monthly))
        for s in strategies
    }
    if advice.strategy is None or advice.runner_up is None:
        return ()
    before, after = present[advice.runner_up], present[advice.strategy]
    steps = [
        BridgeStep(category, before[category], after[category], before[category] - after[category])
        for category in sorted({*before, *after})
    ]
    return tuple(sorted(steps, key=lambda step: -abs(step.difference)))


def _sum_purchases(strategy: Strategy, what: str) -> tuple[Message, ...]:
    """The purchases of one kind (`owned` or `commitment`), by name."""
    amounts: dict[tuple[str, str], float] = defaultdict(float)
    for purchase in strategy.purchases:
        if purchase.what == what:
            name = f"{purchase.name} {purchase.purchase_option}".removesuffix(" owned")
            amounts[name, purchase.unit] += purchase.amount
    return tuple(
        message("purchase_amount", amount=amount, unit=unit, name=name)
        for (name, unit), amount in sorted(amounts.items())
    )


def find_break_evens(
    nodes: Iterable[OwnedNode], quotes: Iterable[Quote], assumptions: Assumptions, terms: Terms
) -> tuple[tuple[BreakEven, ...], tuple[Quote, ...]]:
    """For every owned node, against the cheapest on-demand price per hour of the same accelerator; with the quotes
    compared.

    Utilisation is own cost over rent: renting costs its price times the hours used, owning costs the same at any use.
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
