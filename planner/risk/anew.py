"""What only a new plan can tell: figures that change what can be done, and draws that are known before deciding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from planner.answer import Assumption, Plan, ThroughputUsed
from planner.answer.risk import Reoptimised, Share, TornadoRow
from planner.candidates import Candidate, Market
from planner.demand import Demands
from planner.owned import own_figures
from planner.risk.bill import Moves
from planner.risk.draws import mean
from planner.risk.levers import HARDWARE, has_range, planned_anew
from planner.risk.tornado import Costs, CostsAt, costs_of, row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

End = Literal["low", "high"]
Throughputs = Mapping[tuple[str, str], End]
"""Workload and accelerator whose throughput is taken at the low or the high end of its interval."""
AS_PREDICTED: Throughputs = {}
FITTED = date(2026, 11, 20)
"""When the intervals of predictions were fitted."""


class Again(Protocol):
    """Plans the same request with other assumptions and throughputs."""

    def __call__(self, assumptions: Moves, throughputs: Throughputs = AS_PREDICTED) -> Plan: ...


def with_throughputs(market: Market, demands: Demands, ends: Throughputs) -> Market:
    """The market where the throughputs named are at an end of their interval; the same market where none is."""
    if not ends:
        return market

    def moved(candidate: Candidate) -> Candidate:
        known = candidate.throughput
        accelerator = market.resources[candidate.resource].accelerator
        end = ends.get((demands.needs[candidate.need].workload.name, accelerator))
        if end is None:
            return candidate
        rate = known.low if end == "low" else known.high
        units = candidate.units_per_node_hour * rate / known.units_per_hour
        return replace(candidate, units_per_node_hour=units, throughput=replace(known, units_per_hour=rate))

    return replace(market, candidates=tuple(moved(candidate) for candidate in market.candidates))


def tornado_rows(
    assumptions: Mapping[str, Assumption],
    throughput: Sequence[ThroughputUsed],
    again: Again,
    planned: Costs,
    pair: tuple[str, str | None],
) -> tuple[list[TornadoRow], list[str]]:
    """The rows of all figures that need a new plan, and the names of those that change nothing."""
    asked: list[tuple[Assumption, CostsAt]] = []

    def with_figure(figure: Assumption, value: float) -> Costs:
        return costs_of(again({figure.name: value}).strategies)

    def with_throughput(figure: Assumption, key: tuple[str, str], value: float) -> Costs:
        return costs_of(again({}, {key: "low" if value == figure.low else "high"}).strategies)

    asked += [(figure, partial(with_figure, figure)) for figure in planned_anew(assumptions) if has_range(figure)]
    asked += [(figure, partial(with_throughput, figure, key)) for figure, key in _throughputs(throughput)]
    rows, idle = [], []
    for figure, costs_at in asked:
        found = row(figure, planned, costs_at, pair, anew=True)
        if found is None:
            idle.append(figure.name)
        else:
            rows.append(found)
    return rows, idle


def _throughputs(used: Sequence[ThroughputUsed]) -> list[tuple[Assumption, tuple[str, str]]]:
    """Every predicted throughput that a strategy relies on, as a figure with a range; all its sizes of gang move."""
    found: dict[tuple[str, str], Assumption] = {}
    for rate in used:
        key = rate.workload, rate.accelerator
        if rate.low < rate.high and key not in found:
            found[key] = Assumption(
                name=f"throughput of {rate.workload} on {rate.accelerator}",
                meaning=f"work per hour of {rate.gang:g}: {rate.explanation}",
                value=rate.units_per_hour,
                unit="units per hour",
                low=rate.low,
                high=rate.high,
                source=rate.basis,
                as_of=FITTED,
            )
    return [(figure, key) for key, figure in found.items()]


def reoptimised(
    count: int, draws: Mapping[str, Vector], kept: Vector, market: Market, again: Again
) -> Reoptimised | None:
    """The first `count` draws planned anew; `kept` is what the recommended plan costs in each, its decisions kept."""
    import numpy as np

    if not count:
        return None
    named: dict[str, int] = {}
    regrets = []
    for index in range(count):
        plan = again(_assumptions({name: float(column[index]) for name, column in draws.items()}, market))
        least = min(s.present_cost for s in plan.strategies if s.status != "infeasible")
        regrets.append(max(0.0, float(kept[index]) - least))  # below 0 only by what the solver leaves open
        name = str(plan.recommendation.strategy)
        named[name] = named.get(name, 0) + 1
    shares = tuple(Share(name, times) for name, times in sorted(named.items(), key=lambda item: (-item[1], item[0])))
    values = np.array(regrets)
    return Reoptimised(count, shares, mean(values), float(np.quantile(values, 0.9)))


def _assumptions(moves: Moves, market: Market) -> Moves:
    """The moves in the words of a request: a level of hardware prices is a price of every system."""
    level = moves.get(HARDWARE, 1.0)
    prices = {
        own_figures(resource.node.name)[0]: resource.node.price * level
        for resource in market.resources
        if resource.node is not None and resource.held is None
    }
    return {**{name: value for name, value in moves.items() if name != HARDWARE}, **prices}
