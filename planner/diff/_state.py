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

from planner import owned, paying
from planner.assumptions import Assumptions
from planner.cashflow import Payment, Terms, present_cost
from planner.estate import Finance, Site
from planner.options import options
from pricing.price import Adjusted, Price, option_of

Place = tuple[str, str, str, str]
"""Provider, region, instance type and way of paying; "", "", the system and owned for what is owned."""
Key = tuple[str, Place, int]
"""Workload, place and month."""
Lot = tuple[Place, int]
"""What is bought, and the month of the order."""
Moment = tuple[int, Literal["start", "end"]]
OPERATORS = "operators"
EXISTING = " (existing)"
DUST = 1e-9
"""Of a sum: what is left below this is rounding."""


@dataclass(frozen=True, slots=True)
class Work:
    """Node-hours and units of work; `share` of the month's data that goes with it, `data` what all of that data costs
    there before support and tax."""

    hours: float
    units: float
    share: float
    data: float


@dataclass(frozen=True, slots=True)
class Held:
    """Nodes of a system that were owned before the plan, and their age in months at its start."""

    count: int
    age: int


@dataclass(frozen=True, slots=True)
class State:
    """What payments follow from. `nodes` are accelerators per owned system; `owed` is paid as recorded."""

    terms: Terms
    assumptions: Assumptions
    prices: Mapping[Place, Price]
    site: Site
    finance: Finance
    nodes: Mapping[str, tuple[str, int]]
    work: Mapping[Key, Work]
    bought: Mapping[Lot, float]
    staff: Mapping[int, float]
    held: Mapping[str, Held]
    owed: Mapping[Moment, float]

    def sums(self) -> tuple[float, float]:
        """Total cost and present cost."""
        rows = payments(self)
        present = present_cost(rows, self.terms.discount_rate_monthly)
        return math.fsum(row.amount for row in rows), present

    def owing(self) -> float:
        """What is paid in all for what was there before."""
        held = (row.amount for name, each in self.held.items() for row in held_payments(self, name, each))
        return math.fsum([*held, *self.owed.values()])


def payments(state: State) -> list[Payment]:
    """Every payment of a state."""
    rows = [
        row for (place, month), amount in state.bought.items() for row in purchase_payments(state, place, month, amount)
    ]
    for (_, place, month), work in state.work.items():
        rows += use_payments(state, place, month, work.hours)
        if work.share and work.data:
            rows += _data(state, place, month, work.share * work.data)
    for month, count in state.staff.items():
        rows += (replace(p, amount=p.amount * count) for p in owned.staff_payments(month, 1, state.assumptions))
    for name, held in state.held.items():
        rows += held_payments(state, name, held)
    rows += _least_support(state, rows)
    return [*rows, *(Payment(month, at, "commitment", amount) for (month, at), amount in state.owed.items())]


def node_of(state: State, name: str) -> owned.Node:
    """An owned system at the state's figures; 0 for a price or power that it does not tell."""
    accelerator, count = state.nodes.get(name, ("", 0))
    price, power, height = (state.assumptions.get(each) for each in owned.own_figures(name))
    return owned.Node(
        name, accelerator, count, price.value if price else 0.0, date.min, "", power.value if power else 0.0, "",
        height.value if height else None, state.site, state.finance,
    )  # fmt: skip


def held_payments(state: State, name: str, held: Held) -> tuple[Payment, ...]:
    """What nodes that were owned before still cost, less what they are sold for."""
    life = round(state.assumptions["useful_life_months"].value) - held.age
    covers = range(1, min(life, state.terms.months) + 1)
    node = node_of(state, name)
    return owned.existing_payments(node, held.count, held.age, covers, state.assumptions, state.terms)


def commits(place: Place) -> bool:
    """Whether use of a place is paid by a commitment, not by the hour."""
    option = option_of(place[3])
    return option is not None and options()[option.kind].COMMITS


def drawn(state: State, last: int) -> dict[Place, float]:
    """What is drawn in the months up to `last` from each place that is bought: node-hours, or money for money."""
    found: dict[Place, list[float]] = defaultdict(list)
    pools = {place for place, _ in state.bought if is_money(place)}
    for (_, place, month), work in state.work.items():
        if month > last:
            continue
        found[place].append(work.hours)
        for pool in pools:
            if place != pool and is_covered(place, pool) and place in state.prices:
                found[pool].append(work.hours * state.prices[place].price_per_hour)
    return {place: math.fsum(amounts) for place, amounts in found.items()}


def is_money(place: Place) -> bool:
    """Whether it is money an hour that is committed to, not nodes."""
    option = option_of(place[3])
    return option is not None and options()[option.kind].UNIT == "money"


def is_covered(place: Place, pool: Place) -> bool:
    """Whether committed money covers use of a place: of the provider, or of one family in one region."""
    if (place[0], place[3]) != (pool[0], pool[3]):
        return False
    whole = option_of(pool[3])
    if whole is not None and whole.offering_class != "instance":
        return True
    return place[1] == pool[1] and place[2].partition(".")[0] == pool[2]


def purchase_payments(state: State, place: Place, month: int, amount: float) -> Iterable[Payment]:
    if place[3] == "owned":
        return owned.payments(node_of(state, place[2]), month, amount, state.assumptions, state.terms)
    return _rented(state, place, month, amount)


def use_payments(state: State, place: Place, month: int, hours: float) -> Iterable[Payment]:
    if place[3] == "owned":
        return owned.use_payments(node_of(state, place[2]), month, hours, state.assumptions)
    return () if commits(place) else _rented(state, place, month, hours)


def _data(state: State, place: Place, month: int, amount: float) -> Iterable[Payment]:
    row = Payment(month, "end", "storage", amount)
    return (row,) if place[3] == "owned" else paying.billed((row,), state.terms)


def _rented(state: State, place: Place, month: int, amount: float) -> Iterable[Payment]:
    """What an amount of a place costs: node-hours by the hour, else nodes, node-days or money committed to."""
    price = state.prices.get(place)
    if price is None:
        return ()
    option = options()[price.kind]
    negotiated = isinstance(price, Adjusted) and bool(price.adjustment)
    kept = 1 - (state.terms.enterprise_discount_fraction if option.DISCOUNTED and not negotiated else 0.0)
    rows = option.payments(price, month, amount, state.terms)
    return paying.billed((replace(row, amount=row.amount * kept) for row in rows), state.terms)


def _least_support(state: State, rows: Iterable[Payment]) -> Iterator[Payment]:
    """What tops the support plan up to its least fee in months with a cloud bill."""
    least = state.assumptions["cloud_support_minimum_per_month"].value
    if not least:
        return
    support: dict[int, float] = defaultdict(float)
    for row in rows:
        if row.category in ("on_demand", "spot", "commitment", "cloud_support"):
            support[row.month] += row.amount if row.category == "cloud_support" else 0.0
    for month, paid in support.items():
        yield from paying.support_minimum(month, max(0.0, least - paid), state.terms)


def price_at(place: Place, per_hour: float, adjustment: str = "") -> Price:
    """A price of a place, with what payments look at."""
    option = option_of(place[3])
    assert option is not None
    return Adjusted(*place, *option, per_hour, "", date.min, "", "listed", "", adjustment=adjustment)
