"""What a resource costs and when it serves: the one place that leads from a decision to its payments."""

from __future__ import annotations

from collections.abc import Iterable

from planner import owned
from planner.around import Around
from planner.assumptions import Assumptions
from planner.candidates import Candidate, Held, Resource
from planner.cashflow import Payment, Terms
from planner.demand import Need
from planner.options import Option, options
from pricing.price import Adjusted, Price

RUNNING = frozenset({"power", "space", "staff", "support"})
"""What an owned node costs in the month it is paid for; everything else it costs belongs to all months of its use."""


def payments_of(
    resource: Resource, month: int, quantity: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """What `quantity` of the resource costs: node-hours used in `month` by the hour, else units started in `month`.

    What is held already owes the same whatever is decided.
    """
    if resource.held is not None:
        return _still_owed(resource, resource.held, assumptions, terms)
    if resource.node is not None:
        return owned.payments(resource.node, month, quantity, assumptions, terms)
    assert resource.quote is not None
    price = resource.quote.price
    option = options()[price.kind]
    kept = 1 - _discount(price, option, terms)
    rows = option.payments(price, month, quantity, terms)
    return billed((Payment(p.month, p.at, p.category, p.amount * kept) for p in rows), terms)


def _still_owed(resource: Resource, held: Held, assumptions: Assumptions, terms: Terms) -> tuple[Payment, ...]:
    """What is there already costs, all of it together: owned nodes their running, commitments their fee."""
    if resource.node is not None:
        return owned.existing_payments(resource.node, held.count, held.age_months, held.covers, assumptions, terms)
    fee = held.fee_per_month
    return tuple(Payment(month, "end", "commitment", fee) for month in held.covers) if fee else ()


def use_payments_of(
    resource: Resource, month: int, node_hours: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """What using `node_hours` in `month` costs beyond what was paid at the start: the whole price by the hour, the
    power of owned nodes at work, nothing on what is committed."""
    if resource.what == "hourly":
        return payments_of(resource, month, node_hours, assumptions, terms)
    if resource.node is not None:
        return owned.use_payments(resource.node, month, node_hours, assumptions)
    return ()


def data_payments(
    need: Need, candidate: Candidate, resource: Resource, month: int, units: float, terms: Terms
) -> tuple[Payment, ...]:
    """Storage, egress and transfer of `units` of work done in `month`: the month's whole cost shared over its work.

    For a deadline, the cost of all months up to it shared over the whole work.
    """
    return around_payments(candidate.around, resource, month, units * share_of_data(need, month), terms)


def around_payments(around: Around, resource: Resource, month: int, share: float, terms: Terms) -> tuple[Payment, ...]:
    """A share of a month's whole data at a resource's place."""
    rows = (
        Payment(month, "end", "storage", around.storage * share),
        Payment(month, "end", "egress", around.egress * share),
        Payment(month, "end", "transfer", around.transfer * share),
    )
    due = tuple(row for row in rows if row.amount)
    return due if resource.node is not None else billed(due, terms)


def share_of_data(need: Need, month: int) -> float:
    """The share of a month's data that one unit of work done in `month` bears; 0 where no work is due."""
    if need.deadline is not None:
        return need.deadline / need.total
    return 1 / need.monthly[month - 1] if need.monthly[month - 1] else 0.0


def covers(resource: Resource, month: int, assumptions: Assumptions, terms: Terms) -> range:
    """The months inside the horizon that a start in `month` covers."""
    if resource.held is not None:
        return resource.held.covers
    if resource.node is not None:
        return owned.usable(month, assumptions, terms, resource.node.finance)
    assert resource.quote is not None
    return options()[resource.quote.price.kind].usable(resource.quote.price, month, terms)


def billed(rows: Iterable[Payment], terms: Terms) -> tuple[Payment, ...]:
    """Payments of a cloud bill with the support plan on each, and the tax on both."""
    found = []
    for row in rows:
        support = row.amount * terms.cloud_support_fraction
        tax = (row.amount + support) * terms.cloud_tax_fraction
        found.append(row)
        if support:
            found.append(Payment(row.month, row.at, "cloud_support", support))
        if tax:
            found.append(Payment(row.month, row.at, "tax", tax))
    return tuple(found)


def support_minimum(month: int, amount: float, terms: Terms) -> tuple[Payment, ...]:
    """What tops the support plan of a month up to its least fee, with tax."""
    tax = amount * terms.cloud_tax_fraction
    rows = (Payment(month, "end", "cloud_support", amount), Payment(month, "end", "tax", tax))
    return tuple(row for row in rows if row.amount)


def _discount(price: Price, option: Option, terms: Terms) -> float:
    """The enterprise discount on a list price; a negotiated price has had its own."""
    negotiated = isinstance(price, Adjusted) and bool(price.adjustment)
    return terms.enterprise_discount_fraction if option.DISCOUNTED and not negotiated else 0.0
