"""One strategy of a plan as what its payments follow from: figures, prices, work and purchases, read back from the
document.

Payments come from `options` and `owned`, as the plan's own did. What they do not explain (what is owned and committed
to already is paid as recorded) stands in `owed`, so that a state read back is worth what its document says.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from planner.finance.cashflow import Payment, Terms, present_cost
from planner.request.assumptions import Assumptions, override_names
from planner.request.ownership import Finance, Site
from planner.supply import onprem
from planner.supply import payments as paying
from planner.supply.purchase_options import load_purchase_options
from pricing.price import AdjustedPrice, Price, parse_purchase_option

Place = tuple[str, str, str, str]
"""Provider, region, instance type and way of paying; "", "", the system and owned for what is owned."""
WorkKey = tuple[str, Place, int]
"""Workload, place and month."""
PurchaseKey = tuple[Place, int]
"""What is bought, and the month of the order."""
PaymentMoment = tuple[int, Literal["start", "end"]]
OPERATORS_TITLE = "operators"
EXISTING_SUFFIX = " (existing)"
ROUNDING_TOLERANCE = 1e-9
"""Of a sum: what is left below this is rounding."""


@dataclass(frozen=True, slots=True)
class PlacedWork:
    """Node-hours and units of work; `share` of the month's data that goes with it, `data` what all of that data costs
    there before support and tax."""

    hours: float
    units: float
    share: float
    data: float


@dataclass(frozen=True, slots=True)
class ReconstructedNodes:
    """Nodes of a system that were owned before the plan, and their age in months at its start."""

    count: int
    age: int


@dataclass(frozen=True, slots=True)
class StrategyState:
    """What payments follow from. `nodes` are accelerators per owned system; `owed` is paid as recorded."""

    terms: Terms
    assumptions: Assumptions
    prices: Mapping[Place, Price]
    site: Site
    finance: Finance
    nodes: Mapping[str, tuple[str, int]]
    work: Mapping[WorkKey, PlacedWork]
    bought: Mapping[PurchaseKey, float]
    staff: Mapping[int, float]
    held: Mapping[str, ReconstructedNodes]
    owed: Mapping[PaymentMoment, float]

    def sums(self) -> tuple[float, float]:
        """Total cost and present cost."""
        rows = list_payments(self)
        present = present_cost(rows, self.terms.discount_rate_monthly)
        return math.fsum(row.amount for row in rows), present

    def owing(self) -> float:
        """What is paid in all for what was there before."""
        held = (row.amount for name, each in self.held.items() for row in existing_node_payments(self, name, each))
        return math.fsum([*held, *self.owed.values()])


def list_payments(state: StrategyState) -> list[Payment]:
    """Every payment of a state."""
    rows = [
        row for (place, month), amount in state.bought.items() for row in purchase_payments(state, place, month, amount)
    ]
    for (_, place, month), work in state.work.items():
        rows += use_payments(state, place, month, work.hours)
        if work.share and work.data:
            rows += _data_payments(state, place, month, work.share * work.data)
    for month, count in state.staff.items():
        rows += (replace(p, amount=p.amount * count) for p in onprem.staff_payments(month, 1, state.assumptions))
    for name, existing_nodes in state.held.items():
        rows += existing_node_payments(state, name, existing_nodes)
    rows += _support_top_up(state, rows)
    return [*rows, *(Payment(month, at, "commitment", amount) for (month, at), amount in state.owed.items())]


def build_node(state: StrategyState, name: str) -> onprem.OwnedNode:
    """An owned system at the state's figures; 0 for a price or power that it does not tell."""
    accelerator, count = state.nodes.get(name, ("", 0))
    price, power, height = (state.assumptions.get(each) for each in override_names(name))
    return onprem.OwnedNode(
        name, accelerator, count, price.value if price else 0.0, date.min, "", power.value if power else 0.0, "",
        height.value if height else None, state.site, state.finance,
    )  # fmt: skip


def existing_node_payments(state: StrategyState, name: str, existing_nodes: ReconstructedNodes) -> tuple[Payment, ...]:
    """What nodes that were owned before still cost, less what they are sold for."""
    life = round(state.assumptions["useful_life_months"].value) - existing_nodes.age
    covers = range(1, min(life, state.terms.months) + 1)
    node = build_node(state, name)
    return onprem.existing_node_payments(
        node, existing_nodes.count, existing_nodes.age, covers, state.assumptions, state.terms
    )


