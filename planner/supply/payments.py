"""Payments of resources, and the months that they cover: the one place that leads from a decision to its payments.

A plan pays for resources; the comparison of saved plans knows only nodes and prices. Both use the same functions:
`new_unit_payments`, `unit_use_payments`, `still_owed` and `support_top_up`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from planner.finance.cashflow import Payment, Terms
from planner.request.assumptions import Assumptions
from planner.supply import onprem
from planner.supply.candidates import Candidate
from planner.supply.data_costs import DataCosts
from planner.supply.onprem import OwnedNode
from planner.supply.purchase_options import PurchaseOption, load_purchase_options
from planner.supply.resources import ExistingCapacity, Resource
from planner.workloads.demand import WorkloadDemand
from pricing.price import AdjustedPrice, Price

RUNNING_CATEGORIES = frozenset({"power", "space", "staff", "support"})
"""Costs of an owned node that belong to the month of their payment; its other costs belong to all months of use."""


def resource_payments(
    resource: Resource, month: int, quantity: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """Payments for `quantity` of the resource: node-hours used in `month` by the hour, else units started in `month`.

    Existing capacity costs the same whatever is decided.
    """
    if resource.held is not None:
        return still_owed(resource.node, resource.held, assumptions, terms)
    price = resource.quote.price if resource.quote is not None else None
    return new_unit_payments(
        resource.node, price, order_month(resource, month, assumptions, terms), quantity, assumptions, terms
    )


def new_unit_payments(
    node: OwnedNode | None, price: Price | None, month: int, quantity: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """Payments for `quantity` owned nodes, or units at a price, ordered in `month`: `resource_payments` without a
    resource. Empty where both are None."""
    if node is not None:
        return onprem.node_payments(node, month, quantity, assumptions, terms)
    return () if price is None else quoted_payments(price, month, quantity, terms)


def quoted_payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """Payments for `quantity` at a price, with enterprise discount, support plan and tax: node-hours used in `month` by
    the hour, else units committed to at its start."""
    option = load_purchase_options()[price.kind]
    net_fraction = 1 - _enterprise_discount(price, option, terms)
    rows = option.payments(price, month, quantity, terms)
    return add_support_and_tax((Payment(p.month, p.at, p.category, p.amount * net_fraction) for p in rows), terms)


def still_owed(
    node: OwnedNode | None, existing: ExistingCapacity, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """Remaining costs of all nodes of existing capacity: running costs, with the loss of value where that
    counts, or the fee of a commitment."""
    if node is not None:
        return onprem.existing_node_payments(
            node, existing.count, existing.age_months, existing.covers, assumptions, terms, existing.counts_value
        )
    fee = existing.fee_per_month
    return tuple(Payment(month, "end", "commitment", fee) for month in existing.covers) if fee else ()


def resource_use_payments(
    resource: Resource, month: int, node_hours: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """Payments for the use of `node_hours` in `month`, beyond those of the start: the whole price by the hour, the
    power of owned nodes at work, none under a commitment."""
    price = resource.quote.price if resource.quote is not None else None
    return unit_use_payments(resource.node, price, month, node_hours, assumptions, terms)


def unit_use_payments(
    node: OwnedNode | None, price: Price | None, month: int, node_hours: float, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """Payments for the use of `node_hours` of an owned node, or at a price, in `month`: `resource_use_payments` without
    a resource."""
    if node is not None:
        return onprem.node_use_payments(node, month, node_hours, assumptions)
    if price is None or load_purchase_options()[price.kind].COMMITS:
        return ()
    return quoted_payments(price, month, node_hours, terms)


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
    """The share of a month's data cost per unit of work done in `month`; 0 where no work is due."""
    if need.deadline is not None:
        # The data is there in each of `deadline` months, and those months' costs are spread over the whole work.
        return need.deadline / need.total
    return 1 / need.monthly[month - 1] if need.monthly[month - 1] else 0.0


