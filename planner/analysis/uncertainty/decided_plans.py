"""The plans that take the first decisions of the scenarios; all the rest follows the planned figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from planner.analysis.uncertainty.strategy_outcomes import StrategyOutcome, UncertainProblem, move_to_cloud
from planner.optimization.home_selection import keep_homes
from planner.optimization.model import StrategyScope
from planner.optimization.solution import PlanningContext
from planner.optimization.stays import Place
from planner.optimization.strategy import SolvedStrategy, proven_bound, rents_only, with_bound
from planner.optimization.two_stage import FirstDecision
from planner.result import StrategyName
from planner.supply.costs import SharedResource
from pricing.frozen_values import dataclass

SolveFunction = Callable[[StrategyName, PlanningContext], SolvedStrategy]


@dataclass(frozen=True, slots=True)
class DecidedPlan:
    """A strategy with the first decisions of the scenarios, and the problem that it solves; `robustness_cost`: its
    present cost over the planned figures, less that of the best plan for these alone."""

    solved: SolvedStrategy
    setting: PlanningContext
    robustness_cost: float


def decide_plans(
    problem: UncertainProblem,
    outcomes: Sequence[StrategyOutcome],
    solved: Sequence[SolvedStrategy],
    setting: PlanningContext,
    solve: SolveFunction,
) -> dict[StrategyName, DecidedPlan]:
    """The plan of each strategy with its best first decisions. A strategy that has none, or whose first decisions no
    plan can keep for a limit that the scenarios leave out, is not among them."""
    planned = {each.strategy.name: each for each in solved}
    plans: dict[StrategyName, DecidedPlan] = {}
    by_name = {outcome.name: outcome for outcome in outcomes}
    for name, outcome in sorted(by_name.items(), key=lambda item: item[0] != "hybrid"):
        if outcome.best is None or outcome.best.possible_costs is None:
            continue
        wider = plans.get("hybrid") if name == "cloud" else None
        if wider is not None and _is_same(by_name["hybrid"], outcome, problem) and rents_only(wider.solved):
            strategy = replace(wider.solved.strategy, name=name)
            decided, part = replace(wider.solved, strategy=strategy), wider.setting
        elif outcome.best.first == outcome.as_planned.first:
            decided, part = planned[name], setting
        else:
            part = make_first_decisions(setting, problem.planned, outcome.best.first, problem.decide_months)
            decided = _with_known_bound(solve(name, part), planned[name], setting)
        if decided.strategy.status != "infeasible":
            more = decided.strategy.present_cost - planned[name].strategy.present_cost
            plans[name] = DecidedPlan(decided, part, max(0.0, more))
    return plans


def make_first_decisions(
    setting: PlanningContext, planned: PlanningContext, first: Mapping[FirstDecision, float], decide_months: int
) -> PlanningContext:
    """The problem with no other homes than those decided, and with just the orders and commitments decided in the
    first months. `planned` has all starts of these months, and one place for the overflow of owned nodes."""
    orders: dict[tuple[str, ...], dict[int, float]] = {}
    homes = [frozenset(resource.place for resource in setting.market.resources)] * len(setting.demands.needs)
    for (kind, key, number), quantity in first.items():
        if kind == "start":
            orders.setdefault(key, {})[number] = quantity
        elif _is_open_to_the_end(setting, key):
            homes[number] = frozenset({key})
    early = {item.resource.key: item for item in planned.choice.shared}
    shared = tuple(
        _decide_starts(item, early.get(item.resource.key, item), orders.get(item.resource.key, {}), decide_months)
        for item in setting.choice.shared
    )
    part, scope = keep_homes(setting, StrategyScope(shared, ()), homes)
    useful = tuple(item for item in scope.shared if item.starts)
    choice = replace(part.choice, shared=useful, overflow=planned.choice.overflow, is_partial=False)
    return replace(part, choice=choice)


def _is_open_to_the_end(setting: PlanningContext, place: Place) -> bool:
    """Whether the place does work to the end of the plan: work has to leave one that ends before."""
    ends = (resource.last_month for resource in setting.market.resources if resource.place == place)
    return all(end is None or end >= setting.terms.months for end in ends)


def _decide_starts(
    item: SharedResource, early: SharedResource, quantities: Mapping[int, float], decide_months: int
) -> SharedResource:
    """The starts of the first months that are decided, and all later ones; those of existing capacity as they are."""
    if item.resource.held is not None:
        return item
    decided = (s._replace(decided=quantities[s.month]) for s in early.starts if s.month in quantities)
    return replace(item, starts=(*decided, *(s for s in item.starts if s.month > decide_months)))


def _is_same(hybrid: StrategyOutcome, cloud: StrategyOutcome, problem: UncertainProblem) -> bool:
    """Whether a hybrid without hardware has the first decisions of the cloud."""
    assert cloud.best is not None
    return hybrid.best is not None and move_to_cloud(hybrid.best.first, problem.planned) == cloud.best.first


def _with_known_bound(decided: SolvedStrategy, planned: SolvedStrategy, setting: PlanningContext) -> SolvedStrategy:
    """The plan with the bound of all plans, where candidates outside the choice could meet a target for less."""
    if not setting.choice.is_partial or decided.strategy.status == "infeasible":
        return decided
    return with_bound(decided, proven_bound(planned))
