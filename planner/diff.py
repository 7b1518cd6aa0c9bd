"""What changed between two plans and why: the difference of their costs, taken apart into causes that add up to it.

Everything is read from the two documents; nothing is planned again. The old plan is turned into the new one in a fixed
order, each cause with all earlier ones in force:

1. exchange rate: the old amounts at the new plan's rate
2. months: those that only one of the plans has
3. discount rate: the old payments at the new rate and from the new start (present cost only)
4. price: what the old plan used and bought, at the new plan's prices
5. assumption: the same, at what a unit of it costs in the new plan (tariffs, drift, staff, taxes ...)
6. demand: scaled to the new plan's work, workload by workload; new and dropped workloads whole
7. decisions: what is bought and where work runs

A unit is a node-hour of what is rented by the hour, a unit of work for storage, egress and transfer, a node in service
for what is bought. Only what both plans pay in the same month, for the same thing, has a unit cost in both.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planner.answer import CashRow, Plan, Strategy
from planner.cashflow import discount_factor

CAUSES = ("exchange rate", "months", "discount rate", "price", "assumption", "demand", "decisions")
DATA = frozenset({"storage", "egress", "transfer"})
Key = tuple[str, str, str, str]
"""Calendar month, moment, category and what it is for."""


@dataclass(frozen=True, slots=True)
class Step:
    """One cause: what it adds to the total and to the present cost, in the new plan's currency, and what it was."""

    cause: str
    total: float
    present: float
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    """From `old` to `new` (total cost, present cost); the old plan's amounts are in its own currency."""

    strategy: tuple[str, str]
    old: tuple[float, float]
    new: tuple[float, float]
    currencies: tuple[str, str]
    steps: tuple[Step, ...]


class NoRate(Exception):
    """Two currencies, and neither plan tells a rate between them."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One strategy of a plan, its payments by key, and how much each is for."""

    plan: Plan
    strategy: Strategy
    paid: Mapping[Key, float]
    quantity: Mapping[Key, float]
    shares: Mapping[str, Mapping[str, float]]
    factor: Callable[[Key], float]


def diff(old: Plan, new: Plan, of_old: str, of_new: str) -> Diff:
    """The causes of the difference between a strategy of each plan. NoRate where currencies cannot be joined."""
    before, after = _side(old, old.strategy(of_old)), _side(new, new.strategy(of_new))
    rate = rate_between(old, new)
    both = set(old.month_names) & set(new.month_names)
    common = {key: amount * rate for key, amount in before.paid.items() if key[0] in both}
    now = {key: amount for key, amount in after.paid.items() if key[0] in both}
    price, unit = _unit_changes(before, after, common, now, rate)
    repriced = {key: amount * unit[key] for key, amount in common.items()}
    demand = _demand(before, after, repriced, now, both)
    weigh = after.factor
    total_old, present_old = _sums(before.paid, before.factor)
    steps = [
        Step("exchange rate", total_old * (rate - 1), present_old * (rate - 1), _rates(old, new, rate)),
        _months(before, after, both, rate),
        _step("discount rate", {}, weigh, _discounts(old, new), _moved(common, before.factor, weigh)),
        _step("price", {k: a * (price[k] - 1) for k, a in common.items()}, weigh, _prices(old, new)),
        _step("assumption", {k: a * (unit[k] - price[k]) for k, a in common.items()}, weigh, _assumptions(old, new)),
        _step("demand", demand, weigh, _work(before, after, both)),
    ]
    keys = sorted({*now, *repriced, *demand})
    rest = {key: now.get(key, 0.0) - repriced.get(key, 0.0) - demand.get(key, 0.0) for key in keys}
    steps.append(_step("decisions", rest, weigh, _decisions(before.strategy, after.strategy)))
    return Diff(
        (of_old, of_new),
        (total_old, present_old),
        _sums(after.paid, after.factor),
        (old.currency, new.currency),
        tuple(steps),
    )


def rate_between(old: Plan, new: Plan) -> float:
    """What the old plan's amounts are multiplied by: the change of the rate both went through, or the rate between
    their currencies that one of them tells."""
    known = [{(r.from_currency, r.to_currency): r.value for r in plan.exchange_rates} for plan in (old, new)]
    if old.currency == new.currency:
        both = sorted(set(known[0]) & set(known[1]))
        return known[1][both[0]] / known[0][both[0]] if both else 1.0
    for rates in (known[1], known[0]):
        if (old.currency, new.currency) in rates:
            return rates[old.currency, new.currency]
        if (new.currency, old.currency) in rates:
            return 1 / rates[new.currency, old.currency]
    raise NoRate(f"no rate between {old.currency} and {new.currency} in either plan")


