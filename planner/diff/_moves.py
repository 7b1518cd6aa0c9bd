"""The old state turned into the new one, one cause after another, each with all earlier ones in force.

Work moves in hours, purchases follow the work: of the change in what is bought at a place, as large a part is made as
has been made of the change in what is drawn from it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from planner import assumptions as figures
from planner.answer import Assumption, Plan, Strategy
from planner.assumptions import in_currency
from planner.diff._currency import Rates
from planner.diff._state import (
    DUST,
    Key,
    Lot,
    Place,
    State,
    Work,
    deadlines,
    drawn,
    is_money,
    price_at,
    terms_of,
)

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


@dataclass(frozen=True, slots=True)
class Move:
    """One change, and the state after it. `old` and `new` are the figures before and after, None where there is none;
    `counts` is false for what only tells."""

    cause: str
    name: str
    old: float | str | None
    new: float | str | None
    unit: str
    state: State


@dataclass(frozen=True, slots=True)
class Side:
    """A plan, the strategy of it that is compared, and its state."""

    plan: Plan
    strategy: Strategy
    state: State


class Walk:
    """The moves from one side to the other. `first` is the old state in the new plan's currency."""

    def __init__(self, before: Side, after: Side, rates: Rates) -> None:
        self.before, self.after, self.rates = before, after, rates
        self.target = after.state
        self.common = min(before.plan.months, after.plan.months)
        self.first = self._joined(rates.restated(before.state))
        self.drawn = drawn(self.first, self.common), drawn(self.target, self.common)
        self.kinds = {w.name: w.kind for w in (*before.plan.workloads, *after.plan.workloads)}

    def _joined(self, state: State) -> State:
        """With what only the new side tells: figures and systems of what is bought there for the first time."""
        own = any(name == "owned" for *_, name in self._places(state))
        return replace(
            state,
            assumptions={**self.target.assumptions, **state.assumptions},
            prices={**self.target.prices, **state.prices},
            nodes={**self.target.nodes, **state.nodes},
            site=state.site if own else self.target.site,
            finance=state.finance if own else self.target.finance,
        )

    def _places(self, state: State) -> set[Place]:
        return {place for place, _ in state.bought} | {place for _, place, _ in state.work}

    def moves(self) -> Iterator[Move]:
        """Every change, in order; the last state is the new one."""
        state = self.first
        for cause in (
            self._exchange, self._discount, self._prices, self._data, self._throughput, self._demand, self._assumptions,
            self._existing, self._horizon, self._decisions,
        ):  # fmt: skip
            for move in cause(state):
                yield move
                state = move.state

    def _following(self, state: State) -> State:
        """The state with purchases as far on their way as what is drawn from them."""
        now, far = drawn(state, self.common), dict[Place, float]()
        for place in {place for place, _ in (*self.first.bought, *self.target.bought)}:
            start, end = (sums.get(place, 0.0) for sums in self.drawn)
            way = end - start
            is_way = abs(way) > DUST * max(abs(start), abs(end))
            far[place] = min(1.0, max(0.0, (now.get(place, 0.0) - start) / way)) if is_way else 0.0
        bought = dict(state.bought)
        for lot in self._lots():
            old, new = self.first.bought.get(lot, 0.0), self.target.bought.get(lot, 0.0)
            bought[lot] = old + (new - old) * far[lot[0]]
        own = self._owned_part(far)
        staff = dict(state.staff)
        for month in range(1, self.common + 1):
            old, new = self.first.staff.get(month, 0.0), self.target.staff.get(month, 0.0)
            if old != new:
                staff[month] = old + (new - old) * own
        return replace(state, bought=bought, staff=staff)

    def _lots(self) -> list[Lot]:
        return sorted(lot for lot in {*self.first.bought, *self.target.bought} if lot[1] <= self.common)

    def _owned_part(self, far: Mapping[Place, float]) -> float:
        """How far owned systems are on their way, by the size of what changes."""
        sizes: dict[Place, float] = defaultdict(float)
        for lot in self._lots():
            if lot[0][3] == "owned":
                sizes[lot[0]] += abs(self.target.bought.get(lot, 0.0) - self.first.bought.get(lot, 0.0))
        total = math.fsum(sizes.values())
        return math.fsum(far[place] * size for place, size in sizes.items()) / total if total else 0.0

    def _exchange(self, state: State) -> Iterator[Move]:
        for source, factor in self.rates.moved():
            old, new = self.rates.told(source)
            state = self._following(self.rates.listed_at(state, source, factor))
            yield Move("exchange rate", f"1 {source}", old, new, self.after.plan.currency, state)

    def _discount(self, state: State) -> Iterator[Move]:
        yield from self._assumed(state, "discount rate", {DISCOUNT})

    def _prices(self, state: State) -> Iterator[Move]:
        used = self._places(self.first) | self._places(self.target)
        for place in sorted(used & self.before.state.prices.keys() & self.after.state.prices.keys()):
            old, new = state.prices[place], self.target.prices[place]
            if is_money(place) and (place, 1) not in state.work and old.price_per_hour == new.price_per_hour == 1.0:
                state = replace(state, prices={**state.prices, place: new})
            elif not _same(old.price_per_hour, new.price_per_hour) or old != new:
                state = self._following(replace(state, prices={**state.prices, place: new}))
                unit = f"{self.after.plan.currency} an hour"
                yield Move("price", " ".join(place), old.price_per_hour, new.price_per_hour, unit, state)
        yield from self._assumed(state, "price", {name for name in state.assumptions if name.startswith("price_of_")})

    def _data(self, state: State) -> Iterator[Move]:
        by_name: dict[tuple[str, Place], dict[Key, Work]] = defaultdict(dict)
        for key, work in state.work.items():
            there = self.target.work.get(key)
            if there is not None and not _same(there.data, work.data):
                by_name[key[0], key[1]][key] = replace(work, data=there.data)
        for (name, place), changed in sorted(by_name.items()):
            first = min(changed, key=lambda key: key[2])
            old, new = state.work[first].data, changed[first].data
            state = replace(state, work={**state.work, **changed})
            unit = f"{self.after.plan.currency} a month"
            yield Move("data", f"{name} at {_where(place)}", old, new, unit, state)

    def _throughput(self, state: State) -> Iterator[Move]:
        yield from self._slower(state, "throughput", self._stated_ratio)

    def _slower(self, state: State, cause: str, ratio: Callable[[str, Place, float], float]) -> Iterator[Move]:
        """Node-hours for the same work, where both plans do some of a workload at a place."""
        for (name, place), whole in sorted(self._hours_ratios(state).items()):
            by = ratio(name, place, whole)
            if _same(by, 1.0):
                continue
            work = {
                key: replace(each, hours=each.hours * by) if key[:2] == (name, place) and key[2] <= self.common else each
                for key, each in state.work.items()
            }
            old, new = (_hours_per_unit(s.work, name, place, self.common) for s in (state, replace(state, work=work)))
            state = self._following(replace(state, work=work))
            yield Move(cause, f"{name} at {_where(place)}", 1 / old, 1 / new, "units a node-hour", state)

    def _hours_ratios(self, state: State) -> dict[tuple[str, Place], float]:
        """New over present node-hours for a unit of work. Services rent whole nodes: that is decided, not measured."""
        found = {}
        for name, place in {key[:2] for key in state.work if key in self.target.work}:
            if self.kinds.get(name) in ("training", "batch") and self._units(name):
                old, new = (_hours_per_unit(each.work, name, place, self.common) for each in (state, self.target))
                if old and new and not _same(old, new):
                    found[name, place] = new / old
        return found

    def _stated_ratio(self, name: str, place: Place, whole: float) -> float:
        """The part of a ratio that throughput has; all of it where no assumption about failures changed."""
        stated = self._stated(name, place)
        if stated is None:
            return 1.0
        failing = any(not _same(self.first.assumptions[n].value, self.target.assumptions[n].value) for n in GOODPUT)
        return stated if failing else whole

    def _stated(self, name: str, place: Place) -> float | None:
        """Old over new throughput of a workload on an accelerator; None where gangs of several sizes do the work."""
        rates = []
        for side in (self.before, self.after):
            parts = {u.accelerator for u in side.strategy.uses if (u.workload, u.name) == (name, place[2])}
            known = [t for t in side.plan.throughput if t.workload == name and t.accelerator in parts]
            if len({t.gang for t in known}) != 1:
                return None
            rates.append(known[0])
        return rates[0].units_per_hour / rates[1].units_per_hour if rates[0].gang == rates[1].gang else None

    def _demand(self, state: State) -> Iterator[Move]:
        names = sorted({key[0] for key in (*state.work, *self.target.work)})
        old, new = ({w.name: w for w in side.plan.workloads} for side in (self.before, self.after))
        for name in names:
            a, b = (side.get(name) for side in (old, new))
            sums = [math.fsum(w.demand[: self.common]) if w else None for w in (a, b)]
            same_unit = self._units(name)
            if a and b and same_unit and all(map(_same, a.demand[: self.common], b.demand[: self.common])):
                continue
            work = self._with_demand(state, name, whole=not same_unit)
            state = self._following(replace(state, work=work))
            unit = b.unit if b else a.unit if a else ""
            yield Move("demand", name, sums[0], sums[1], unit, state)

    def _units(self, name: str) -> bool:
        """Whether both plans ask for a workload and count it in the same unit."""
        units = [{w.name: w.unit for w in side.plan.workloads}.get(name) for side in (self.before, self.after)]
        return units[0] is not None and units[0] == units[1]

    def _with_demand(self, state: State, name: str, *, whole: bool) -> dict[Key, Work]:
        """The work of a workload with its new demand: more (less) of it where the new plan does more (less)."""
        keys = [k for k in {*state.work, *self.target.work} if k[0] == name and k[2] <= self.common]
        pooled = any(name in deadlines(side.plan, side.strategy) for side in (self.before, self.after))
        groups: dict[int, list[Key]] = defaultdict(list)
        for key in sorted(keys):
            groups[0 if pooled else key[2]].append(key)
        work = dict(state.work)
        none = Work(0.0, 0.0, 0.0, 0.0)
        for group in groups.values():
            moved = {k: self.target.work.get(k, none).units - state.work.get(k, none).units for k in group}
            net, up = math.fsum(moved.values()), math.fsum(v for v in moved.values() if v > 0)
            part = {True: net / up if net > 0 else 0.0, False: net / (net - up) if net < 0 else 0.0}
            for key in group:
                now, there = state.work.get(key, none), self.target.work.get(key, none)
                made = 1.0 if whole else part[moved[key] > 0] if moved[key] else 0.0
                work[key] = self._between(now, there, made, name)
        return work

    def _between(self, now: Work, there: Work, part: float, name: str) -> Work:
        """Part of the way from some work to other work: jobs in proportion to their units, services in whole nodes."""
        units = now.units + (there.units - now.units) * part
        by_unit = now.units and there.units and self.kinds.get(name) in ("training", "batch") and self._units(name)
        hours = now.hours * units / now.units if by_unit else now.hours + (there.hours - now.hours) * part
        share = now.share + (there.share - now.share) * part
        return Work(hours, units, share, now.data or there.data)

    def _assumptions(self, state: State) -> Iterator[Move]:
        names = {n for n in state.assumptions if n != DISCOUNT and not n.startswith("price_of_")}
        yield from self._assumed(state, "assumption", names)
        for move in self._slower_by_failures(state):
            yield move

    def _slower_by_failures(self, state: State) -> Iterator[Move]:
        raise NotImplementedError

    def _assumed(self, state: State, cause: str, names: set[str]) -> Iterator[Move]:
        raise NotImplementedError

    def _existing(self, state: State) -> Iterator[Move]:
        raise NotImplementedError

    def _horizon(self, state: State) -> Iterator[Move]:
        raise NotImplementedError

    def _decisions(self, state: State) -> Iterator[Move]:
        raise NotImplementedError


def _hours_per_unit(work: Mapping[Key, Work], name: str, place: Place, last: int) -> float:
    its = [each for key, each in work.items() if key[:2] == (name, place) and key[2] <= last]
    units = math.fsum(each.units for each in its)
    return math.fsum(each.hours for each in its) / units if units else 0.0


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=DUST, abs_tol=1e-12)


def _where(place: Place) -> str:
    return " ".join(part for part in place if part and part != "owned")


__all__ = ["Move", "Side", "Walk", "figures", "in_currency", "price_at", "terms_of", "Assumption"]
