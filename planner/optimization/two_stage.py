"""Decisions now, under futures that are not known: one program over several scenarios in two stages.

Decided now, and so the same in every scenario, are the home of each workload (its place; its gang, and the place of
what exceeds owned nodes, follow the scenario) and the orders and commitments up to a month. Everything later follows
the scenario. Each scenario is a program by place (place_program.py); with weights w[s] that add up to 1:

    minimise   (1 - weight) sum_s w[s] c[s] + weight CVaR
    subject to sum of s's columns for one first decision = X         in every scenario s, X whole
               CVaR = eta + sum_s w[s] z[s] / (1 - level), z[s] >= c[s] - eta, z[s] >= 0

c[s] is the present cost in scenario s. The last line is the linear form of the mean of the worst 1 - level of cases by
R. T. Rockafellar and S. Uryasev, Optimization of conditional value-at-risk, Journal of Risk 2 (2000). The two stages
are those of J. R. Birge and F. Louveaux, Introduction to Stochastic Programming (2011), chapter 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from planner.optimization.linear_program import LinearProgram, ProgramColumn, RowEntries
from planner.optimization.model import StrategyScope
from planner.optimization.paid_nodes import pay_whole_nodes
from planner.optimization.place_program import PlaceProgram, build_place_program
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import GAP_TARGET, SEARCH_WORK, Solution, solve_program
from planner.supply.costs import SharedResource
from planner.supply.resources import Resource
from pricing.frozen_values import dataclass

NEGLIGIBLE = 1e-7
"""Of a unit: less is left by the solver's tolerance."""
FirstDecision = tuple[str, tuple[str, ...], int]
"""home, the place, the workload; or start, the key of the resource, the month."""


@dataclass(frozen=True, slots=True)
class CostObjective:
    """What is least: the mean cost, and with `weight` (0 to 1) the mean of the worst 1 - `level` of cases."""

    weight: float = 0.0
    level: float = 0.9

    def value(self, costs: Sequence[float], weights: Sequence[float]) -> float:
        """The objective of costs by scenario."""
        mean = weighted_mean(costs, weights)
        return mean if not self.weight else mean + self.weight * (tail_mean(costs, weights, self.level) - mean)


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """The mean by weights that add up to 1."""
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True))


def tail_mean(costs: Sequence[float], weights: Sequence[float], level: float) -> float:
    """Conditional value at risk: the mean of the dearest cases that together weigh 1 - `level`, one of them in part.

    >>> tail_mean([1.0, 2.0, 3.0, 4.0], [0.25] * 4, 0.5), tail_mean([1.0, 5.0], [0.5, 0.5], 0.8)
    (3.5, 5.0)
    """
    left, total = 1 - level, 0.0
    for cost, weight in sorted(zip(costs, weights, strict=True), reverse=True):
        part = min(weight, left)
        total += part * cost
        left -= part
    return total / (1 - level)


@dataclass(frozen=True, slots=True)
class ScenarioProgram:
    """The program by place of one scenario, and its columns for each first decision."""

    weight: float
    program: LinearProgram
    first: Mapping[FirstDecision, RowEntries]
    whole_starts: frozenset[int]
    most: Mapping[int, float]
    """By column of a first start, the most that is of use in this scenario alone."""
    shared: tuple[SharedResource, ...]
    """By the owner of a column of starts."""

    def list_starts(self, values: Sequence[float]) -> Iterator[tuple[Resource, int, float]]:
        """Resource, month and quantity of all that is ordered or committed to: nothing that is there already."""
        for column, value in zip(self.program.columns, values, strict=True):
            if column.kind == "start" and value > NEGLIGIBLE:
                resource = self.shared[column.owner].resource
                if resource.held is None:
                    yield resource, column.month, value

    def list_gangs(self) -> Iterator[tuple[tuple[str, ...], FirstDecision, int]]:
        """Of resources in node-days: their key, and each home there with the nodes of a gang."""
        for item in self.shared:
            if item.by_month:
                for each in item.candidates:
                    yield item.resource.key, ("home", item.resource.place, each.need), each.nodes_per_gang


@dataclass(frozen=True, slots=True)
class FollowedPlan:
    """First decisions (those above 0) with what follows in each scenario: the present cost (None: its work cannot be
    done there) and the values of the scenario's columns. `bound`: no first decisions have a lower objective in these
    programs."""

    first: Mapping[FirstDecision, float]
    costs: tuple[float | None, ...]
    values: tuple[tuple[float, ...], ...]
    bound: float = -math.inf

    @property
    def possible_costs(self) -> tuple[float, ...] | None:
        """The costs; None where one of them is."""
        known = tuple(cost for cost in self.costs if cost is not None)
        return known if len(known) == len(self.costs) else None

    def objective(self, objective: CostObjective, weights: Sequence[float]) -> float:
        """Infinite where the work cannot be done in a scenario."""
        costs = self.possible_costs
        return math.inf if costs is None else objective.value(costs, weights)


