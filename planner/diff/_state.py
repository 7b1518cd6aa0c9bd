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
from typing import Literal, get_args

from planner import assumptions as figures
from planner import owned, paying
from planner.answer import CashRow, Plan, PriceUsed, Purchase, Strategy, Use
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
    owed: Mapping[Moment, float]

    def sums(self) -> tuple[float, float]:
        """Total cost and present cost."""
        rows = payments(self)
        present = present_cost(rows, self.terms.discount_rate_monthly)
        return math.fsum(row.amount for row in rows), present


def terms_of(assumptions: Assumptions, months: int, hours_per_month: float, beyond: bool) -> Terms:
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
        owed={},
    )
    state = _placed(state, strategy)
    state = replace(state, work=_work(plan, strategy, state))
    return replace(state, owed=_owed(strategy.cash, payments(state)))


def payments(state: State) -> list[Payment]:
    """Every payment of a state."""
    rows = [row for (place, month), amount in state.bought.items() for row in _purchase(state, place, month, amount)]
    for (_, place, month), work in state.work.items():
        rows += _use(state, place, month, work.hours)
        if work.share and work.data:
            rows += _data(state, place, month, work.share * work.data)
    for month, count in state.staff.items():
        rows += (replace(p, amount=p.amount * count) for p in owned.staff_payments(month, 1, state.assumptions))
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


def _purchase(state: State, place: Place, month: int, amount: float) -> Iterable[Payment]:
    if place[3] == "owned":
        return owned.payments(node_of(state, place[2]), month, amount, state.assumptions, state.terms)
    return _rented(state, place, month, amount)


def _use(state: State, place: Place, month: int, hours: float) -> Iterable[Payment]:
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


def _place_of(price: PriceUsed) -> Place:
    return price.provider, price.region, price.instance_type, price.purchase_option


def _price(used: PriceUsed) -> Price:
    return price_at(_place_of(used), used.price_per_hour, used.adjustment)


def price_at(place: Place, per_hour: float, adjustment: str = "") -> Price:
    """A price of a place, with what payments look at."""
    option = option_of(place[3])
    assert option is not None
    return Adjusted(*place, *option, per_hour, "", date.min, "", "listed", "", adjustment=adjustment)


def _bought(purchases: Iterable[Purchase]) -> dict[Lot, float]:
    found: dict[Lot, float] = defaultdict(float)
    for line in purchases:
        found[place_of(line), line.month] += line.amount
    return dict(found)


def place_of(line: Purchase | Use) -> Place:
    """Where a line of a plan is."""
    return line.provider, line.region, line.name, line.purchase_option


def _owned(strategy: Strategy) -> list[Purchase | Use]:
    return [line for line in (*strategy.purchases, *strategy.uses) if line.purchase_option == "owned"]


def _operators(strategy: Strategy, known: Assumptions) -> dict[int, float]:
    monthly = known["staff_cost_annual"].value / 12
    rows = [row for row in strategy.cash if (row.what, row.category) == (OPERATORS, "staff")]
    return {row.month: float(round(row.amount / monthly)) for row in rows} if monthly else {}


def _placed(state: State, strategy: Strategy) -> State:
    """The state with how its owned nodes are paid for and where they stand, told from what is paid; with committed
    money as a price of 1."""
    own = {line.name for line in _owned(strategy)}
    rows = [row for row in strategy.cash if row.what in own]
    moments = {row.at for row in rows if row.category == "financing"}
    hardware: Literal["cash", "loan", "lease"] = "lease" if "start" in moments else "loan" if moments else "cash"
    powered = any(row.category == "power" for row in rows) or not own
    staff: Literal["shared", "whole"] = "whole" if state.staff else "shared"
    pools = {place: price_at(place, 1.0) for place, _ in state.bought if is_money(place)}
    finance, site = Finance(hardware=hardware), Site(energy_included=not powered, staff=staff)
    state = replace(state, finance=finance, site=site, prices={**state.prices, **pools})
    paid = math.fsum(row.amount for row in rows if row.category == "space")
    places = [replace(state, site=site.model_copy(update={"facility": each})) for each in _facilities()]
    return next((each for each in places if math.isclose(_space(each), paid, rel_tol=DUST, abs_tol=0.01)), state)


def _facilities() -> tuple[str, ...]:
    return get_args(Site.model_fields["facility"].annotation)


def _space(state: State) -> float:
    rows = (row for (place, month), n in state.bought.items() if place[3] == "owned"
            for row in _purchase(state, place, month, n))  # fmt: skip
    return math.fsum(row.amount for row in rows if row.category == "space")


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
        rest = cost - math.fsum(row.amount for row in _use(state, place, month, hours))
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
