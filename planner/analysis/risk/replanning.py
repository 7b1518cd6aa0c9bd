"""Replanning: assumptions that change which decisions are possible, and draws that are known before deciding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, Protocol

from planner.analysis.risk.cost_model import AssumptionOverrides
from planner.analysis.risk.monte_carlo import mean
from planner.analysis.risk.tornado import StrategyCosts, build_tornado_row, collect_present_costs, list_moved_ends
from planner.analysis.risk.uncertain_assumptions import HARDWARE, has_range, list_replanned_assumptions
from planner.request.assumptions import override_names
from planner.result import Assumption, ThroughputUsed
from planner.result.risk import RecommendationShare, ReoptimisedDraws, TornadoRow
from planner.supply.candidates import Candidate, Market
from planner.workloads.demand import PortfolioDemand
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from planner.analysis.risk import BaselinePlan
    from planner.analysis.risk.response_surface import Vector

IntervalEnd = Literal["low", "high"]
Throughputs = Mapping[tuple[str, str], IntervalEnd]
"""Workload and accelerator whose throughput is set to the low or the high end of its interval."""
AS_PREDICTED: Throughputs = {}
INTERVALS_FITTED_ON = date(2026, 11, 20)
"""When the intervals of predictions were fitted."""


@dataclass(frozen=True, slots=True)
class ReplanCase:
    """What differs from the request in a plan that is made again."""

    assumptions: AssumptionOverrides
    throughputs: Throughputs = field(default_factory=dict)


AS_STATED = ReplanCase({})


@dataclass(frozen=True, slots=True)
class ReplannedCosts:
    """What a plan that was made again says: present costs by strategy, and the one that it recommends. `cut_by_clock`:
    a search ended for its time; another try may find better."""

    costs: StrategyCosts
    recommended: str | None
    cut_by_clock: bool = False


class Replanner(Protocol):
    """Solves the same request in other cases, each by itself; the outcomes are in the order of the cases."""

    def __call__(self, cases: Sequence[ReplanCase]) -> Sequence[ReplannedCosts]: ...


def summarise_replan(case: BaselinePlan) -> ReplannedCosts:
    """What a plan that was made again says."""
    strategies = [each.strategy for each in case.solved]
    cut = any(strategy.cut_by_clock for strategy in strategies)
    return ReplannedCosts(collect_present_costs(strategies), case.advice.strategy, cut)


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
        return candidate._replace(units_per_node_hour=units, throughput=replace(known, units_per_hour=rate))

    return replace(market, candidates=tuple(moved(candidate) for candidate in market.candidates))


@dataclass(frozen=True, slots=True)
class ReplannedTornado:
    """The rows of all figures that need a new plan, the names of those without effect, and how many of the plans were
    cut by the clock."""

    rows: tuple[TornadoRow, ...]
    without_effect: tuple[str, ...]
    cut_by_clock: int


def build_replanned_rows(
    assumptions: Mapping[str, Assumption],
    throughput: Sequence[ThroughputUsed],
    again: Replanner,
    planned: StrategyCosts,
    pair: tuple[str, str | None],
) -> ReplannedTornado:
    """The rows of all figures that need a new plan: all are made at once, since none depends on another."""
    varied = [figure for figure in list_replanned_assumptions(assumptions) if has_range(figure)]
    cases = {(f.name, end): ReplanCase({f.name: end}) for f in varied for end in list_moved_ends(f)}
    for figure, key in _list_predicted_throughputs(throughput):
        varied.append(figure)
        for end in list_moved_ends(figure):
            cases[figure.name, end] = ReplanCase({}, {key: "low" if end == figure.low else "high"})
    outcomes = dict(zip(cases, again(list(cases.values())), strict=True))
    rows, idle = list[TornadoRow](), list[str]()
    for figure in varied:
        costs = {end: outcomes[figure.name, end].costs for end in list_moved_ends(figure)}
        tornado_row = build_tornado_row(figure, planned, costs.__getitem__, pair, is_replanned=True)
        if tornado_row is None:
            idle.append(figure.name)
        else:
            rows.append(tornado_row)
    return ReplannedTornado(tuple(rows), tuple(idle), sum(each.cut_by_clock for each in outcomes.values()))


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


def list_draw_cases(count: int, draws: Mapping[str, Vector], market: Market) -> list[ReplanCase]:
    """The first `count` draws, to be planned again."""
    drawn = ({name: float(column[index]) for name, column in draws.items()} for index in range(count))
    return [ReplanCase(_convert_to_request_assumptions(values, market)) for values in drawn]


def describe_reoptimised_draws(outcomes: Sequence[ReplannedCosts], fixed_plan_costs: Vector) -> ReoptimisedDraws | None:
    """The draws that were planned again; `fixed_plan_costs` are the costs of the recommended plan in each, its
    decisions fixed. Draws in which no plan exists, or none was found in time, do not count."""
    import numpy as np

    named, regrets = Counter[str](), list[float]()
    for index, outcome in enumerate(outcomes):
        least = min((cost for cost in outcome.costs.values() if cost is not None), default=None)
        if least is None or outcome.recommended is None:
            continue
        regrets.append(max(0.0, float(fixed_plan_costs[index]) - least))  # below 0 only within the solver's gap
        named[outcome.recommended] += 1
    if not regrets:
        return None
    shares = tuple(
        RecommendationShare(name, times) for name, times in sorted(named.items(), key=lambda item: (-item[1], item[0]))
    )
    values = np.array(regrets)
    return ReoptimisedDraws(len(regrets), shares, mean(values), float(np.quantile(values, 0.9)))


def _convert_to_request_assumptions(moves: AssumptionOverrides, market: Market) -> AssumptionOverrides:
    """The moves in the words of a request: a level of hardware prices is a price of every system."""
    level = moves.get(HARDWARE, 1.0)
    prices = {
        override_names(resource.node.name)[0]: resource.node.price * level
        for resource in market.resources
        if resource.node is not None and resource.held is None
    }
    return {**{name: value for name, value in moves.items() if name != HARDWARE}, **prices}
