"""The effect of each assumption on the cost of every strategy at the ends of its published range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from planner.analysis.recommendation import COST_TOLERANCE, pick_simplest
from planner.analysis.risk.cost_model import StrategyCostModel
from planner.analysis.risk.switching_values import COST_ROUNDING
from planner.analysis.risk.uncertain_assumptions import has_range, range_ends
from planner.result import Assumption, Strategy
from planner.result.risk import CostRange, TornadoRow

StrategyCosts = Mapping[str, float | None]
"""Present cost by strategy; None where it is impossible."""
CostsFunction = Callable[[float], StrategyCosts]
"""The costs with the figure at a value."""


def collect_present_costs(strategies: Iterable[Strategy]) -> StrategyCosts:
    """Present cost of each; None for those that are impossible."""
    return {s.name: None if s.status == "infeasible" else s.present_cost for s in strategies}


def list_moved_ends(figure: Assumption) -> tuple[float, ...]:
    """The ends of a figure's range that are not its planned value."""
    return tuple(end for end in range_ends(figure) if end != figure.value)


def build_tornado_row(
    figure: Assumption,
    planned: StrategyCosts,
    costs_at: CostsFunction,
    pair: tuple[str, str | None],
    *,
    is_replanned: bool,
) -> TornadoRow | None:
    """The row of one figure with a range; None where it has no effect. `pair`: recommended and runner-up."""
    start, stop = range_ends(figure)
    moved = {end: costs_at(end) for end in list_moved_ends(figure)}
    low, high = moved.get(start, planned), moved.get(stop, planned)
    if _is_unchanged(low, planned) and _is_unchanged(high, planned):
        return None
    advantages = [_cost_advantage(costs, pair) for costs in (low, planned, high)]
    known = [advantage for advantage in advantages if advantage is not None]
    return TornadoRow(
        name=figure.name,
        meaning=figure.meaning,
        unit=figure.unit,
        low=start,
        value=figure.value,
        high=stop,
        costs=tuple(CostRange(name, low.get(name), high.get(name)) for name in planned),
        swing=_compute_swing(known, planned) if len(known) == len(advantages) else None,
        flips=len({_cheapest_strategy(costs) for costs in (low, planned, high)}) > 1,
        planned_anew=is_replanned,
    )


def build_fixed_plan_rows(
    figures: Sequence[Assumption],
    bills: Mapping[str, StrategyCostModel],
    planned: StrategyCosts,
    pair: tuple[str, str | None],
) -> tuple[list[TornadoRow], list[str]]:
    """The rows of all figures with a range, the decisions fixed, and the names of those without effect."""
    rows, idle = [], []
    for figure in figures:
        if not has_range(figure):
            continue

        def costs_at(value: float, figure: Assumption = figure) -> StrategyCosts:
            return {name: bills[name].cost({figure.name: value}) if name in bills else None for name in planned}

        tornado_row = build_tornado_row(figure, planned, costs_at, pair, is_replanned=False)
        if tornado_row is None:
            idle.append(figure.name)
        else:
            rows.append(tornado_row)
    return rows, idle


def sort_by_swing(rows: Sequence[TornadoRow]) -> tuple[TornadoRow, ...]:
    """By swing, equal ones by the most that any strategy's cost changes; those that make one of the two strategies
    impossible come first."""
    return tuple(sorted(rows, key=lambda r: (r.swing is not None, -(r.swing or 0.0), -_largest_cost_change(r), r.name)))


def list_within_gap(rows: Sequence[TornadoRow], strategies: Sequence[Strategy]) -> list[str]:
    """The names of the rows of new plans that change no strategy's cost by more than the gap of its plan to its bound:
    the search alone may make as much."""
    gaps: dict[str, float] = {s.name: math.inf if s.bound is None else s.present_cost - s.bound for s in strategies}
    planned = collect_present_costs(strategies)

    def is_within(row: TornadoRow) -> bool:
        low = {each.strategy: each.at_low for each in row.costs}
        high = {each.strategy: each.at_high for each in row.costs}
        return all(_differ_by_at_most(gaps, costs, planned) for costs in (low, high))

    return [row.name for row in rows if row.planned_anew and is_within(row)]


def _largest_cost_change(row: TornadoRow) -> float:
    return max(abs((c.at_high or 0.0) - (c.at_low or 0.0)) for c in row.costs)


def _compute_swing(advantages: Sequence[float], planned: StrategyCosts) -> float:
    """The largest less the least; 0 where the difference is rounding of the costs."""
    spread = max(advantages) - min(advantages)
    return spread if spread > COST_ROUNDING * max(abs(cost) for cost in planned.values() if cost is not None) else 0.0


def _is_unchanged(costs: StrategyCosts, planned: StrategyCosts) -> bool:
    """Whether only the last bits changed, or costs within the solver's gap."""
    most = {name: COST_TOLERANCE * max(1.0, abs(cost or 0.0)) for name, cost in planned.items()}
    return _differ_by_at_most(most, costs, planned)


def _differ_by_at_most(most: Mapping[str, float], costs: StrategyCosts, planned: StrategyCosts) -> bool:
    """Whether the same strategies are possible, none at a cost that is farther than that from the planned one."""
    for name, cost in planned.items():
        other = costs.get(name)
        if (cost is None) != (other is None):
            return False
        if cost is not None and other is not None and abs(cost - other) > most[name]:
            return False
    return True


def _cost_advantage(costs: StrategyCosts, pair: tuple[str, str | None]) -> float | None:
    chosen, runner_up = costs.get(pair[0]), 0.0 if pair[1] is None else costs.get(pair[1])
    return None if chosen is None or runner_up is None else runner_up - chosen


def _cheapest_strategy(costs: StrategyCosts) -> str | None:
    """The cheapest strategy, of equals the simplest; None where none is possible."""
    possible = {name: cost for name, cost in costs.items() if cost is not None}
    return pick_simplest(possible, COST_TOLERANCE) if possible else None
