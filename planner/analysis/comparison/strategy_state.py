"""The state of one strategy from which its payments follow: assumptions, prices, work and purchases, read back from the
document of the plan.

Payments are made by `supply.payments`, as those of the plan itself. Payments of the document that they do not explain
(commitments that existed before are paid as recorded) are in `unexplained`, so that a reconstructed state has the cost
of its document.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from typing import Literal

from planner.finance.cashflow import Payment, Terms, present_cost
from planner.request.assumptions import Assumptions, override_names
from planner.request.ownership import Finance, Site
from planner.result import PriceUsed
from planner.supply import onprem
from planner.supply import payments as paying
from planner.supply.price_rules import commitment_pool
from planner.supply.purchase_options import CommitmentUnit, load_purchase_options
from planner.supply.resources import ExistingCapacity
from pricing.frozen_values import dataclass
from pricing.price import AdjustedPrice, Price, parse_purchase_option

Place = tuple[str, str, str, str]
"""Provider, region, instance type and purchase option; "", "", the system and "owned" for an owned one."""
WorkKey = tuple[str, Place, int]
"""Workload, place and month."""
PurchaseKey = tuple[Place, int]
"""The place of a purchase, and the month of its order."""
PaymentMoment = tuple[int, Literal["start", "end"]]
ROUNDING_TOLERANCE = 1e-9
"""Of a sum: a smaller remainder is rounding."""


@dataclass(frozen=True, slots=True)
class PlacedWork:
    """Node-hours and units of work; `share` of the month's data that goes with it, `data` the cost of all of that data
    there before support and tax."""

    hours: float
    units: float
    share: float
    data: float


@dataclass(frozen=True, slots=True)
class ReconstructedNodes:
    """Nodes of a system that were owned before the plan, their age in months at its start, and whether their value
    counts at both ends of it."""

    count: int
    age: int
    counts_value: bool = False


@dataclass(frozen=True, slots=True)
class StrategyState:
    """Everything that payments follow from. `nodes` are accelerator and count by owned system; `existing` are nodes
    that were owned before the plan; `unexplained` is paid as recorded."""

    terms: Terms
    assumptions: Assumptions
    prices: Mapping[Place, Price]
    site: Site
    finance: Finance
    nodes: Mapping[str, tuple[str, int]]
    work: Mapping[WorkKey, PlacedWork]
    purchases: Mapping[PurchaseKey, float]
    staff: Mapping[int, float]
    existing: Mapping[str, ReconstructedNodes]
    unexplained: Mapping[PaymentMoment, float]

    def sums(self) -> tuple[float, float]:
        """Total cost and present cost."""
        rows = list_payments(self)
        present = present_cost(rows, self.terms.discount_rate_monthly)
        return math.fsum(row.amount for row in rows), present

    def existing_cost(self) -> float:
        """The total of the payments for existing nodes and of the unexplained ones."""
        running = (
            row.amount for name, each in self.existing.items() for row in existing_node_payments(self, name, each)
        )
        return math.fsum([*running, *self.unexplained.values()])


def list_payments(state: StrategyState) -> list[Payment]:
    """Every payment of a state."""
    figures, terms = state.assumptions, state.terms
    billed: list[Payment] = []
    rows: list[Payment] = []
    in_effect: set[int] = set()
    for (place, month), amount in state.purchases.items():
        node, price = _node_and_price(state, place)
        paid = rows if node is not None else billed
        paid += paying.new_unit_payments(node, price, month, amount, figures, terms)
        if price is not None and amount:
            in_effect.update(load_purchase_options()[price.kind].usable(price, month, terms))
    for (_, place, month), work in state.work.items():
        paid = rows if place[3] == "owned" else billed
        paid += use_payments(state, place, month, work.hours)
        if work.share and work.data:
            paid += _data_payments(state, place, month, work.share * work.data)
    rows += billed
    for month, count in state.staff.items():
        rows += (p._replace(amount=p.amount * count) for p in onprem.staff_payments(month, 1, state.assumptions))
    for name, existing_nodes in state.existing.items():
        rows += existing_node_payments(state, name, existing_nodes)
    least = state.assumptions["cloud_support_minimum_per_month"].value
    rows += paying.support_top_up(billed, in_effect, least, state.terms)
    return [*rows, *(Payment(month, at, "commitment", amount) for (month, at), amount in state.unexplained.items())]


def build_node(state: StrategyState, name: str) -> onprem.OwnedNode:
    """An owned system at the state's assumptions; 0 for a price or power that the document lacks."""
    accelerator, count = state.nodes.get(name, ("", 0))
    price, power, height = (state.assumptions.get(each) for each in override_names(name))
    return onprem.OwnedNode(
        name, accelerator, count, price.value if price else 0.0, date.min, "", power.value if power else 0.0, "",
        height.value if height else None, state.site, state.finance,
    )  # fmt: skip


