"""Attribution: the old state turned into the new one, cause by cause in a fixed order, each with all earlier ones in
force.

Purchases follow the work: the part of the change in purchases at a place that is applied equals the part of the change
in use of that place so far. The rest, at the end, are decisions: what is purchased and where work runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from planner.analysis.comparison import work_changes
from planner.analysis.comparison.currency_conversion import ComparisonRates
from planner.analysis.comparison.strategy_state import (
    ROUNDING_TOLERANCE,
    Place,
    StrategyState,
    commitment_unit,
    is_money_commitment,
    sum_use_by_place,
)
from planner.analysis.comparison.work_changes import PlanPair, WorkloadPlace, is_close
from planner.request.assumptions import override_names
from planner.request.ownership import Finance, Site
from planner.result import EXISTING_SUFFIX, OPERATORS, RequestedWorkload
from planner.result.comparison import ComparedValue
from planner.supply.payments import build_terms
from pricing.frozen_values import dataclass

GOODPUT_ASSUMPTIONS = frozenset(
    {
        "failure_interval_accelerator_hours",
        "spot_hours_to_interruption",
        "accelerator_failures_annual",
        "repair_hours",
    }
)
"""Assumptions that act on the hours that work takes."""
DISCOUNT_RATE = "discount_rate_annual"
UNEXPLAINED_TOLERANCE = 1e-6
MONEY = "money"
SYSTEM_PREFIXES = ("price_of_", "power_kw_of_", "rack_units_of_")
K = TypeVar("K")
P = TypeVar("P", bound=tuple[Any, ...])
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class AttributedChange:
    """One change and the state after it, with the figures before and after; None where there is none."""

    cause: str
    name: str
    figures: tuple[ComparedValue, ComparedValue]
    unit: str
    state: StrategyState


class AttributionSequence:
    """The moves from the old state, in the new plan's currency (`first`), to the new one (`target`)."""

    def __init__(self, compared: PlanPair, rates: ComparisonRates) -> None:
        self.compared, self.rates = compared, rates
        self.common, self.currency = compared.common, rates.currency
        self.target = compared.after.state
        self.first = self._complete_from_target(rates.restated(compared.before.state))
        self.drawn = sum_use_by_place(self.first, self.common), sum_use_by_place(self.target, self.common)

    def moves(self) -> Iterator[AttributedChange]:
        """Every change, in order; the last state is the new one."""
        state = self.first
        for cause in (
            self._apply_exchange_rates,
            self._apply_discount_rate,
            self._apply_prices,
            self._apply_data_costs,
            self._apply_throughputs,
            self._apply_demand,
            self._apply_assumptions,
            self._apply_existing_estate,
            self._apply_horizon,
            self._apply_requirements,
            self._apply_limits,
            self._apply_decisions,
        ):
            for move in cause(state):
                yield move
                state = move.state

    def _complete_from_target(self, state: StrategyState) -> StrategyState:
        """With assumptions, prices and systems that only the new side has, for what it uses for the first time."""
        own = any(place[3] == "owned" for place in _list_used_places(state))
        return replace(
            state,
            assumptions={**self.target.assumptions, **state.assumptions},
            prices={**self.target.prices, **state.prices},
            nodes={**self.target.nodes, **state.nodes},
            site=state.site if own else self.target.site,
            finance=state.finance if own else self.target.finance,
        )

    def _apply_exchange_rates(self, state: StrategyState) -> Iterator[AttributedChange]:
        for source, old, new in self.rates.moved():
            state = self._adjust_purchases(self.rates.listed_at(state, source, new / old))
            yield AttributedChange("exchange rate", f"1 {source}", (old, new), self.currency, state)

    def _apply_discount_rate(self, state: StrategyState) -> Iterator[AttributedChange]:
        yield from self._apply_assumption_values(state, "discount rate", [DISCOUNT_RATE])

    def _apply_prices(self, state: StrategyState) -> Iterator[AttributedChange]:
        sides = (self.compared.before.state, self.compared.after.state)
        for place in sorted(sides[0].prices.keys() & sides[1].prices.keys()):
            old, new = state.prices[place], self.target.prices[place]
            if not is_close(old.price_per_hour, new.price_per_hour):
                state = self._adjust_purchases(replace(state, prices={**state.prices, place: new}))
                figures = old.price_per_hour, new.price_per_hour
                yield AttributedChange("price", " ".join(place), figures, f"{self.currency} an hour", state)
        yield from self._apply_assumption_values(
            state, "price", [override_names(name)[0] for name in sorted(state.nodes)]
        )

    def _apply_data_costs(self, state: StrategyState) -> Iterator[AttributedChange]:
        for where in self.compared.in_both(state):
            new = work_changes.replace_data_costs(state, self.target.work, where)
            changed = [key for key in state.work if not is_close(state.work[key].data, new.work[key].data)]
            if changed:
                a, b = state.work[min(changed)].data, new.work[min(changed)].data
                state = new
                yield AttributedChange("data", _format_workload_place(where), (a, b), f"{self.currency} a month", state)

    def _apply_throughputs(self, state: StrategyState) -> Iterator[AttributedChange]:
        is_failing = any(self._is_assumption_changed(state, name) for name in GOODPUT_ASSUMPTIONS)
        for where in self.compared.in_both(state):
            stated = self.compared.throughput_ratio(where)
            if stated is None:
                continue
            by = self.compared.ratio(state, where) if self.compared.is_job(where[0]) and not is_failing else stated
            if not is_close(by, 1.0):
                new = self._adjust_purchases(work_changes.scale_hours(state, {where: by}, self.common))
                figures = self.compared.units_per_hour(state, where), self.compared.units_per_hour(new, where)
                state = new
                yield AttributedChange("throughput", _format_workload_place(where), figures, "units a node-hour", state)

    def _apply_demand(self, state: StrategyState) -> Iterator[AttributedChange]:
        old, new = (side.workloads() for side in (self.compared.before, self.compared.after))
        for name in sorted({*old, *new}):
            if work_changes.is_demand_changed(self.compared, name):
                state = self._adjust_purchases(work_changes.replace_demand(self.compared, state, name))
                figures = self._sum_common_demand(old.get(name)), self._sum_common_demand(new.get(name))
                yield AttributedChange("demand", name, figures, (new.get(name) or old[name]).unit, state)

    def _apply_assumptions(self, state: StrategyState) -> Iterator[AttributedChange]:
        systems = {figure for name in state.nodes for figure in override_names(name)[1:]}
        named = [n for n in state.assumptions if n != DISCOUNT_RATE and not n.startswith(SYSTEM_PREFIXES)]
        for move in self._apply_assumption_values(state, "assumption", [*named, *sorted(systems)]):
            state = move.state
            yield move
        a, b = state.terms.charge_beyond_horizon, self.target.terms.charge_beyond_horizon
        if a != b:
            state = replace(state, terms=replace(state.terms, charge_beyond_horizon=b))
            yield AttributedChange(
                "assumption",
                "commitments that outlive the plan",
                (_format_beyond_horizon(a), _format_beyond_horizon(b)),
                "",
                state,
            )
        ways = [(each.site, each.finance) for each in (state, self.target)]
        if ways[0] != ways[1] and any(place[3] == "owned" for place in _list_used_places(self.target)):
            hired = state.staff if ways[0][0].staff == ways[1][0].staff else self.target.staff
            state = replace(state, site=self.target.site, finance=self.target.finance, staff=hired)
            yield AttributedChange(
                "assumption",
                "how owned nodes stand and are paid for",
                (_format_ownership(*ways[0]), _format_ownership(*ways[1])),
                "",
                state,
            )

    def _apply_assumption_values(
        self, state: StrategyState, cause: str, names: Sequence[str]
    ) -> Iterator[AttributedChange]:
        """The state with each figure as the new plan has it; those about failures with the hours they cost."""
        changed = [name for name in names if self._is_assumption_changed(state, name)]
        failing = [name for name in changed if name in GOODPUT_ASSUMPTIONS]
        for name in changed:
            old, new = state.assumptions[name], self.target.assumptions[name]
            assumptions = {**state.assumptions, name: new}
            t = state.terms
            terms = build_terms(assumptions, t.months, t.hours_per_month, t.charge_beyond_horizon)
            state = replace(state, assumptions=assumptions, terms=terms)
            if failing and name == failing[-1]:
                factors = {where: self.compared.ratio(state, where) for where in self.compared.in_both(state)}
                state = self._adjust_purchases(work_changes.scale_hours(state, factors, self.common))
            yield AttributedChange(cause, name, (old.value, new.value), new.unit, state)

    def _is_assumption_changed(self, state: StrategyState, name: str) -> bool:
        old, new = state.assumptions.get(name), self.target.assumptions.get(name)
        return old is not None and new is not None and not is_close(old.value, new.value)

    def _apply_existing_estate(self, state: StrategyState) -> Iterator[AttributedChange]:
        sides = (self.compared.before, self.compared.after)
        rows = [row for side in sides for row in side.strategy.cash]
        scale = UNEXPLAINED_TOLERANCE * math.fsum(abs(row.amount) for row in rows)
        moments = {*state.unexplained, *self.target.unexplained}
        moved = math.fsum(abs(state.unexplained.get(m, 0.0) - self.target.unexplained.get(m, 0.0)) for m in moments)
        if moved > scale or state.existing != self.target.existing:
            titles = dict.fromkeys(row.what for row in rows if row.what.endswith(EXISTING_SUFFIX))
            name = ", ".join(titles) or "payments that the plans do not explain"
            old, state = state, replace(state, existing=self.target.existing, unexplained=self.target.unexplained)
            yield AttributedChange("existing", name, (old.existing_cost(), state.existing_cost()), self.currency, state)

    def _apply_horizon(self, state: StrategyState) -> Iterator[AttributedChange]:
        old, new = state.terms.months, self.target.terms.months
        if old == new:
            return
        state = replace(
            state,
            terms=replace(state.terms, months=new),
            work={**{k: w for k, w in state.work.items() if k[2] <= new},
                  **{k: w for k, w in self.target.work.items() if k[2] > self.common}},
            purchases={**{k: n for k, n in state.purchases.items() if k[1] <= new},
                    **{k: n for k, n in self.target.purchases.items() if k[1] > self.common}},
            staff={**{m: n for m, n in state.staff.items() if m <= new},
                   **{m: n for m, n in self.target.staff.items() if m > self.common}},
        )  # fmt: skip
        yield AttributedChange("months", "months planned", (old, new), "months", state)

    def _apply_requirements(self, state: StrategyState) -> Iterator[AttributedChange]:
        """The work of each workload with other requirements where the new plan does it: that was asked for."""
        old, new = (side.workloads() for side in (self.compared.before, self.compared.after))
        for name in sorted(old.keys() & new.keys()):
            texts = [_list_requirements(workload) for workload in (old[name], new[name])]
            if texts[0] == texts[1]:
                continue
            own = {key: work for key, work in self.target.work.items() if key[0] == name}
            state = replace(state, work={key: work for key, work in state.work.items() if key[0] != name} | own)
            state = self._adjust_purchases(state)
            differing = [", ".join(a for a, b in zip(*pair, strict=True) if a != b) for pair in (texts, texts[::-1])]
            yield AttributedChange("requirement", name, (differing[0], differing[1]), "", state)

    def _apply_limits(self, state: StrategyState) -> Iterator[AttributedChange]:
        """Each changed setting of the request, and the work of each workload with a place that only one of the requests
        allows, where the new plan does it. The effect of other limits is not known."""
        recorded = [side.plan.settings for side in (self.compared.before, self.compared.after)]
        if recorded[0] is None or recorded[1] is None or recorded[0] == recorded[1]:
            return
        settings = [{each.name: each.values for each in side or ()} for side in recorded]
        for name in sorted({*settings[0], *settings[1]}):
            old, new = (", ".join(side[name]) if name in side else None for side in settings)
            if old != new:
                yield AttributedChange("limit", name, (old, new), "", state)
        for name in sorted({key[0] for key in (*state.work, *self.target.work)}):
            places = {key[1] for key in (*state.work, *self.target.work) if key[0] == name}
            if all(_is_allowed(place, settings[0]) == _is_allowed(place, settings[1]) for place in places):
                continue
            own = {key: work for key, work in self.target.work.items() if key[0] == name}
            state = replace(state, work={key: work for key, work in state.work.items() if key[0] != name} | own)
            state = self._adjust_purchases(state)
            yield AttributedChange("limit", f"{name} moves", (None, None), "", state)

    def _apply_decisions(self, state: StrategyState) -> Iterator[AttributedChange]:
        for place in sorted(_list_used_places(state) | _list_used_places(self.target)):
            work, purchases = _select_place(self.target.work, 1, place), _select_place(self.target.purchases, 0, place)
            new = replace(
                state,
                work={key: each for key, each in state.work.items() if key[1] != place} | work,
                purchases={lot: each for lot, each in state.purchases.items() if lot[0] != place} | purchases,
            )
            (old, unit), (amount, new_unit) = (_place_quantity(each, place) for each in (self.first, self.target))
            state = new
            yield AttributedChange(
                "decisions", _format_place(place), (old, amount), new_unit if amount else unit, state
            )
        hired = math.fsum(state.staff.values()), math.fsum(self.target.staff.values())
        yield AttributedChange("decisions", OPERATORS, hired, "operator-months", self.target)

    def _sum_common_demand(self, workload: RequestedWorkload | None) -> float | None:
        return math.fsum(workload.demand[: self.common]) if workload else None

    def _adjust_purchases(self, state: StrategyState) -> StrategyState:
        """The state with purchases as far on their way as the use of them."""
        now = sum_use_by_place(state, self.common)
        lots = sorted(lot for lot in {*self.first.purchases, *self.target.purchases} if lot[1] <= self.common)
        far = {place: self._progress_fraction(place, now) for place in {lot[0] for lot in lots}}
        purchases = {
            lot: _interpolate_value(self.first.purchases, self.target.purchases, lot, far[lot[0]]) for lot in lots
        }
        sizes = {lot: abs(self.target.purchases.get(lot, 0.0) - self.first.purchases.get(lot, 0.0))
                 for lot in lots if lot[0][3] == "owned"}  # fmt: skip
        whole = math.fsum(sizes.values())
        own = math.fsum(far[lot[0]] * size for lot, size in sizes.items()) / whole if whole else 0.0
        months = [m for m in {*self.first.staff, *self.target.staff} if m <= self.common]
        staff = {m: _interpolate_value(self.first.staff, self.target.staff, m, own) for m in sorted(months)}
        return replace(state, purchases={**state.purchases, **purchases}, staff={**state.staff, **staff})

    def _progress_fraction(self, place: Place, now: Mapping[Place, float]) -> float:
        start, end = (sums.get(place, 0.0) for sums in self.drawn)
        if abs(end - start) <= ROUNDING_TOLERANCE * max(abs(start), abs(end)):
            return 0.0
        return min(1.0, max(0.0, (now.get(place, 0.0) - start) / (end - start)))


