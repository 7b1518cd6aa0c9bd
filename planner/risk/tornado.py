"""What each figure does to the cost of every strategy at the ends of its published range."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from planner.answer import Assumption, Strategy
from planner.answer.risk import CostRange, TornadoRow
from planner.explain import SAME, SIMPLEST_FIRST
from planner.risk.bill import Bill
from planner.risk.flips import ROUNDING
from planner.risk.levers import ends, has_range

Costs = Mapping[str, float | None]
"""Present cost by strategy; None where it is impossible."""
CostsAt = Callable[[float], Costs]
"""The costs with the figure at a value."""


def costs_of(strategies: Sequence[Strategy]) -> Costs:
    """Present cost of each; None for those that are impossible."""
    return {s.name: None if s.status == "infeasible" else s.present_cost for s in strategies}


def row(
    figure: Assumption, planned: Costs, costs_at: CostsAt, pair: tuple[str, str | None], *, anew: bool
) -> TornadoRow | None:
    """The row of one figure with a range; None where it changes nothing. `pair`: recommended and runner-up."""
    start, stop = ends(figure)
    low = planned if start == figure.value else costs_at(start)
    high = planned if stop == figure.value else costs_at(stop)
    if _alike(low, planned) and _alike(high, planned):
        return None
    advantages = [_advantage(costs, pair) for costs in (low, planned, high)]
    known = [advantage for advantage in advantages if advantage is not None]
    return TornadoRow(
        name=figure.name,
        meaning=figure.meaning,
        unit=figure.unit,
        low=start,
        value=figure.value,
        high=stop,
        costs=tuple(CostRange(name, low.get(name), high.get(name)) for name in planned),
        swing=_spread(known, planned) if len(known) == len(advantages) else None,
        flips=len({_cheapest(costs) for costs in (low, planned, high)}) > 1,
        planned_anew=anew,
    )


def kept(
    figures: Sequence[Assumption], bills: Mapping[str, Bill], planned: Costs, pair: tuple[str, str | None]
) -> tuple[list[TornadoRow], list[str]]:
    """The rows of all figures with a range, the decisions kept, and the names of those that change nothing."""
    rows, idle = [], []
    for figure in figures:
        if not has_range(figure):
            continue

        def costs_at(value: float, figure: Assumption = figure) -> Costs:
            return {name: bills[name].cost({figure.name: value}) if name in bills else None for name in planned}

        found = row(figure, planned, costs_at, pair, anew=False)
        if found is None:
            idle.append(figure.name)
        else:
            rows.append(found)
    return rows, idle


def largest_first(rows: Sequence[TornadoRow]) -> tuple[TornadoRow, ...]:
    """By swing, equal ones by the most that any strategy's cost changes; those that make one of the two strategies
    impossible come first."""
    return tuple(sorted(rows, key=lambda r: (r.swing is not None, -(r.swing or 0.0), -_widest(r), r.name)))


def _widest(found: TornadoRow) -> float:
    return max(abs((c.at_high or 0.0) - (c.at_low or 0.0)) for c in found.costs)


def _spread(advantages: Sequence[float], planned: Costs) -> float:
    """The most less the least; what is only rounding of the costs is none."""
    spread = max(advantages) - min(advantages)
    return spread if spread > ROUNDING * max(abs(cost) for cost in planned.values() if cost is not None) else 0.0


def _alike(costs: Costs, planned: Costs) -> bool:
    """Whether nothing changed but the last bits, or what a solver leaves open."""
    for name, cost in planned.items():
        other = costs.get(name)
        if (cost is None) != (other is None):
            return False
        if cost is not None and other is not None and abs(cost - other) > SAME * max(1.0, abs(cost)):
            return False
    return True


def _advantage(costs: Costs, pair: tuple[str, str | None]) -> float | None:
    chosen, runner_up = costs.get(pair[0]), 0.0 if pair[1] is None else costs.get(pair[1])
    return None if chosen is None or runner_up is None else runner_up - chosen


def _cheapest(costs: Costs) -> str | None:
    """The cheapest strategy, of equals the simplest."""
    possible = {name: cost for name, cost in costs.items() if cost is not None}
    if not possible:
        return None
    least = min(possible.values())
    equal = [name for name, cost in possible.items() if cost <= least + SAME * max(1.0, abs(least))]
    return min(equal, key=SIMPLEST_FIRST.index)