def existing_node_payments(state: StrategyState, name: str, existing_nodes: ReconstructedNodes) -> tuple[Payment, ...]:
    """The cost of running nodes that were owned before, with what their value falls by where that counts."""
    life = round(state.assumptions["useful_life_months"].value) - existing_nodes.age
    covers = range(1, min(life, state.terms.months) + 1)
    existing = ExistingCapacity(
        existing_nodes.count, covers, existing_nodes.age, counts_value=existing_nodes.counts_value
    )
    return paying.still_owed(build_node(state, name), existing, state.assumptions, state.terms)


def sum_use_by_place(state: StrategyState, last: int) -> dict[Place, float]:
    """Use in the months up to `last` of each place: node-hours, or money of commitments to money."""
    amounts_by_place: dict[Place, list[float]] = defaultdict(list)
    pools = {place for place, _ in state.purchases if is_money_commitment(place)}
    for (_, place, month), work in state.work.items():
        if month > last:
            continue
        amounts_by_place[place].append(work.hours)
        for pool in pools:
            price = state.prices.get(place)
            if price is not None and place != pool and commitment_pool(price) == pool:
                amounts_by_place[pool].append(work.hours * price.price_per_hour)
    return {place: math.fsum(amounts) for place, amounts in amounts_by_place.items()}


def is_money_commitment(place: Place) -> bool:
    """Whether it is money an hour that is committed to, not nodes."""
    return commitment_unit(place) == "money"


def commitment_unit(place: Place) -> CommitmentUnit | None:
    """The unit of a purchase at a place; None for an owned system."""
    option = parse_purchase_option(place[3])
    return None if option is None else load_purchase_options()[option.kind].UNIT


def use_payments(state: StrategyState, place: Place, month: int, hours: float) -> tuple[Payment, ...]:
    """The cost of using a place for node-hours of a month, beyond its purchase."""
    node, price = _node_and_price(state, place)
    return paying.unit_use_payments(node, price, month, hours, state.assumptions, state.terms)


def _node_and_price(state: StrategyState, place: Place) -> tuple[onprem.OwnedNode | None, Price | None]:
    if place[3] == "owned":
        return build_node(state, place[2]), None
    return None, state.prices.get(place)


def _data_payments(state: StrategyState, place: Place, month: int, amount: float) -> tuple[Payment, ...]:
    row = Payment(month, "end", "storage", amount)
    return (row,) if place[3] == "owned" else paying.add_support_and_tax((row,), state.terms)


def price_place(price: PriceUsed) -> Place:
    return price.provider, price.region, price.instance_type, price.purchase_option


def build_price(place: Place, per_hour: float, adjustment: str = "") -> Price:
    """A price of a place, with the fields that payments use."""
    option = parse_purchase_option(place[3])
    assert option is not None
    return AdjustedPrice(*place, *option, per_hour, "", date.min, "", "listed", "", adjustment=adjustment)