def _side(plan: Plan, strategy: Strategy) -> _Side:
    names = plan.month_names
    paid: dict[Key, list[float]] = defaultdict(list)
    quantity: dict[Key, float] = {}
    amounts = _Amounts(strategy)
    for row in strategy.cash:
        key = (names[row.month - 1], row.at, row.category, row.what)
        paid[key].append(row.amount)
        quantity[key] = amounts.of(row)
    monthly = (1 + plan.discount_rate_annual) ** (1 / 12) - 1

    def factor(key: Key) -> float:
        return discount_factor(names.index(key[0]) + 1, "start" if key[1] == "start" else "end", monthly)

    sums = {key: math.fsum(rows) for key, rows in paid.items()}
    return _Side(plan, strategy, sums, quantity, amounts.shares(), factor)


class _Amounts:
    """How much a payment is for: node-hours, units of work, or nodes in service."""

    def __init__(self, strategy: Strategy) -> None:
        self.hours: dict[tuple[int, str], float] = defaultdict(float)
        self.units: dict[tuple[int, str], float] = defaultdict(float)
        self.work: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.bought = strategy.purchases
        for use in strategy.uses:
            title = _title(use.provider, use.region, use.name, use.purchase_option)
            self.hours[use.month, title] += use.node_hours
            self.units[use.month, title] += use.units
            self.work[title][use.workload] += use.node_hours

    def of(self, row: CashRow) -> float:
        if row.category in DATA:
            return self.units.get((row.month, row.what), 0.0)
        mine = [p for p in self.bought if _title(p.provider, p.region, p.name, p.purchase_option) == row.what]
        if not mine:
            return self.hours.get((row.month, row.what), 0.0)
        if row.at == "start":
            return math.fsum(p.amount for p in mine if p.month == row.month)
        return math.fsum(p.amount for p in mine if p.usable_from <= row.month <= p.usable_to)

    def shares(self) -> dict[str, dict[str, float]]:
        """Of what is paid for one thing, the part of each workload, by node-hours."""
        return {
            title: {name: hours / total for name, hours in by_name.items()}
            for title, by_name in self.work.items()
            if (total := math.fsum(by_name.values()))
        }


def _title(*parts: str) -> str:
    """As payments are titled: provider, region, type and option, or the name of an owned system."""
    return " ".join(part for part in parts if part and part != "owned")


def _unit_changes(
    before: _Side, after: _Side, common: Mapping[Key, float], now: Mapping[Key, float], rate: float
) -> tuple[dict[Key, float], dict[Key, float]]:
    """By key, what prices alone and what the whole cost of a unit is multiplied by; 1 where it is not known in both."""
    listed = [
        {_title(p.provider, p.region, p.instance_type, p.purchase_option): p.price_per_hour for p in side.plan.prices}
        for side in (before, after)
    ]
    price, unit = {}, {}
    for key, amount in common.items():
        a, b = listed[0].get(key[3]), listed[1].get(key[3])
        price[key] = b / (a * rate) if a and b and key[2] not in DATA else 1.0
        old, new = before.quantity[key], after.quantity.get(key, 0.0)
        known = key in now and old and new and amount
        unit[key] = (now[key] / new) / (amount / old) if known else price[key]
    return price, unit


def _demand(
    before: _Side, after: _Side, repriced: Mapping[Key, float], now: Mapping[Key, float], both: set[str]
) -> dict[Key, float]:
    """What scaling each workload's part to its new work adds; all of what is paid for a workload that is new."""
    grown = _growth(before.plan, after.plan, both)
    found: dict[Key, float] = defaultdict(float)
    for key, amount in repriced.items():
        parts = before.shares.get(key[3], {})
        found[key] += amount * math.fsum(part * (grown[name] - 1) for name, part in parts.items() if name in grown)
    for key, amount in now.items():
        parts = after.shares.get(key[3], {})
        found[key] += amount * math.fsum(part for name, part in parts.items() if name not in grown)
    return dict(found)