def build_scenario_program(
    weight: float, setting: PlanningContext, allowed: StrategyScope, first_months: int, *, whole: bool
) -> ScenarioProgram:
    """One scenario. `whole`: later decisions are in whole numbers, too; else in fractions, which costs no more, but
    that committed money then pays nothing of work that is spread over months or places: in fractions of whether it pays
    a gang, money for one node would pay for all hours of four. Money committed first is for whole nodes in any case."""
    by_place = pay_whole_nodes(build_place_program(setting, allowed))
    first = dict(_list_first_decisions(by_place, allowed, first_months))
    program = by_place.program
    starts = [n for decision, entries in first.items() if decision[0] == "start" for n, _ in entries]
    most = {number: program.upper[number] for number in starts}
    upper = [math.inf if number in most else bound for number, bound in enumerate(program.upper)]
    if not whole:
        upper = [0.0 if column.kind == "gang" else bound for column, bound in zip(program.columns, upper, strict=True)]
    whole_starts = frozenset(number for number in starts if program.whole[number])
    is_first = [column.kind == "paid_nodes" and column.month <= first_months for column in program.columns]
    kinds = program.whole if whole else is_first
    return ScenarioProgram(
        weight, replace(program, upper=upper, whole=kinds), first, whole_starts, most, tuple(allowed.shared)
    )


def _list_first_decisions(
    by_place: PlaceProgram, allowed: StrategyScope, first_months: int
) -> Iterator[tuple[FirstDecision, RowEntries]]:
    columns = by_place.program.columns
    for (need, place), numbers in by_place.homes.items():
        here = [(number, 1.0) for number in numbers if columns[number].kind == "home" and columns[number].month == 0]
        if here:
            yield ("home", place, need), here
    for number, column in enumerate(columns):
        if column.kind == "start" and column.month <= first_months:
            resource = allowed.shared[column.owner].resource
            if resource.held is None:
                yield ("start", resource.key, column.month), [(number, 1.0)]


def solve_two_stage(
    scenarios: Sequence[ScenarioProgram],
    objective: CostObjective,
    known: Sequence[FollowedPlan] = (),
    work: float = SEARCH_WORK,
    gap: float = GAP_TARGET,
) -> FollowedPlan | None:
    """The best first decisions, no worse than those `known`; None where none can be followed in every scenario."""
    weights = [scenario.weight for scenario in scenarios]
    possible = [plan for plan in known if plan.possible_costs is not None]
    best = min(possible, key=lambda plan: plan.objective(objective, weights), default=None)
    joint = _join_programs(scenarios, objective)
    start = None if best is None else Solution("within_gap", 0.0, 0.0, joint.place_values(best))
    solution = solve_program(
        joint.program, start=start, work=work, gap=gap, aim="optimum" if start is None else "bound"
    )
    if solution.values:
        followed = follow_first_decisions(_round_to_gangs(joint.read_first(solution.values), scenarios), scenarios)
        plans = [plan for plan in (followed, best) if plan is not None]
        best = min(plans, key=lambda plan: plan.objective(objective, weights))
    if best is None or best.possible_costs is None:
        return None
    return replace(best, bound=min(solution.bound, best.objective(objective, weights)))


def _round_to_gangs(
    first: Mapping[FirstDecision, float], scenarios: Sequence[ScenarioProgram]
) -> Mapping[FirstDecision, float]:
    """The first decisions with days of whole gangs, of whatever size a gang has in a scenario or in the plan: programs
    whose later decisions are in fractions have parts of them, also in the first months."""
    spans: dict[tuple[str, ...], int] = {}
    for key, home, span in (gang for scenario in scenarios for gang in scenario.list_gangs()):
        if home in first:
            spans[key] = math.lcm(spans.get(key, 1), span)
    rounded = dict(first)
    for kind, key, month in first:
        if kind == "start" and key in spans:
            rounded[kind, key, month] = float(math.ceil(first[kind, key, month] / spans[key]) * spans[key])
    return rounded


def follow_first_decisions(first: Mapping[FirstDecision, float], scenarios: Sequence[ScenarioProgram]) -> FollowedPlan:
    """What follows best from the first decisions in each scenario."""
    followed = [solve_program(_fix_first_decisions(scenario, first)) for scenario in scenarios]
    costs = tuple(solution.objective if solution.values else None for solution in followed)
    return FollowedPlan(first, costs, tuple(solution.values for solution in followed))


def keep_known_homes(scenarios: Sequence[ScenarioProgram], known: Sequence[FollowedPlan]) -> list[ScenarioProgram]:
    """The scenarios with no homes but those of known plans."""
    kept = {decision for plan in known for decision in plan.first}
    narrowed = []
    for scenario in scenarios:
        upper = list(scenario.program.upper)
        for decision, entries in scenario.first.items():
            if decision[0] == "home" and decision not in kept:
                for column, _ in entries:
                    upper[column] = 0.0
        narrowed.append(replace(scenario, program=replace(scenario.program, upper=upper)))
    return narrowed


