"""Replanning: assumptions that change which decisions are possible, and draws that are known before deciding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from planner.analysis.risk.cost_model import AssumptionOverrides
from planner.analysis.risk.monte_carlo import mean
from planner.analysis.risk.tornado import CostsFunction, StrategyCosts, build_tornado_row, collect_present_costs
from planner.analysis.risk.uncertain_assumptions import HARDWARE, has_range, list_replanned_assumptions
from planner.request.assumptions import override_names
from planner.result import Assumption, ThroughputUsed
from planner.result.risk import RecommendationShare, ReoptimisedDraws, TornadoRow
from planner.supply.candidates import Candidate, Market
from planner.workloads.demand import PortfolioDemand

if TYPE_CHECKING:
    from planner.analysis.risk import BaselinePlan
    from planner.analysis.risk.response_surface import Vector

IntervalEnd = Literal["low", "high"]
Throughputs = Mapping[tuple[str, str], IntervalEnd]
"""Workload and accelerator whose throughput is set to the low or the high end of its interval."""
AS_PREDICTED: Throughputs = {}
INTERVALS_FITTED_ON = date(2026, 11, 20)
"""When the intervals of predictions were fitted."""


class Replanner(Protocol):
    """Solves the same request with other assumptions and throughputs."""

    def __call__(self, assumptions: AssumptionOverrides, throughputs: Throughputs = AS_PREDICTED) -> BaselinePlan: ...


def with_throughputs(market: Market, demands: PortfolioDemand, ends: Throughputs) -> Market:
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


def build_replanned_rows(
    assumptions: Mapping[str, Assumption],
    throughput: Sequence[ThroughputUsed],
    again: Replanner,
    planned: StrategyCosts,
    pair: tuple[str, str | None],
) -> tuple[list[TornadoRow], list[str]]:
    """The rows of all figures that need a new plan, and the names of those without effect."""
    varied_assumptions: list[tuple[Assumption, CostsFunction]] = []

    def with_figure(figure: Assumption, value: float) -> StrategyCosts:
        return _present_costs(again({figure.name: value}))

    def with_throughput(figure: Assumption, key: tuple[str, str], value: float) -> StrategyCosts:
        return _present_costs(again({}, {key: "low" if value == figure.low else "high"}))

    varied_assumptions += [
        (figure, partial(with_figure, figure))
        for figure in list_replanned_assumptions(assumptions)
        if has_range(figure)
    ]
    varied_assumptions += [
        (figure, partial(with_throughput, figure, key)) for figure, key in _list_predicted_throughputs(throughput)
    ]
    rows, idle = [], []
    for figure, costs_at in varied_assumptions:
        tornado_row = build_tornado_row(figure, planned, costs_at, pair, is_replanned=True)
        if tornado_row is None:
            idle.append(figure.name)
        else:
            rows.append(tornado_row)
    return rows, idle


def _present_costs(case: BaselinePlan) -> StrategyCosts:
    return collect_present_costs(each.strategy for each in case.solved)


def _list_predicted_throughputs(used: Sequence[ThroughputUsed]) -> list[tuple[Assumption, tuple[str, str]]]:
    """Every predicted throughput that a strategy relies on, as a figure with a range; all its sizes of gang move."""
    assumption_by_key: dict[tuple[str, str], Assumption] = {}
    for rate in used:
        key = rate.workload, rate.accelerator
        if rate.low < rate.high and key not in assumption_by_key:
            assumption_by_key[key] = Assumption(
                name=f"throughput of {rate.workload} on {rate.accelerator}",
                meaning=f"work per hour of a gang of {rate.gang:g}, {rate.basis.replace('_', ' ')}",
                value=rate.units_per_hour,
                unit="units per hour",
                low=rate.low,
                high=rate.high,
                source=rate.basis,
                as_of=INTERVALS_FITTED_ON,
            )
    return [(figure, key) for key, figure in assumption_by_key.items()]


def reoptimise_draws(
    count: int, draws: Mapping[str, Vector], fixed_plan_costs: Vector, market: Market, again: Replanner
) -> ReoptimisedDraws | None:
    """The first `count` draws planned again; `fixed_plan_costs` are the costs of the recommended plan in each, its
    decisions fixed."""
    import numpy as np

    if not count:
        return None
    named: dict[str, int] = {}
    regrets = []
    for index in range(count):
        case = again(
            _convert_to_request_assumptions({name: float(column[index]) for name, column in draws.items()}, market)
        )
        least = min(cost for cost in _present_costs(case).values() if cost is not None)
        regrets.append(max(0.0, float(fixed_plan_costs[index]) - least))  # below 0 only within the solver's gap
        name = str(case.advice.strategy)
        named[name] = named.get(name, 0) + 1
    shares = tuple(
        RecommendationShare(name, times) for name, times in sorted(named.items(), key=lambda item: (-item[1], item[0]))
    )
    values = np.array(regrets)
    return ReoptimisedDraws(count, shares, mean(values), float(np.quantile(values, 0.9)))


def _convert_to_request_assumptions(moves: AssumptionOverrides, market: Market) -> AssumptionOverrides:
    """The moves in the words of a request: a level of hardware prices is a price of every system."""
    level = moves.get(HARDWARE, 1.0)
    prices = {
        override_names(resource.node.name)[0]: resource.node.price * level
        for resource in market.resources
        if resource.node is not None and resource.held is None
    }
    return {**{name: value for name, value in moves.items() if name != HARDWARE}, **prices}
