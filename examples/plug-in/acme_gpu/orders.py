"""The purchase list that our ordering system imports: one line for each purchase of the recommended strategy."""

from __future__ import annotations

from planner import Plan

MEDIA_TYPE = "text/x-acme-orders"
SUFFIX = ".orders"


def render(plan: Plan) -> bytes:
    """Tab-separated: month, count, name, option, amount to pay now and by the month, currency."""
    chosen = plan.recommendation.strategy
    purchases = () if chosen is None else plan.strategy(chosen).purchases
    lines = [
        f"{plan.month_names[each.month - 1]}\t{each.count}\t{each.name}\t{each.purchase_option}"
        f"\t{each.upfront:.2f}\t{each.per_month:.2f}\t{plan.currency}"
        for each in purchases
    ]
    return "".join(f"{line}\n" for line in lines).encode()