def _fix_first_decisions(scenario: ScenarioProgram, first: Mapping[FirstDecision, float]) -> LinearProgram:
    """The scenario's program with no other first decisions than those."""
    program = scenario.program
    lower, upper = list(program.lower), list(program.upper)
    for decision, entries in scenario.first.items():
        value = first.get(decision, 0.0)
        for column, _ in entries:
            upper[column] = min(upper[column], value) if decision[0] == "home" else value
            lower[column] = 0.0 if decision[0] == "home" else value
    return replace(program, lower=lower, upper=upper)


@dataclass(slots=True)
class _JointProgram:
    """All scenarios in one program, one after the other, then the columns of the first decisions."""

    program: LinearProgram
    decisions: dict[FirstDecision, int]
    objective: CostObjective
    weights: list[float]

    def read_first(self, values: Sequence[float]) -> dict[FirstDecision, float]:
        """The first decisions of a solution, those above 0."""
        read = {
            decision: float(round(values[column])) if self.program.whole[column] else values[column]
            for decision, column in self.decisions.items()
        }
        return {decision: value for decision, value in read.items() if value > NEGLIGIBLE}

    def place_values(self, plan: FollowedPlan) -> tuple[float, ...]:
        """The values of a known plan in the columns of this program."""
        values = [value for each in plan.values for value in each]
        values += [plan.first.get(decision, 0.0) for decision in self.decisions]
        if self.objective.weight:
            costs = plan.possible_costs or ()
            threshold = _tail_threshold(costs, self.weights, self.objective.level)
            values += [threshold, *(max(0.0, cost - threshold) for cost in costs)]
        return tuple(values)


def _join_programs(scenarios: Sequence[ScenarioProgram], objective: CostObjective) -> _JointProgram:
    joint = LinearProgram()
    offsets = []
    for scenario in scenarios:
        offsets.append(len(joint.columns))
        _append_program(joint, scenario.program, scenario.weight * (1 - objective.weight))
    decisions: dict[FirstDecision, int] = {}
    for decision in dict.fromkeys(decision for scenario in scenarios for decision in scenario.first):
        decisions[decision] = _add_decision(joint, decision, scenarios)
    for offset, scenario in zip(offsets, scenarios, strict=True):
        for decision, column in decisions.items():
            entries = scenario.first.get(decision, ())
            joint.row(0.0, 0.0, [*((offset + number, value) for number, value in entries), (column, -1.0)])
    if objective.weight:
        _add_tail_mean(joint, scenarios, offsets, objective)
    return _JointProgram(joint, decisions, objective, [scenario.weight for scenario in scenarios])


def _add_decision(joint: LinearProgram, decision: FirstDecision, scenarios: Sequence[ScenarioProgram]) -> int:
    """The column of a first decision: as whole as in its scenarios' own programs, and no larger."""
    kind, _, number = decision
    there = [(s, column) for s in scenarios for column, _ in s.first.get(decision, ())]
    most = 1.0 if kind == "home" else max(scenario.most[column] for scenario, column in there)
    whole = kind == "home" or any(column in scenario.whole_starts for scenario, column in there)
    owner, month = (number, 0) if kind == "home" else (-1, number)
    return joint.column(ProgramColumn("home" if kind == "home" else "start", owner, month), 0.0, most, whole=whole)


def _append_program(joint: LinearProgram, program: LinearProgram, factor: float) -> None:
    """The columns of a scenario at a part of their cost, and its rows."""
    columns, rows = len(joint.columns), len(joint.row_lower)
    joint.columns += program.columns
    joint.cost += [cost * factor for cost in program.cost]
    joint.lower += program.lower
    joint.upper += program.upper
    joint.whole += program.whole
    joint.row_lower += program.row_lower
    joint.row_upper += program.row_upper
    joint.row_need += program.row_need
    joint.row_limit += program.row_limit
    joint.row_scale += program.row_scale
    joint.entry_row.extend(row + rows for row in program.entry_row)
    joint.entry_column.extend(column + columns for column in program.entry_column)
    joint.entry_value += program.entry_value


def _add_tail_mean(
    joint: LinearProgram, scenarios: Sequence[ScenarioProgram], offsets: Sequence[int], objective: CostObjective
) -> None:
    """The weighted mean of the dearest cases in the objective."""
    threshold = joint.column(ProgramColumn("any", -1, 0), objective.weight, math.inf, whole=False, lower=-math.inf)
    for offset, scenario in zip(offsets, scenarios, strict=True):
        share = objective.weight * scenario.weight / (1 - objective.level)
        above = joint.column(ProgramColumn("any", -1, 0), share, math.inf, whole=False)
        costs = [(offset + number, cost) for number, cost in enumerate(scenario.program.cost) if cost]
        joint.row(-math.inf, 0.0, [*costs, (above, -1.0), (threshold, -1.0)])


def _tail_threshold(costs: Sequence[float], weights: Sequence[float], level: float) -> float:
    """The cost of the cheapest case that `tail_mean` counts."""
    left = 1 - level
    for cost, weight in sorted(zip(costs, weights, strict=True), reverse=True):
        left -= weight
        if left <= 0:
            return cost
    return min(costs)
