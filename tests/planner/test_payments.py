"""One path of payments: what knows only nodes and prices pays as a plan's resources do."""

from __future__ import annotations

import pytest

from planner.finance.cashflow import Payment
from planner.request.assumptions import load_defaults
from planner.request.ownership import Finance, Site
from planner.supply import payments
from planner.supply.onprem import OwnedNode
from planner.supply.purchase_options import load_purchase_options
from planner.supply.resources import ExistingCapacity, Resource
from pricing.units import HOURS_PER_MONTH


@pytest.fixture(scope="module")
def assumptions():
    return load_defaults()


@pytest.fixture(scope="module")
def terms(assumptions):
    return payments.build_terms(assumptions, 24, HOURS_PER_MONTH, beyond=True)


@pytest.fixture(scope="module")
def resources(catalog):
    """One of every way of paying, and an owned node."""
    by_kind, options = {}, load_purchase_options()
    for quote in catalog.quotes(accelerators={"H100-80GB-SXM", "T4-16GB"}):
        by_kind.setdefault(quote.price.kind, quote)
    listed = [
        Resource(quote.price.key, "commitment" if options[kind].COMMITS else "hourly", "", 8, quote=quote)
        for kind, quote in by_kind.items()
        if kind in options
    ]
    price_as_of = listed[0].quote.price.as_of
    node = OwnedNode("box", "H100-80GB-SXM", 8, 250_000.0, price_as_of, "", 10.2, "", 8.0, Site(), Finance())
    return [*listed, Resource(("~owned", "box"), "owned", node.accelerator, 8, node=node)]


def test_a_resource_costs_what_its_node_or_price_costs(resources, assumptions, terms):
    assert {"on_demand", "spot", "reserved", "owned"} <= {r.purchase_option.partition("_1y")[0] for r in resources}
    for resource in resources:
        price = resource.quote.price if resource.quote is not None else None
        for month in (1, 5, 24):
            rows = payments.resource_payments(resource, month, 3, assumptions, terms)
            assert rows == payments.new_unit_payments(resource.node, price, month, 3, assumptions, terms)
            used = payments.resource_use_payments(resource, month, 3, assumptions, terms)
            assert used == payments.unit_use_payments(resource.node, price, month, 3, assumptions, terms)
            assert used == (rows if resource.what == "hourly" else used if resource.node is not None else ())


def test_what_exists_owes_the_same_whatever_is_ordered(resources, assumptions, terms):
    existing = ExistingCapacity(2, range(1, 4), fee_per_month=50.0)
    (reserved,) = [each for each in resources if each.purchase_option.startswith("reserved_1y")][:1]
    owed = payments.still_owed(None, existing, assumptions, terms)
    assert owed == tuple(Payment(month, "end", "commitment", 50.0) for month in (1, 2, 3))
    there = Resource(reserved.key, "commitment", "", 8, quote=reserved.quote, held=existing)
    assert payments.resource_payments(there, 2, 7, assumptions, terms) == owed


def test_neither_node_nor_price_costs_nothing(assumptions, terms):
    assert payments.new_unit_payments(None, None, 1, 3, assumptions, terms) == ()
    assert payments.unit_use_payments(None, None, 1, 3, assumptions, terms) == ()


def test_the_support_plan_is_topped_up_in_months_with_a_cloud_bill(terms):
    """A least fee of 100: month 1 has paid 30 of it, month 2 none with a bill, month 3 more, month 4 none for storage
    alone; month 5 has no bill, month 6 neither, but a commitment as month 3 has."""
    billed = [
        Payment(1, "end", "on_demand", 500.0), Payment(1, "end", "cloud_support", 30.0),
        Payment(2, "start", "commitment", 200.0), Payment(3, "end", "cloud_support", 120.0),
        Payment(4, "end", "storage", 80.0),
    ]  # fmt: skip
    assert [(p.month, p.category, p.amount) for p in payments.support_top_up(billed, (3, 6), 100.0, terms)] == [
        (1, "cloud_support", 70.0),
        (2, "cloud_support", 100.0),
        (4, "cloud_support", 100.0),
        (6, "cloud_support", 100.0),
    ]
    assert not list(payments.support_top_up(billed, (3, 6), 0.0, terms))