def _growth(old: Plan, new: Plan, both: set[str]) -> dict[str, float]:
    """By workload of the old plan, its work in the months of both over what it was; 0 where it is gone."""
    work = [_work_of(plan, both) for plan in (old, new)]
    return {name: work[1].get(name, 0.0) / units if units else 1.0 for name, units in work[0].items()}


def _work_of(plan: Plan, both: set[str]) -> dict[str, float]:
    return {
        w.name: math.fsum(units for units, month in zip(w.demand, plan.month_names, strict=True) if month in both)
        for w in plan.workloads
    }


def _months(before: _Side, after: _Side, both: set[str], rate: float) -> Step:
    gone = {key: amount * rate for key, amount in before.paid.items() if key[0] not in both}
    more = {key: amount for key, amount in after.paid.items() if key[0] not in both}
    (a, b), (c, d) = _sums(gone, before.factor), _sums(more, after.factor)
    names = [
        f"only in the {word} plan: {months[0]} to {months[-1]}"
        for word, side in (("old", before), ("new", after))
        if (months := [name for name in side.plan.month_names if name not in both])
    ]
    return Step("months", c - a, d - b, tuple(names))


def _step(
    cause: str,
    amounts: Mapping[Key, float],
    factor: Callable[[Key], float],
    details: tuple[str, ...],
    moved: float = 0.0,
) -> Step:
    total, present = _sums(amounts, factor)
    return Step(cause, total, present + moved, details if total or present or moved or cause == "decisions" else ())


def _sums(amounts: Mapping[Key, float], factor: Callable[[Key], float]) -> tuple[float, float]:
    return math.fsum(amounts.values()), math.fsum(amount * factor(key) for key, amount in amounts.items())


def _moved(amounts: Mapping[Key, float], before: Callable[[Key], float], after: Callable[[Key], float]) -> float:
    return math.fsum(amount * (after(key) - before(key)) for key, amount in amounts.items())


def _rates(old: Plan, new: Plan, rate: float) -> tuple[str, ...]:
    return () if rate == 1 else (f"1 {old.currency} of the old plan is {rate:.6g} {new.currency} of the new one",)


def _discounts(old: Plan, new: Plan) -> tuple[str, ...]:
    rates = f"{old.discount_rate_annual:.2%} a year -> {new.discount_rate_annual:.2%}"
    return (rates if old.start == new.start else f"{rates}; first month {old.start} -> {new.start}",)


def _prices(old: Plan, new: Plan) -> tuple[str, ...]:
    known = {(p.provider, p.region, p.instance_type, p.purchase_option): p for p in old.prices}
    return tuple(
        f"{' '.join(key)}: {a.price_per_hour:.6g} -> {p.price_per_hour:.6g} {p.currency} an hour"
        for p in new.prices
        if (a := known.get(key := (p.provider, p.region, p.instance_type, p.purchase_option))) is not None
        and (a.price_per_hour, a.currency) != (p.price_per_hour, p.currency)
    )


def _assumptions(old: Plan, new: Plan) -> tuple[str, ...]:
    known = {a.name: a for a in old.assumptions}
    return tuple(
        f"{a.name}: {known[a.name].value:.6g} -> {a.value:.6g} {a.unit}"
        for a in new.assumptions
        if a.name in known and known[a.name].value != a.value
    )


def _work(before: _Side, after: _Side, both: set[str]) -> tuple[str, ...]:
    old, new = _work_of(before.plan, both), _work_of(after.plan, both)
    changed = [
        f"{name}: {old[name]:,.6g} -> {new[name]:,.6g}" for name in old if name in new and old[name] != new[name]
    ]
    gone = [f"{name}: no longer asked for" for name in old if name not in new]
    return (*changed, *gone, *(f"{name}: new" for name in new if name not in old))


def _decisions(old: Strategy, new: Strategy) -> tuple[str, ...]:
    kept = [
        {(p.month, p.name, p.provider, p.region, p.purchase_option): p.amount for p in strategy.purchases}
        for strategy in (old, new)
    ]
    lines = []
    for key in sorted({*kept[0], *kept[1]}):
        a, b = kept[0].get(key, 0.0), kept[1].get(key, 0.0)
        if not math.isclose(a, b, rel_tol=1e-9):
            lines.append(f"month {key[0]}, {' '.join(part for part in key[1:] if part)}: {a:,.6g} -> {b:,.6g}")
    return tuple(lines)
