"""The old state turned into the new one, cause by cause in a fixed order, each with all earlier ones in force.

Purchases follow the work: of the change in what is bought at a place, as large a part is made as has been made of the
change in what is drawn from it. What is left at the end is decided: what is bought and where it runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from planner import owned
from planner.answer import RequestedWorkload
from planner.answer.changes import Value
from planner.cashflow import terms_of
from planner.diff import _work
from planner.diff._currency import Rates
from planner.diff._read import EXISTING
from planner.diff._state import DUST, Place, State, drawn, is_money
from planner.diff._work import Compared, Where, same
from planner.estate import Finance, Site

GOODPUT = frozenset(
    {
        "failure_interval_accelerator_hours",
        "spot_hours_to_interruption",
        "accelerator_failures_annual",
        "repair_hours",
    }
)
"""Assumptions that act on the hours that work takes."""
DISCOUNT = "discount_rate_annual"
OWED_DUST = 1e-6
MONEY = "money"
OF_SYSTEMS = ("price_of_", "power_kw_of_", "rack_units_of_")
K = TypeVar("K")
P = TypeVar("P", bound=tuple[Any, ...])
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Move:
    """One change and the state after it, with the figures before and after; None where there is none."""

    cause: str
    name: str
    figures: tuple[Value, Value]
    unit: str
    state: State


class Walk:
    """The moves from the old state, in the new plan's currency (`first`), to the new one (`target`)."""

    def __init__(self, compared: Compared, rates: Rates) -> None:
        self.compared, self.rates = compared, rates
        self.common, self.currency = compared.common, rates.currency
        self.target = compared.after.state
        self.first = self._joined(rates.restated(compared.before.state))
        self.drawn = drawn(self.first, self.common), drawn(self.target, self.common)

    def moves(self) -> Iterator[Move]:
        """Every change, in order; the last state is the new one."""
        state = self.first
        for cause in (
            self._exchange, self._discount, self._prices, self._data, self._throughput, self._demand, self._assumptions,
            self._existing, self._months, self._decisions,
        ):  # fmt: skip
            for move in cause(state):
                yield move
                state = move.state

    def _joined(self, state: State) -> State:
        """With what only the new side tells: figures, prices and systems of what is used there for the first time."""
        own = any(place[3] == "owned" for place in _places(state))
        return replace(
            state,
            assumptions={**self.target.assumptions, **state.assumptions},
            prices={**self.target.prices, **state.prices},
            nodes={**self.target.nodes, **state.nodes},
            site=state.site if own else self.target.site,
            finance=state.finance if own else self.target.finance,
        )

    def _exchange(self, state: State) -> Iterator[Move]:
        for source, old, new in self.rates.moved():
            state = self._following(self.rates.listed_at(state, source, new / old))
            yield Move("exchange rate", f"1 {source}", (old, new), self.currency, state)

    def _discount(self, state: State) -> Iterator[Move]:
        yield from self._assumed(state, "discount rate", [DISCOUNT])

    def _prices(self, state: State) -> Iterator[Move]:
        sides = (self.compared.before.state, self.compared.after.state)
        for place in sorted(sides[0].prices.keys() & sides[1].prices.keys()):
            old, new = state.prices[place], self.target.prices[place]
            if not same(old.price_per_hour, new.price_per_hour):
                state = self._following(replace(state, prices={**state.prices, place: new}))
                figures = old.price_per_hour, new.price_per_hour
                yield Move("price", " ".join(place), figures, f"{self.currency} an hour", state)
        yield from self._assumed(state, "price", [owned.own_figures(name)[0] for name in sorted(state.nodes)])

    def _data(self, state: State) -> Iterator[Move]:
        for where in self.compared.in_both(state):
            new = _work.with_data(state, self.target.work, where)
            changed = [key for key in state.work if not same(state.work[key].data, new.work[key].data)]
            if changed:
                a, b = state.work[min(changed)].data, new.work[min(changed)].data
                state = new
                yield Move("data", _at(where), (a, b), f"{self.currency} a month", state)

    def _throughput(self, state: State) -> Iterator[Move]:
        is_failing = any(self._differs(state, name) for name in GOODPUT)
        for where in self.compared.in_both(state):
            stated = self.compared.stated(where)
            if stated is None:
                continue
            by = self.compared.ratio(state, where) if self.compared.is_job(where[0]) and not is_failing else stated
            if not same(by, 1.0):
                new = self._following(_work.slowed(state, {where: by}, self.common))
                figures = self.compared.units_per_hour(state, where), self.compared.units_per_hour(new, where)
                state = new
                yield Move("throughput", _at(where), figures, "units a node-hour", state)

    def _demand(self, state: State) -> Iterator[Move]:
        old, new = (side.workloads() for side in (self.compared.before, self.compared.after))
        for name in sorted({*old, *new}):
            if _work.asks_more_or_less(self.compared, name):
                state = self._following(_work.with_demand(self.compared, state, name))
                figures = self._units(old.get(name)), self._units(new.get(name))
                yield Move("demand", name, figures, (new.get(name) or old[name]).unit, state)

    def _assumptions(self, state: State) -> Iterator[Move]:
        systems = {figure for name in state.nodes for figure in owned.own_figures(name)[1:]}
        named = [n for n in state.assumptions if n != DISCOUNT and not n.startswith(OF_SYSTEMS)]
        for move in self._assumed(state, "assumption", [*named, *sorted(systems)]):
            state = move.state
            yield move
        a, b = state.terms.charge_beyond_horizon, self.target.terms.charge_beyond_horizon
        if a != b:
            state = replace(state, terms=replace(state.terms, charge_beyond_horizon=b))
            yield Move("assumption", "commitments that outlive the plan", (_beyond(a), _beyond(b)), "", state)
        ways = [(each.site, each.finance) for each in (state, self.target)]
        if ways[0] != ways[1] and any(place[3] == "owned" for place in _places(self.target)):
            hired = state.staff if ways[0][0].staff == ways[1][0].staff else self.target.staff
            state = replace(state, site=self.target.site, finance=self.target.finance, staff=hired)
            yield Move(
                "assumption", "how owned nodes stand and are paid for", (_way(*ways[0]), _way(*ways[1])), "", state
            )

    def _assumed(self, state: State, cause: str, names: Sequence[str]) -> Iterator[Move]:
        """The state with each figure as the new plan has it; those about failures with the hours they cost."""
        changed = [name for name in names if self._differs(state, name)]
        failing = [name for name in changed if name in GOODPUT]
        for name in changed:
            old, new = state.assumptions[name], self.target.assumptions[name]
            assumptions = {**state.assumptions, name: new}
            t = state.terms
            terms = terms_of(assumptions, t.months, t.hours_per_month, t.charge_beyond_horizon)
            state = replace(state, assumptions=assumptions, terms=terms)
            if failing and name == failing[-1]:
                factors = {where: self.compared.ratio(state, where) for where in self.compared.in_both(state)}
                state = self._following(_work.slowed(state, factors, self.common))
            yield Move(cause, name, (old.value, new.value), new.unit, state)

    def _differs(self, state: State, name: str) -> bool:
        old, new = state.assumptions.get(name), self.target.assumptions.get(name)
        return old is not None and new is not None and not same(old.value, new.value)

    def _existing(self, state: State) -> Iterator[Move]:
        sides = (self.compared.before, self.compared.after)
        rows = [row for side in sides for row in side.strategy.cash]
        scale = OWED_DUST * math.fsum(abs(row.amount) for row in rows)
        moments = {*state.owed, *self.target.owed}
        moved = math.fsum(abs(state.owed.get(m, 0.0) - self.target.owed.get(m, 0.0)) for m in moments)
        if moved > scale or state.held != self.target.held:
            titles = dict.fromkeys(row.what for row in rows if row.what.endswith(EXISTING))
            name = ", ".join(titles) or "payments that the plans do not explain"
            old, state = state, replace(state, held=self.target.held, owed=self.target.owed)
            yield Move("existing", name, (old.owing(), state.owing()), self.currency, state)

    def _months(self, state: State) -> Iterator[Move]:
        old, new = state.terms.months, self.target.terms.months
        if old == new:
            return
        state = replace(
            state,
            terms=replace(state.terms, months=new),
            work={**{k: w for k, w in state.work.items() if k[2] <= new},
                  **{k: w for k, w in self.target.work.items() if k[2] > self.common}},
            bought={**{k: n for k, n in state.bought.items() if k[1] <= new},
                    **{k: n for k, n in self.target.bought.items() if k[1] > self.common}},
            staff={**{m: n for m, n in state.staff.items() if m <= new},
                   **{m: n for m, n in self.target.staff.items() if m > self.common}},
        )  # fmt: skip
        yield Move("months", "months planned", (old, new), "months", state)

    def _decisions(self, state: State) -> Iterator[Move]:
        for place in sorted(_places(state) | _places(self.target)):
            work, bought = _of(self.target.work, 1, place), _of(self.target.bought, 0, place)
            new = replace(
                state,
                work={key: each for key, each in state.work.items() if key[1] != place} | work,
                bought={lot: each for lot, each in state.bought.items() if lot[0] != place} | bought,
            )
            (old, unit), (amount, new_unit) = (_amount(each, place) for each in (self.first, self.target))
            state = new
            yield Move("decisions", _where(place), (old, amount), new_unit if amount else unit, state)
        hired = math.fsum(state.staff.values()), math.fsum(self.target.staff.values())
        yield Move("decisions", "operators", hired, "operator-months", self.target)

    def _units(self, workload: RequestedWorkload | None) -> float | None:
        return math.fsum(workload.demand[: self.common]) if workload else None

    def _following(self, state: State) -> State:
        """The state with purchases as far on their way as what is drawn from them."""
        now = drawn(state, self.common)
        lots = sorted(lot for lot in {*self.first.bought, *self.target.bought} if lot[1] <= self.common)
        far = {place: self._part(place, now) for place in {lot[0] for lot in lots}}
        bought = {lot: _between(self.first.bought, self.target.bought, lot, far[lot[0]]) for lot in lots}
        sizes = {lot: abs(self.target.bought.get(lot, 0.0) - self.first.bought.get(lot, 0.0))
                 for lot in lots if lot[0][3] == "owned"}  # fmt: skip
        whole = math.fsum(sizes.values())
        own = math.fsum(far[lot[0]] * size for lot, size in sizes.items()) / whole if whole else 0.0
        months = [m for m in {*self.first.staff, *self.target.staff} if m <= self.common]
        staff = {m: _between(self.first.staff, self.target.staff, m, own) for m in sorted(months)}
        return replace(state, bought={**state.bought, **bought}, staff={**state.staff, **staff})

    def _part(self, place: Place, now: Mapping[Place, float]) -> float:
        start, end = (sums.get(place, 0.0) for sums in self.drawn)
        if abs(end - start) <= DUST * max(abs(start), abs(end)):
            return 0.0
        return min(1.0, max(0.0, (now.get(place, 0.0) - start) / (end - start)))


