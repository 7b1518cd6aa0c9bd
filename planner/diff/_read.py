"""From a document to the state that one strategy of its plan was in.

What a plan does not tell by name (how owned nodes are paid for and where they stand, how old those are that were there
before) is told by its payments. A state read back is worth what the document says: what it does not explain is owed as
recorded.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, get_args

from planner import assumptions as figures
from planner import owned
from planner.answer import CashRow, Plan, PriceUsed, Purchase, Strategy, Use
from planner.assumptions import Assumptions
from planner.cashflow import Payment, terms_of
from planner.diff._state import (
    DUST,
    Held,
    Key,
    Lot,
    Moment,
    Place,
    State,
    Work,
    held_payments,
    is_money,
    node_of,
    payments,
    price_at,
    use_payments,
)
from planner.estate import Finance, Site
from pricing.price import Price

OPERATORS = "operators"
EXISTING = " (existing)"
RUNNING = frozenset({"space", "staff", "support"})


def read(plan: Plan, strategy: Strategy) -> State:
    """The state that a strategy of a plan was in; its payments add up to those recorded."""
    known = {**figures.defaults(), **{each.name: each for each in plan.assumptions}}
    beyond = not any("charged pro rata" in text for text in plan.conventions)
    state = State(
        terms=terms_of(known, plan.months, plan.hours_per_month, beyond),
        assumptions=known,
        prices={_place_of(price): _price(price) for price in plan.prices},
        site=Site(),
        finance=Finance(),
        nodes={line.name: (line.accelerator, round(line.accelerators_per_node)) for line in _owned(strategy)},
        work={},
        bought=_bought(strategy.purchases),
        staff=_operators(strategy, known),
        held={},
        owed={},
    )
    return min(_ways(state, plan, strategy), key=_unexplained)


def _unexplained(state: State) -> float:
    """What is owed as recorded, rounding left out."""
    return round(math.fsum(map(abs, state.owed.values())), 2)


def place_of(line: Purchase | Use) -> Place:
    """Where a line of a plan is."""
    return line.provider, line.region, line.name, line.purchase_option


def _place_of(price: PriceUsed) -> Place:
    return price.provider, price.region, price.instance_type, price.purchase_option


def _price(used: PriceUsed) -> Price:
    return price_at(_place_of(used), used.price_per_hour, used.adjustment)


def _bought(purchases: Iterable[Purchase]) -> dict[Lot, float]:
    found: dict[Lot, float] = defaultdict(float)
    for line in purchases:
        found[place_of(line), line.month] += line.amount
    return dict(found)


def _owned(strategy: Strategy) -> list[Purchase | Use]:
    lines: list[Purchase | Use] = [*strategy.purchases, *strategy.uses]
    return [line for line in lines if line.purchase_option == "owned"]


def _operators(strategy: Strategy, known: Assumptions) -> dict[int, float]:
    monthly = known["staff_cost_annual"].value / 12
    rows = [row for row in strategy.cash if (row.what, row.category) == (OPERATORS, "staff")]
    return {row.month: float(round(row.amount / monthly)) for row in rows} if monthly else {}


def _ways(state: State, plan: Plan, strategy: Strategy) -> Iterator[State]:
    """The whole state, with its owned nodes standing in each kind of place; how they are paid for, powered and looked
    after is told by what is paid."""
    own = {line.name for line in _owned(strategy)}
    rows = [row for row in strategy.cash if row.what.removesuffix(EXISTING) in own]
    moments = {row.at for row in rows if row.category == "financing"}
    hardware: Literal["cash", "loan", "lease"] = "lease" if "start" in moments else "loan" if moments else "cash"
    staff: Literal["shared", "whole"] = "whole" if state.staff else "shared"
    site = Site(energy_included=bool(own) and not any(row.category == "power" for row in rows), staff=staff)
    pools = {place: price_at(place, 1.0) for place, _ in state.bought if is_money(place)}
    state = replace(state, finance=Finance(hardware=hardware), prices={**state.prices, **pools})
    for facility in get_args(Site.model_fields["facility"].annotation) if own else (site.facility,):
        placed = replace(state, site=site.model_copy(update={"facility": facility}))
        placed = replace(placed, work=_work(plan, strategy, placed))
        placed = replace(placed, held=_held(placed, strategy.cash))
        yield replace(placed, owed=_owed(strategy.cash, payments(placed)))


def _work(plan: Plan, strategy: Strategy, state: State) -> dict[Key, Work]:
    """Work by key. What a use costs beyond its hours is its data."""
    due = {w.name: w.demand for w in plan.workloads}
    by_deadline = deadlines(plan, strategy)
    uses: dict[Key, list[Use]] = defaultdict(list)
    for use in strategy.uses:
        uses[use.workload, place_of(use), use.month].append(use)
    found = {}
    for (name, place, month), lines in uses.items():
        hours, units = math.fsum(u.node_hours for u in lines), math.fsum(u.units for u in lines)
        cost = math.fsum(u.cost for u in lines)
        rest = cost - math.fsum(row.amount for row in use_payments(state, place, month, hours))
        rest = 0.0 if rest <= DUST * cost else rest if place[3] == "owned" else rest / state.terms.bill_factor
        of_all = math.fsum(due[name]) if name in by_deadline else due[name][month - 1]
        share = units / of_all if of_all else 0.0
        found[name, place, month] = Work(hours, units, share, rest / share if share else 0.0)
    return found


def deadlines(plan: Plan, strategy: Strategy) -> set[str]:
    """Workloads whose work is due once and may be done before: some of it is, or all that is due is in one month."""
    due = {w.name: w.demand for w in plan.workloads}
    early = {use.workload for use in strategy.uses if use.units and not due[use.workload][use.month - 1]}
    return early | {name for name, units in due.items() if sum(map(bool, units)) == 1 < len(units)}


def _owed(cash: Iterable[CashRow], rows: Iterable[Payment]) -> dict[Moment, float]:
    """What was paid at each moment beyond the payments `rows`; what rounding leaves is kept too."""
    sums: dict[Moment, list[float]] = defaultdict(list)
    for row in cash:
        sums[row.month, row.at].append(row.amount)
    for payment in rows:
        sums[payment.month, payment.at].append(-payment.amount)
    return {moment: rest for moment, amounts in sorted(sums.items()) if (rest := math.fsum(amounts))}


def _held(state: State, cash: Iterable[CashRow]) -> dict[str, Held]:
    """Systems that were owned before, where count and age explain all that is paid for them but the power at work."""
    found = {}
    for name in state.nodes:
        rows = [row for row in cash if row.what == f"{name}{EXISTING}"]
        running = math.fsum(row.amount for row in rows if row.category in RUNNING)
        sold = -math.fsum(row.amount for row in rows if row.category == "resale")
        last = max((row.month for row in rows), default=0)
        one = held_payments(state, name, Held(1, 0))
        each = math.fsum(row.amount for row in one if row.category in RUNNING and row.month <= last)
        count = round(running / each) if each else 0
        held = Held(count, _age(state, name, count, sold, last))
        again = [row for row in held_payments(state, name, held) if row.category != "power"] if count else []
        told = [row.amount for row in rows if row.category != "power"]
        if again and math.isclose(math.fsum(row.amount for row in again), math.fsum(told), rel_tol=DUST):
            found[name] = held
    return found


def _age(state: State, name: str, count: int, sold: float, last: int) -> int:
    """The age at the start of the plan of nodes that were sold at the end of a month."""
    new = owned.resale_value(node_of(state, name), 0, state.assumptions) * count
    kept = 1 - state.assumptions["value_loss_annual"].value
    if not (new > 0 and sold > 0 and 0 < kept < 1):
        return 0
    return max(0, round(12 * math.log(sold / new) / math.log(kept)) - last)
