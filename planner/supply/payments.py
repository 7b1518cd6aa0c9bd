"""What a resource costs and when it serves: the one place that leads from a decision to its payments."""

from __future__ import annotations

from collections.abc import Iterable

from planner.finance.cashflow import Payment, Terms
from planner.request.assumptions import Assumptions
from planner.supply import onprem
from planner.supply.candidates import Candidate, ExistingCapacity, Resource
from planner.supply.data_costs import DataCosts
from planner.supply.purchase_options import PurchaseOption, load_purchase_options
from planner.workloads.demand import WorkloadDemand
from pricing.price import AdjustedPrice, Price

RUNNING_CATEGORIES = frozenset({"power", "space", "staff", "support"})
"""What an owned node costs in the month it is paid for; everything else it costs belongs to all months of its use."""


def resource_payments(
    resource: Resource, month: int, quantity: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """What `quantity` of the resource costs: node-hours used in `month` by the hour, else units started in `month`.

    What is held already owes the same whatever is decided.
    """
    if resource.held is not None:
        return _existing_payments(resource, resource.held, assumptions, terms)
    if resource.node is not None:
        return onprem.node_payments(resource.node, month, quantity, assumptions, terms)
    assert resource.quote is not None
    price = resource.quote.price
    option = load_purchase_options()[price.kind]
    net_fraction = 1 - _enterprise_discount(price, option, terms)
    rows = option.payments(price, month, quantity, terms)
    return add_support_and_tax((Payment(p.month, p.at, p.category, p.amount * net_fraction) for p in rows), terms)


def _existing_payments(
    resource: Resource, existing: ExistingCapacity, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """What is there already costs, all of it together: owned nodes their running, commitments their fee."""
    if resource.node is not None:
        return onprem.existing_node_payments(
            resource.node, existing.count, existing.age_months, existing.covers, assumptions, terms
        )
    fee = existing.fee_per_month
    return tuple(Payment(month, "end", "commitment", fee) for month in existing.covers) if fee else ()


def resource_use_payments(
    resource: Resource, month: int, node_hours: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """What using `node_hours` in `month` costs beyond what was paid at the start: the whole price by the hour, the
    power of owned nodes at work, nothing on what is committed."""
    if resource.what == "hourly":
        return resource_payments(resource, month, node_hours, assumptions, terms)
    if resource.node is not None:
        return onprem.node_use_payments(resource.node, month, node_hours, assumptions)
    return ()


def data_payments(
    need: WorkloadDemand, candidate: Candidate, resource: Resource, month: int, units: float, terms: Terms
) -> tuple[Payment, ...]:
    """Storage, egress and transfer of `units` of work done in `month`: the month's whole cost shared over its work.

    For a deadline, the cost of all months up to it shared over the whole work.
    """
    return monthly_data_payments(candidate.around, resource, month, units * data_share_per_unit(need, month), terms)


def monthly_data_payments(
    around: DataCosts, resource: Resource, month: int, share: float, terms: Terms
) -> tuple[Payment, ...]:
    """A share of a month's whole data at a resource's place."""
    rows = (
        Payment(month, "end", "storage", around.storage * share),
        Payment(month, "end", "egress", around.egress * share),
        Payment(month, "end", "transfer", around.transfer * share),
    )
    due = tuple(row for row in rows if row.amount)
    return due if resource.node is not None else add_support_and_tax(due, terms)


def data_share_per_unit(need: WorkloadDemand, month: int) -> float:
    """The share of a month's data that one unit of work done in `month` bears; 0 where no work is due."""
    if need.deadline is not None:
        return need.deadline / need.total
    return 1 / need.monthly[month - 1] if need.monthly[month - 1] else 0.0


def covered_months(resource: Resource, month: int, assumptions: Assumptions, terms: Terms) -> range:
    """The months inside the horizon that a start in `month` covers."""
    if resource.held is not None:
        return resource.held.covers
    if resource.node is not None:
        return onprem.usable_months(month, assumptions, terms, resource.node.finance)
    assert resource.quote is not None
    return load_purchase_options()[resource.quote.price.kind].usable(resource.quote.price, month, terms)


def add_support_and_tax(rows: Iterable[Payment], terms: Terms) -> tuple[Payment, ...]:
    """Payments of a cloud bill with the support plan on each, and the tax on both."""
    payments = []
    for row in rows:
        support = row.amount * terms.cloud_support_fraction
        tax = (row.amount + support) * terms.cloud_tax_fraction
        payments.append(row)
        if support:
            payments.append(Payment(row.month, row.at, "cloud_support", support))
        if tax:
            payments.append(Payment(row.month, row.at, "tax", tax))
    return tuple(payments)


def support_minimum_payments(month: int, amount: float, terms: Terms) -> tuple[Payment, ...]:
    """What tops the support plan of a month up to its least fee, with tax."""
    tax = amount * terms.cloud_tax_fraction
    rows = (Payment(month, "end", "cloud_support", amount), Payment(month, "end", "tax", tax))
    return tuple(row for row in rows if row.amount)


def _enterprise_discount(price: Price, option: PurchaseOption, terms: Terms) -> float:
    """The enterprise discount on a list price; a negotiated price has had its own."""
    negotiated = isinstance(price, AdjustedPrice) and bool(price.adjustment)
    return terms.enterprise_discount_fraction if option.DISCOUNTED and not negotiated else 0.0


def build_terms(assumptions: Assumptions, months: int, hours_per_month: float, beyond: bool) -> Terms:
    """The terms of a plan; `beyond`: commitments that outlive it are charged in full."""
    a = {name: each.value for name, each in assumptions.items()}
    return Terms(
        months=months,
        hours_per_month=hours_per_month,
        discount_rate_annual=a["discount_rate_annual"],
        price_change_annual=a["cloud_price_change_annual"],
        partial_upfront_fraction=a["partial_upfront_fraction"],
        charge_beyond_horizon=beyond,
        spot_price_change_annual=a["spot_price_change_annual"],
        commitment_price_change_annual=a["commitment_price_change_annual"],
        enterprise_discount_fraction=a["enterprise_discount_fraction"],
        cloud_support_fraction=a["cloud_support_fraction"],
        cloud_tax_fraction=a["cloud_tax_fraction"],
    )