def order_month(resource: Resource, month: int, assumptions: Assumptions, terms: Terms) -> int:
    """The month in which the start of `month` is ordered: hardware goes out as long before as its lead time needs and
    the date of the plan allows, so that a start of month 1 is there in month 1 where that is possible at all."""
    if resource.node is None or resource.held is not None:
        return month
    return month - min(round(assumptions["lead_time_months"].value), terms.order_ahead_months)


def delivered_months(resource: Resource, month: int, assumptions: Assumptions, terms: Terms) -> range:
    """The months inside the horizon in which an owned node of a start in `month` is there and costs."""
    assert resource.node is not None
    if resource.held is not None:
        return resource.held.covers
    ordered = order_month(resource, month, assumptions, terms)
    return onprem.delivered_months(ordered, assumptions, terms, resource.node.finance)


def covered_months(resource: Resource, month: int, assumptions: Assumptions, terms: Terms) -> range:
    """The months inside the horizon that a start in `month` covers."""
    if resource.held is not None:
        return resource.held.covers
    if resource.node is not None:
        ordered = order_month(resource, month, assumptions, terms)
        return onprem.usable_months(ordered, assumptions, terms, resource.node.finance)
    assert resource.quote is not None
    return load_purchase_options()[resource.quote.price.kind].usable(resource.quote.price, month, terms)


def committed_months(resource: Resource, month: int, assumptions: Assumptions, terms: Terms) -> range:
    """The months inside the horizon in which a start in `month` is a commitment to a provider, paid then or before;
    empty for owned nodes, and for existing commitments, whose fees are on the bills."""
    if resource.node is not None or resource.held is not None:
        return range(0)
    return covered_months(resource, month, assumptions, terms)


def add_support_and_tax(rows: Iterable[Payment], terms: Terms) -> tuple[Payment, ...]:
    """Payments of a cloud bill with the support plan on each, and the tax on both."""
    payments = []
    for row in rows:
        # The support plan is a percentage of the bill, and tax is due on both.
        support = row.amount * terms.cloud_support_fraction
        tax = (row.amount + support) * terms.cloud_tax_fraction
        payments.append(row)
        if support:
            payments.append(Payment(row.month, row.at, "cloud_support", support))
        if tax:
            payments.append(Payment(row.month, row.at, "tax", tax))
    return tuple(payments)


def support_minimum_payments(month: int, amount: float, terms: Terms) -> tuple[Payment, ...]:
    """Payments of `amount` more for the support plan of a month, to reach its minimum fee, with tax."""
    tax = amount * terms.cloud_tax_fraction
    rows = (Payment(month, "end", "cloud_support", amount), Payment(month, "end", "tax", tax))
    return tuple(row for row in rows if row.amount)


def support_top_up(
    billed: Iterable[Payment], in_effect: Iterable[int], least: float, terms: Terms
) -> Iterator[Payment]:
    """Payments that raise the support plan to its minimum fee `least` in each month with a cloud bill, and in those
    `in_effect`, where a commitment runs that may have been paid before: `billed` is all that is on the bills, for nodes
    and for data."""
    if not least:
        return
    support: dict[int, float] = defaultdict(float, dict.fromkeys(in_effect, 0.0))
    for row in billed:
        support[row.month] += row.amount if row.category == "cloud_support" else 0.0
    for month, paid in sorted(support.items()):
        yield from support_minimum_payments(month, max(0.0, least - paid), terms)


def _enterprise_discount(price: Price, option: PurchaseOption, terms: Terms) -> float:
    """The enterprise discount on a list price; a negotiated price already includes its discount."""
    negotiated = isinstance(price, AdjustedPrice) and bool(price.adjustment)
    return terms.enterprise_discount_fraction if option.DISCOUNTED and not negotiated else 0.0


def build_terms(
    assumptions: Assumptions, months: int, hours_per_month: float, beyond: bool, order_ahead_months: int = 0
) -> Terms:
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
        order_ahead_months=order_ahead_months,
    )