def _places(state: State) -> set[Place]:
    return {place for place, _ in state.bought} | {place for _, place, _ in state.work}


def _between(old: Mapping[K, float], new: Mapping[K, float], key: K, part: float) -> float:
    start = old.get(key, 0.0)
    return start + (new.get(key, 0.0) - start) * part


def _of(values: Mapping[P, V], part: int, place: Place) -> dict[P, V]:
    """Those whose key names the place at `part`."""
    return {key: value for key, value in values.items() if key[part] == place}


def _amount(state: State, place: Place) -> tuple[float, str]:
    """What is bought of a place in all, or the node-hours used there where nothing is."""
    lots = [amount for lot, amount in state.bought.items() if lot[0] == place]
    if lots and is_money(place):
        return math.fsum(lots), f"{MONEY} an hour"
    if lots:
        return math.fsum(lots), "node-days" if place[3] == "capacity_block" else "nodes"
    return math.fsum(work.hours for key, work in state.work.items() if key[1] == place), "node-hours"


def _at(where: Where) -> str:
    return f"{where[0]} at {_where(where[1])}"


def _where(place: Place) -> str:
    return " ".join(part for part in place if part and part != "owned")


def _way(site: Site, finance: Finance) -> str:
    energy = ", electricity in the rent" if site.energy_included else ""
    return f"{site.facility.replace('_', ' ')}{energy}, {site.staff} operators, {finance.hardware}"


def _beyond(in_full: bool) -> str:
    return "in full" if in_full else "pro rata"