def is_commitment(place: Place) -> bool:
    """Whether use of a place is paid by a commitment, not by the hour."""
    option = parse_purchase_option(place[3])
    return option is not None and load_purchase_options()[option.kind].COMMITS


def sum_use_by_place(state: StrategyState, last: int) -> dict[Place, float]:
    """What is drawn in the months up to `last` from each place that is bought: node-hours, or money for money."""
    amounts_by_place: dict[Place, list[float]] = defaultdict(list)
    pools = {place for place, _ in state.bought if is_money_commitment(place)}
    for (_, place, month), work in state.work.items():
        if month > last:
            continue
        amounts_by_place[place].append(work.hours)
        for pool in pools:
            if place != pool and is_covered(place, pool) and place in state.prices:
                amounts_by_place[pool].append(work.hours * state.prices[place].price_per_hour)
    return {place: math.fsum(amounts) for place, amounts in amounts_by_place.items()}


def is_money_commitment(place: Place) -> bool:
    """Whether it is money an hour that is committed to, not nodes."""
    option = parse_purchase_option(place[3])
    return option is not None and load_purchase_options()[option.kind].UNIT == "money"


def is_covered(place: Place, pool: Place) -> bool:
    """Whether committed money covers use of a place: of the provider, or of one family in one region."""
    if (place[0], place[3]) != (pool[0], pool[3]):
        return False
    whole = parse_purchase_option(pool[3])
    if whole is not None and whole.offering_class != "instance":
        return True
    return place[1] == pool[1] and place[2].partition(".")[0] == pool[2]


def purchase_payments(state: StrategyState, place: Place, month: int, amount: float) -> Iterable[Payment]:
    if place[3] == "owned":
        return onprem.node_payments(build_node(state, place[2]), month, amount, state.assumptions, state.terms)
    return _rental_payments(state, place, month, amount)


def use_payments(state: StrategyState, place: Place, month: int, hours: float) -> Iterable[Payment]:
    if place[3] == "owned":
        return onprem.node_use_payments(build_node(state, place[2]), month, hours, state.assumptions)
    return () if is_commitment(place) else _rental_payments(state, place, month, hours)


def _data_payments(state: StrategyState, place: Place, month: int, amount: float) -> Iterable[Payment]:
    row = Payment(month, "end", "storage", amount)
    return (row,) if place[3] == "owned" else paying.add_support_and_tax((row,), state.terms)


def _rental_payments(state: StrategyState, place: Place, month: int, amount: float) -> Iterable[Payment]:
    """What an amount of a place costs: node-hours by the hour, else nodes, node-days or money committed to."""
    price = state.prices.get(place)
    if price is None:
        return ()
    option = load_purchase_options()[price.kind]
    negotiated = isinstance(price, AdjustedPrice) and bool(price.adjustment)
    price_fraction = 1 - (state.terms.enterprise_discount_fraction if option.DISCOUNTED and not negotiated else 0.0)
    rows = option.payments(price, month, amount, state.terms)
    return paying.add_support_and_tax((replace(row, amount=row.amount * price_fraction) for row in rows), state.terms)


def _support_top_up(state: StrategyState, rows: Iterable[Payment]) -> Iterator[Payment]:
    """What tops the support plan up to its least fee in months with a cloud bill."""
    least = state.assumptions["cloud_support_minimum_per_month"].value
    if not least:
        return
    support: dict[int, float] = defaultdict(float)
    for row in rows:
        if row.category in ("on_demand", "spot", "commitment", "cloud_support"):
            support[row.month] += row.amount if row.category == "cloud_support" else 0.0
    for month, paid in support.items():
        yield from paying.support_minimum_payments(month, max(0.0, least - paid), state.terms)


def build_price(place: Place, per_hour: float, adjustment: str = "") -> Price:
    """A price of a place, with what payments look at."""
    option = parse_purchase_option(place[3])
    assert option is not None
    return AdjustedPrice(*place, *option, per_hour, "", date.min, "", "listed", "", adjustment=adjustment)