def _is_allowed(place: Place, settings: Mapping[str, Sequence[str]]) -> bool:
    """Whether a request with these settings may use a place: by its provider, region and way of paying."""
    provider, region, _, option = place
    if option == "owned":
        return True
    kinds = settings.get("limits: purchase options", ())
    return (
        provider in settings.get("providers", (provider,))
        and region in settings.get("regions", (region,))
        and (not kinds or any(option.startswith(kind) for kind in kinds))
    )


def _list_requirements(workload: RequestedWorkload) -> tuple[str, ...]:
    """What a workload asks of its nodes, one text for each requirement."""
    return (
        f"on {' or '.join(workload.accelerators) or 'any accelerator'}",
        f"gang of {workload.gang:g}",
        "may be interrupted" if workload.interruptible else "may not be interrupted",
        f"nodes joined by {'one fabric' if workload.fabric == 'joined' else 'any network'}",
        workload.kind,
    )


def _list_used_places(state: StrategyState) -> set[Place]:
    return {place for place, _ in state.purchases} | {place for _, place, _ in state.work}


def _interpolate_value(old: Mapping[K, float], new: Mapping[K, float], key: K, part: float) -> float:
    start = old.get(key, 0.0)
    return start + (new.get(key, 0.0) - start) * part


def _select_place(values: Mapping[P, V], part: int, place: Place) -> dict[P, V]:
    """Those whose key names the place at `part`."""
    return {key: value for key, value in values.items() if key[part] == place}


def _place_quantity(state: StrategyState, place: Place) -> tuple[float, str]:
    """The purchases of a place in all, or the node-hours used there where there are none."""
    lots = [amount for lot, amount in state.purchases.items() if lot[0] == place]
    if lots and is_money_commitment(place):
        return math.fsum(lots), f"{MONEY} an hour"
    if lots:
        return math.fsum(lots), "node-days" if commitment_unit(place) == "node_day" else "nodes"
    return math.fsum(work.hours for key, work in state.work.items() if key[1] == place), "node-hours"


def _format_workload_place(where: WorkloadPlace) -> str:
    return f"{where[0]} at {_format_place(where[1])}"


def _format_place(place: Place) -> str:
    return " ".join(part for part in place if part and part != "owned")


def _format_ownership(site: Site, finance: Finance) -> str:
    energy = ", electricity in the rent" if site.energy_included else ""
    return f"{site.facility.replace('_', ' ')}{energy}, {site.staff} operators, {finance.hardware}"


def _format_beyond_horizon(in_full: bool) -> str:
    return "in full" if in_full else "pro rata"
