"""Decisions under uncertainty: what to commit to now that is best over weighted scenarios, and what knowing is worth.

The homes and commitments of each strategy are decided again, in two stages, over scenarios of the figures that are
uncertain (two_stage.py). Its plan makes the first of these decisions, and follows the planned figures from then on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from planner.analysis.recommendation import pick_simplest
from planner.analysis.risk import BaselinePlan
from planner.analysis.uncertainty.decided_plans import DecidedPlan, SolveFunction, decide_plans
from planner.analysis.uncertainty.ladder import build_ladder
from planner.analysis.uncertainty.scenario_settings import ScenarioSettings, has_predicted_throughput
from planner.analysis.uncertainty.scenarios import THROUGHPUT_RANK, Scenario, draw_scenarios, mean_scenario
from planner.analysis.uncertainty.strategy_outcomes import (
    MEAN,
    StrategyOutcome,
    UncertainProblem,
    find_outcomes,
    solve_for,
)
from planner.analysis.uncertainty.uncertain_figures import (
    DEMAND,
    THROUGHPUT,
    UncertainFigures,
    list_uncertain_figures,
)
from planner.optimization.model import StrategyScope
from planner.optimization.narrowed_setting import narrow_setting
from planner.optimization.place_program import build_place_program
from planner.optimization.two_stage import (
    CostObjective,
    FollowedPlan,
    follow_first_decisions,
    tail_mean,
    weighted_mean,
)
from planner.request.limits import UncertaintyRequest
from planner.request.models import Effort, Request
from planner.result import StrategyName
from planner.result.message import Message, message
from planner.result.uncertainty import (
    DecisionRule,
    LadderStep,
    PlannedScenario,
    RuleCosts,
    StrategyUnderUncertainty,
    UncertainFigure,
    Uncertainty,
)

__all__ = ["assess_uncertainty"]

EXACT_COLUMNS = 12_000
"""Programs by place that have at most so many columns in all scenarios keep all homes and whole later decisions."""
SEARCHES: Mapping[Effort, tuple[int, float]] = {"quick": (1, 5e-3), "standard": (1, 1e-3), "proof": (2, 1e-4)}
"""Homes of each workload that are searched beside those in use, and the gap that ends a search. With those in use alone
the decisions for 20 scenarios of a review cost 1 % more in the cloud, and 6 % more on-premises."""


def assess_uncertainty(
    request: Request, case: BaselinePlan, solve: SolveFunction
) -> tuple[Uncertainty, dict[StrategyName, DecidedPlan]]:
    """The requested decisions under uncertainty, and the plans that take them; `case` has a plan."""
    asked = request.uncertainty
    assert asked is not None
    figures = list_uncertain_figures(asked, case.setting.assumptions, request.as_of)
    everywhere = StrategyScope(case.setting.choice.shared, (case.setting.terms.months,) * len(request.workloads))
    columns = len(build_place_program(case.setting, everywhere).program.columns)
    is_whole = columns * asked.scenarios <= EXACT_COLUMNS
    nearest, gap = SEARCHES[request.effort]
    part = narrow_setting(case.setting, case.solved, columns if is_whole else nearest)
    predicted = [] if any(f.name == THROUGHPUT for f in figures.drawn) else has_predicted_throughput(part)
    ranks = [f"{THROUGHPUT_RANK}{name}" for name in predicted]
    scenarios = draw_scenarios(figures.drawn, ranks, asked.draws, asked.scenarios, asked.seed)
    builder = ScenarioSettings(part, case.terms_of, asked.decide_months)
    problem = UncertainProblem(
        tuple(map(builder.build, scenarios)),
        tuple(scenario.weight for scenario in scenarios),
        builder.build(mean_scenario(scenarios, figures.drawn)),
        builder.build(Scenario(1.0, {})),
        CostObjective(asked.tail_weight, asked.tail_level),
        asked.decide_months,
        is_whole,
        1e-6 if is_whole else gap,
    )
    outcomes = find_outcomes(problem, case.solved)
    decided = decide_plans(problem, outcomes, case.solved, case.setting, solve)
    return _build_result(asked, request, case, figures, scenarios, problem, outcomes, decided), decided


def _build_result(
    asked: UncertaintyRequest,
    request: Request,
    case: BaselinePlan,
    figures: UncertainFigures,
    scenarios: Sequence[Scenario],
    problem: UncertainProblem,
    outcomes: Sequence[StrategyOutcome],
    decided: Mapping[StrategyName, DecidedPlan],
) -> Uncertainty:
    least = _cheapest_known(outcomes, len(scenarios))
    objectives: dict[StrategyName, float] = {
        o.name: o.best.objective(problem.objective, problem.weights) for o in outcomes if o.best is not None
    }
    chosen = pick_simplest(objectives, request.materiality_fraction) if objectives else None
    best = next((o for o in outcomes if o.name == chosen), None)
    ladder: tuple[LadderStep, ...] = ()
    if best is not None and best.best is not None:
        ladder = build_ladder(best.best, best.programs, scenarios, problem.planned, asked.decide_months)
    return Uncertainty(
        scenarios=tuple(_describe_scenario(scenario, i, outcomes) for i, scenario in enumerate(scenarios)),
        draws=asked.draws,
        seed=asked.seed,
        decide_months=asked.decide_months,
        tail_weight=asked.tail_weight,
        tail_level=asked.tail_level,
        figures=tuple(
            UncertainFigure(f.name, f.meaning, f.unit, f.low or 0.0, f.value, f.high or 0.0, f.source, f.as_of)
            for f in figures.drawn
        ),
        certain=tuple(name for name in figures.certain if name != THROUGHPUT),
        strategies=tuple(
            _describe_strategy(o, problem, least, decided.get(o.name), is_chosen=o.name == chosen) for o in outcomes
        ),
        strategy=chosen,
        advice_holds=_chance_advice_holds(chosen or case.advice.strategy, request, problem, outcomes),
        ladder=ladder,
        is_exact=problem.is_whole,
        notes=tuple(_list_notes(case, problem, figures, outcomes)),
    )


def _cheapest_known(outcomes: Sequence[StrategyOutcome], count: int) -> list[float]:
    """By scenario, the least cost of any strategy that knows it, or that is followed there."""
    least = []
    for i in range(count):
        costs = [o.known_costs[i] for o in outcomes] + [o.best.costs[i] for o in outcomes if o.best is not None]
        least.append(min((cost for cost in costs if cost is not None), default=math.nan))
    return least


def _describe_scenario(scenario: Scenario, index: int, outcomes: Sequence[StrategyOutcome]) -> PlannedScenario:
    costs = tuple((o.name, None if o.best is None else o.best.costs[index]) for o in outcomes)
    return PlannedScenario(scenario.weight, tuple(scenario.values.items()), costs)


def _describe_strategy(
    outcome: StrategyOutcome,
    problem: UncertainProblem,
    least: Sequence[float],
    decided: DecidedPlan | None,
    *,
    is_chosen: bool,
) -> StrategyUnderUncertainty:
    weights, best = problem.weights, outcome.best
    impossible = math.fsum(w for w, plan in zip(weights, outcome.known, strict=True) if plan is None)
    rules = list(_list_rules(outcome, problem, is_chosen=is_chosen))
    costs = None if best is None else best.possible_costs
    if best is None or costs is None:
        return StrategyUnderUncertainty(
            outcome.name, None, None, None, tuple(rules), None, None, None, None, None, None, min(impossible, 1.0)
        )
    objective = best.objective(problem.objective, weights)
    known = weighted_mean([_cost_or_infinite(cost) for cost in outcome.known_costs], weights)
    proven = weighted_mean([-math.inf if plan is None else plan.bound for plan in outcome.known], weights)
    mean_rule = math.inf if outcome.mean_figures is None else outcome.mean_figures.objective(problem.objective, weights)
    mean = weighted_mean(costs, weights)
    regrets = [max(0.0, cost - cheapest) for cost, cheapest in zip(costs, least, strict=True)]
    bound = best.bound if math.isfinite(best.bound) else None
    return StrategyUnderUncertainty(
        strategy=outcome.name,
        objective=objective,
        bound=bound,
        gap_fraction=None if bound is None or not objective else (objective - bound) / abs(objective),
        rules=tuple(rules),
        stochastic_value=max(0.0, mean_rule - objective) if math.isfinite(mean_rule) else None,
        information_value=max(0.0, mean - known),
        information_value_max=max(0.0, mean - proven),
        mean_regret=weighted_mean(regrets, weights),
        largest_regret=max(regrets),
        robustness_cost=None if decided is None else decided.robustness_cost,
        impossible_fraction=0.0,
    )


def _cost_or_infinite(cost: float | None) -> float:
    return math.inf if cost is None else cost


def _list_rules(outcome: StrategyOutcome, problem: UncertainProblem, *, is_chosen: bool) -> Iterator[RuleCosts]:
    """The costs of each rule; the least mean beside another objective only of the chosen strategy."""
    yield _describe_rule("as_planned", outcome.as_planned.costs, problem)
    if outcome.mean_figures is not None:
        yield _describe_rule("mean_figures", outcome.mean_figures.costs, problem)
    if outcome.best is not None:
        if not problem.objective.weight:
            yield _describe_rule("least_mean", outcome.best.costs, problem)
        else:
            least = solve_for(problem, outcome, MEAN) if is_chosen else None
            if least is not None:
                yield _describe_rule("least_mean", least.costs, problem)
            yield _describe_rule("least_objective", outcome.best.costs, problem)
    yield _describe_rule("perfect_information", outcome.known_costs, problem)


def _describe_rule(rule: DecisionRule, costs: Sequence[float | None], problem: UncertainProblem) -> RuleCosts:
    weights = problem.weights
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        missing = math.fsum(w for w, cost in zip(weights, costs, strict=True) if cost is None)
        return RuleCosts(rule, None, None, min(missing, 1.0))
    return RuleCosts(rule, weighted_mean(known, weights), tail_mean(known, weights, problem.objective.level), 0.0)


def _chance_advice_holds(
    recommended: str | None, request: Request, problem: UncertainProblem, outcomes: Sequence[StrategyOutcome]
) -> float | None:
    """The weight of the scenarios in which the recommended strategy would be recommended by who knows them."""
    held = 0.0
    for i, weight in enumerate(problem.weights):
        costs: dict[StrategyName, float] = {o.name: cost for o in outcomes if (cost := o.known_costs[i]) is not None}
        if not costs:
            return None
        if pick_simplest(costs, request.materiality_fraction) == recommended:
            held += weight
    return min(held, 1.0)


def _list_notes(
    case: BaselinePlan,
    problem: UncertainProblem,
    figures: UncertainFigures,
    outcomes: Sequence[StrategyOutcome],
) -> Iterator[Message]:
    """What is decided now and what later, what was left out, and how far these programs are from the plan's."""
    yield message("uncertain_decided_now", months=problem.decide_months)
    if DEMAND in figures.certain:
        yield message("uncertain_demand_not_stated")
    if not problem.is_whole:
        yield message("uncertain_later_in_fractions", homes=_count_homes(outcomes))
    if case.setting.rules.budgets or case.setting.rules.quotas:
        yield message("uncertain_limits_left_out")
    own = next((o for o in outcomes if o.name == case.advice.strategy), None)
    cost = None if own is None else _replan_cost(own, problem)
    if cost is not None:
        planned = next(s.strategy.present_cost for s in case.solved if s.strategy.name == case.advice.strategy)
        yield message("uncertain_program_distance", strategy=case.advice.strategy, cost=cost, planned=planned)


def _count_homes(outcomes: Sequence[StrategyOutcome]) -> int:
    """The homes of all workloads that were searched."""
    return len({key for o in outcomes for program in o.programs for key in program.first if key[0] == "home"})


def _replan_cost(own: StrategyOutcome, problem: UncertainProblem) -> float | None:
    """What the plan's own first decisions cost with the planned figures, in these programs."""
    plan: FollowedPlan = follow_first_decisions(own.as_planned.first, [problem.planned_program(own.name)])
    return plan.costs[0]
