"""A strategy under uncertainty: the best first decisions, other rules for them, and each scenario known before."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace

from planner.optimization.solution import PlanningContext
from planner.optimization.solver import SEARCH_WORK
from planner.optimization.strategy import SolvedStrategy, strategy_scope
from planner.optimization.two_stage import (
    CostObjective,
    FirstDecision,
    FollowedPlan,
    ScenarioProgram,
    build_scenario_program,
    follow_first_decisions,
    keep_known_homes,
    solve_two_stage,
)
from planner.result import StrategyName
from planner.supply.resources import OWNED_KEY
from pricing.frozen_values import dataclass

MEAN = CostObjective()
THREADS = 3
EQUAL = 1e-9
"""Relative difference of costs that is rounding."""


@dataclass(frozen=True, slots=True)
class UncertainProblem:
    """The settings of all scenarios, of the mean of each figure and of the plan, and how they are solved."""

    settings: tuple[PlanningContext, ...]
    weights: tuple[float, ...]
    mean: PlanningContext
    planned: PlanningContext
    objective: CostObjective
    decide_months: int
    is_whole: bool
    gap: float

    def programs(self, name: StrategyName) -> tuple[ScenarioProgram, ...]:
        """The programs of a strategy, one for each scenario."""
        return tuple(self._build_program(name, s, w) for s, w in zip(self.settings, self.weights, strict=True))

    def mean_program(self, name: StrategyName) -> ScenarioProgram:
        """The program of the scenario of mean figures."""
        return self._build_program(name, self.mean, 1.0)

    def planned_program(self, name: StrategyName) -> ScenarioProgram:
        """The program of the figures as planned."""
        return self._build_program(name, self.planned, 1.0)

    def _build_program(self, name: StrategyName, setting: PlanningContext, weight: float) -> ScenarioProgram:
        scope = strategy_scope(name, setting)
        return build_scenario_program(weight, setting, scope, self.decide_months, whole=self.is_whole)


@dataclass(frozen=True, slots=True)
class StrategyOutcome:
    """A strategy with what comes of each rule for the first decisions, and each scenario known before (None: impossible
    there). `best` is None where nothing can be followed in every scenario."""

    name: StrategyName
    programs: tuple[ScenarioProgram, ...]
    best: FollowedPlan | None
    as_planned: FollowedPlan
    mean_figures: FollowedPlan | None
    known: tuple[FollowedPlan | None, ...]

    @property
    def known_costs(self) -> tuple[float | None, ...]:
        """The cost in each scenario where it is known before."""
        return tuple(None if plan is None else plan.costs[0] for plan in self.known)


def find_outcomes(problem: UncertainProblem, solved: Sequence[SolvedStrategy]) -> list[StrategyOutcome]:
    """The outcome of every feasible strategy. Hybrid takes over a better one within it; cloud takes over a hybrid that
    buys no hardware in any scenario."""
    feasible = {each.strategy.name: each for each in solved if each.strategy.status != "infeasible"}
    outcomes: dict[StrategyName, StrategyOutcome] = {}
    for name in sorted(feasible, key=lambda name: name != "hybrid"):
        outcomes[name] = _find_outcome(problem, feasible[name], outcomes.get("hybrid") if name == "cloud" else None)
    if "hybrid" in outcomes:
        for other in outcomes.values():
            outcomes["hybrid"] = _take_over(outcomes["hybrid"], other, problem)
    return [outcomes[name] for name in feasible]


def solve_for(problem: UncertainProblem, outcome: StrategyOutcome, objective: CostObjective) -> FollowedPlan | None:
    """The best first decisions of a strategy for another objective, among the homes of the plans that are known: a
    comparison, without a bound."""
    plans = [p for p in (outcome.best, outcome.as_planned, outcome.mean_figures) if p is not None]
    outcomes = solve_two_stage(keep_known_homes(outcome.programs, plans), objective, plans, SEARCH_WORK, problem.gap)
    return None if outcomes is None else replace(outcomes, bound=-math.inf)


def _find_outcome(problem: UncertainProblem, solved: SolvedStrategy, wider: StrategyOutcome | None) -> StrategyOutcome:
    """`wider`: the outcome of a strategy that may do all that this one may."""
    name = solved.strategy.name
    programs = problem.programs(name)
    as_planned = follow_first_decisions(_read_first_decisions(solved, problem), programs)
    mean = solve_two_stage([problem.mean_program(name)], MEAN, (), SEARCH_WORK, problem.gap)
    mean_figures = None if mean is None else follow_first_decisions(mean.first, programs)
    starts = [plan for plan in (as_planned, mean_figures) if plan is not None]
    best = _find_best(problem, programs, starts, wider)

    def know_scenario(number: int) -> FollowedPlan | None:
        """The best decisions for one scenario alone: those of `wider` where they buy no hardware."""
        taken = None if wider is None else wider.known[number]
        if wider is not None and taken is not None and not _buys_hardware([wider.programs[number]], taken.values):
            return taken
        start = () if best is None else (FollowedPlan(best.first, (best.costs[number],), (best.values[number],)),)
        return solve_two_stage([replace(programs[number], weight=1.0)], MEAN, start, SEARCH_WORK, problem.gap)

    with ThreadPoolExecutor(THREADS) as pool:  # the solver releases the interpreter's lock
        searches = [pool.submit(copy_context().run, know_scenario, number) for number in range(len(programs))]
        known = tuple(search.result() for search in searches)
    return StrategyOutcome(name, programs, best, as_planned, mean_figures, known)


def _find_best(
    problem: UncertainProblem,
    programs: Sequence[ScenarioProgram],
    known: Sequence[FollowedPlan],
    wider: StrategyOutcome | None,
) -> FollowedPlan | None:
    """The best first decisions: those of a wider strategy without hardware where they are as good here."""
    if wider is not None and wider.best is not None and not _buys_hardware(wider.programs, wider.best.values):
        same = follow_first_decisions(move_to_cloud(wider.best.first, problem.planned), programs)
        if _is_as_good(same, wider.best, problem):
            return replace(same, bound=wider.best.bound)
        known = (*known, same)
    return solve_two_stage(programs, problem.objective, known, SEARCH_WORK, problem.gap)


def _take_over(hybrid: StrategyOutcome, other: StrategyOutcome, problem: UncertainProblem) -> StrategyOutcome:
    """Hybrid with what the other strategy does better: it may do all of it."""
    best = hybrid.best
    if other.best is not None:
        same = follow_first_decisions(other.best.first, hybrid.programs)
        if best is None or _find_objective(same, problem) < _find_objective(best, problem):
            best = replace(same, bound=-math.inf if best is None else best.bound)
    known = tuple(_cheaper_plan(mine, theirs) for mine, theirs in zip(hybrid.known, other.known, strict=True))
    return replace(hybrid, best=best, known=known)


def _cheaper_plan(mine: FollowedPlan | None, theirs: FollowedPlan | None) -> FollowedPlan | None:
    """The cheaper plan of one scenario, with the bound of hybrid, which holds for all."""
    if mine is None or theirs is None:
        return mine or theirs
    return replace(theirs, bound=mine.bound) if _only_cost(theirs) < _only_cost(mine) else mine


def _only_cost(plan: FollowedPlan) -> float:
    return math.inf if plan.costs[0] is None else plan.costs[0]


def _find_objective(plan: FollowedPlan, problem: UncertainProblem) -> float:
    return plan.objective(problem.objective, problem.weights)


def _is_as_good(same: FollowedPlan, other: FollowedPlan, problem: UncertainProblem) -> bool:
    return _find_objective(same, problem) <= _find_objective(other, problem) * (1 + EQUAL) + EQUAL


def _buys_hardware(programs: Sequence[ScenarioProgram], values: Iterable[Sequence[float]]) -> bool:
    """Whether new nodes are owned in any scenario."""
    started = (program.list_starts(value) for program, value in zip(programs, values, strict=True))
    return any(resource.node is not None for each in started for resource, _, _ in each)


def move_to_cloud(first: Mapping[FirstDecision, float], planned: PlanningContext) -> dict[FirstDecision, float]:
    """The first decisions with each home on owned nodes, of which there are none, at the place of its overflow."""
    resources = planned.market.resources
    moved = {}
    for (kind, key, number), value in first.items():
        there = key
        if kind == "home" and key[0] == OWNED_KEY:
            there = min((resources[c.resource].place for c in planned.choice.overflow[number]), default=key)
        moved[kind, there, number] = value
    return moved


def _read_first_decisions(solved: SolvedStrategy, problem: UncertainProblem) -> dict[FirstDecision, float]:
    """The homes of a solved plan, and what it orders in the months that are decided now."""
    resources = problem.planned.market.resources
    first: dict[FirstDecision, float] = {}
    homes: dict[int, tuple[str, ...]] = {}
    for use in solved.decisions.shares:  # by month
        place = resources[use.candidate.resource].place
        if place[0] == OWNED_KEY or use.candidate.need not in homes:
            homes[use.candidate.need] = place
    first.update({("home", place, need): 1.0 for need, place in homes.items()})
    for order in solved.decisions.bought:
        if order.month <= problem.decide_months and order.resource.held is None:
            first["start", order.resource.key, order.month] = order.quantity
    return first
