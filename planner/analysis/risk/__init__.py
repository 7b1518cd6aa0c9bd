"""Risk: how certain a solved plan is, and which changes would alter its recommendation.

Prices the decisions of the strategies again under other assumptions, and solves a new plan only where an assumption
changes which decisions are possible. Knows neither solver nor payments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from planner.analysis.risk import monte_carlo, replanning, tornado, uncertain_assumptions
from planner.analysis.risk.cost_model import StrategyCostModel, TermsFunction, build_cost_model
from planner.analysis.risk.purchase_delay import compute_delay_costs, is_new_hardware
from planner.analysis.risk.replanning import Replanner
from planner.analysis.risk.switching_values import search_switching_values
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.request.limits import RiskRequest
from planner.result import Assumption, PriceUsed, Recommendation, StrategyName, ThroughputUsed
from planner.result.audit_trail import AuditTrail
from planner.result.message import Message, message
from planner.result.risk import Risk, SampledFactor, StrategyRisk, SwitchingValue, TornadoRow
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from planner.analysis.risk.response_surface import Vector

__all__ = ["BaselinePlan", "assess_risk", "find_switching_values"]

STANDARD_ERROR_MAX = 0.005
"""Of the mean: a larger standard error is noted."""


@dataclass(frozen=True, slots=True)
class BaselinePlan:
    """A solved plan with everything needed to price it, or to plan it, again. Where its strategies take decisions of
    scenarios, `decided` are the problems with these decisions made, and `free` the best plans for the planned figures
    alone, which plans that are made again are compared with."""

    advice: Recommendation
    solved: Sequence[SolvedStrategy]
    setting: PlanningContext
    throughput: tuple[ThroughputUsed, ...]
    terms_of: TermsFunction
    again: Replanner
    decided: Mapping[StrategyName, PlanningContext] = field(default_factory=dict)
    free: Sequence[SolvedStrategy] = ()

    @property
    def pair(self) -> tuple[str, str | None]:
        """The recommended strategy and the runner-up."""
        return str(self.advice.strategy), self.advice.runner_up

    @property
    def chosen_setting(self) -> PlanningContext:
        """The problem that the recommended strategy solves."""
        name = self.advice.strategy
        return self.setting if name is None else self.decided.get(name, self.setting)

    def build_cost_models(self, names: Sequence[str | None]) -> dict[str, StrategyCostModel]:
        """The strategies of these names that are possible, ready to be paid for again."""
        figures = uncertain_assumptions.list_repriced_assumptions(self.setting.assumptions)
        return {
            s.strategy.name: build_cost_model(s.strategy.name, s.decisions, self.setting, self.terms_of, figures)
            for s in self.solved
            if s.strategy.status != "infeasible" and s.strategy.name in names
        }


def find_switching_values(
    case: BaselinePlan, ledger: AuditTrail, assumptions: Sequence[Assumption], prices: Sequence[PriceUsed]
) -> tuple[SwitchingValue, ...]:
    """Where the runner-up becomes cheaper, by the formulas of the plan's ledger over its assumptions (those of owned
    systems too) and prices. Empty without a runner-up."""
    if case.advice.strategy is None or case.advice.runner_up is None:
        return ()
    from planner.analysis.risk.fixed_decisions import build_fixed_costs
    from planner.result.ledger_costs import name_figures

    terms, solved = case.setting.terms, {str(each.strategy.name): each for each in case.solved}
    planned = name_figures(assumptions, ledger, prices, terms.discount_rate_annual, terms.hours_per_month)
    chosen, runner_up = (build_fixed_costs(solved[str(name)], case.setting, ledger, planned) for name in case.pair)
    figures = uncertain_assumptions.list_repriced_assumptions(case.setting.assumptions)
    return search_switching_values(figures, chosen, runner_up)


def assess_risk(risk_request: RiskRequest | None, case: BaselinePlan) -> Risk | None:
    """The requested analysis of risk; None where none was requested, or there is no plan."""
    if risk_request is None or case.advice.strategy is None:
        return None
    figures = uncertain_assumptions.list_repriced_assumptions(case.setting.assumptions)
    bills = case.build_cost_models([s.strategy.name for s in case.solved])
    rows, idle, cut = _build_tornado(case, bills)
    chance = tuple(figure for figure in figures if uncertain_assumptions.is_drawn(figure))
    linked = tuple(
        c for c in uncertain_assumptions.read_correlations() if {c.first, c.second} <= {f.name for f in chance}
    )
    values = monte_carlo.draw_values(chance, linked, risk_request.draws, risk_request.seed)
    paid = {name: monte_carlo.cost_draws(each, chance, values, risk_request.draws) for name, each in bills.items()}
    costs = {name: amounts for name, (amounts, _) in paid.items()}
    summaries = monte_carlo.summarise_costs(costs)
    count = min(risk_request.reoptimise, risk_request.draws)
    outcomes = case.again(replanning.list_draw_cases(count, values, case.setting.market))
    reoptimised = replanning.describe_reoptimised_draws(outcomes, costs[case.advice.strategy])
    within_gap = tornado.list_within_gap(rows, [each.strategy for each in case.free or case.solved])
    without_plan = count - (0 if reoptimised is None else reoptimised.draws)
    cut += sum(outcome.cut_by_clock for outcome in outcomes)
    singly = [name for name, (_, fast) in paid.items() if not fast]
    return Risk(
        draws=risk_request.draws,
        seed=risk_request.seed,
        tornado=tornado.sort_by_swing(rows),
        without_effect=tuple(sorted(idle)),
        strategies=summaries,
        owning_cheaper=_chance_owning_cheaper(case, costs),
        drawn=tuple(map(_build_drawn_row, chance)),
        correlations=linked,
        waiting=compute_delay_costs(risk_request.waits, case.free or case.solved, case.setting),
        reoptimised=reoptimised,
        notes=tuple(_list_risk_notes(case, summaries, singly, within_gap, without_plan, cut)),
    )


def _build_tornado(
    case: BaselinePlan, bills: Mapping[str, StrategyCostModel]
) -> tuple[list[TornadoRow], list[str], int]:
    """The rows, the names of figures without effect, and how many plans that were made again the clock cut."""
    planned = tornado.collect_present_costs([each.strategy for each in case.solved])
    known = case.setting.assumptions
    rows, idle = tornado.build_fixed_plan_rows(
        uncertain_assumptions.list_repriced_assumptions(known), bills, planned, case.pair
    )
    if case.free:
        planned = tornado.collect_present_costs([each.strategy for each in case.free])
    again = replanning.build_replanned_rows(known, case.throughput, case.again, planned, case.pair)
    return [*rows, *again.rows], [*idle, *again.without_effect], again.cut_by_clock


def _chance_owning_cheaper(case: BaselinePlan, costs: Mapping[str, Vector]) -> float | None:
    """The share of draws in which the cheapest strategy that buys hardware is below cloud."""
    import numpy as np

    buying = [
        costs[each.strategy.name]
        for each in case.solved
        if each.strategy.name in costs and any(is_new_hardware(b.resource) for b in each.decisions.bought)
    ]
    if not buying or monte_carlo.CLOUD not in costs:
        return None
    return monte_carlo.fraction_below(np.min(np.stack(buying), axis=0), costs[monte_carlo.CLOUD])


def _build_drawn_row(figure: Assumption) -> SampledFactor:
    low, high = uncertain_assumptions.range_ends(figure)
    return SampledFactor(figure.name, figure.unit, low, figure.value, high, figure.source, figure.as_of)


def _list_risk_notes(
    case: BaselinePlan,
    summaries: Sequence[StrategyRisk],
    paid_singly: Sequence[str],
    within_gap: Sequence[str],
    without_plan: int,
    cut_by_clock: int,
) -> Iterator[Message]:
    """Values that were not drawn and why, whether there were enough draws, the strategies priced draw by draw, the
    rows that the search alone may explain, and the plans made again that lack an outcome or more time."""
    yield message("draws_keep_the_plan")
    yield message("range_ends_are_choices")
    outside = [
        f.name
        for f in case.setting.assumptions.values()
        if f.low is not None
        and f.name not in uncertain_assumptions.POLICY_ASSUMPTIONS
        and not uncertain_assumptions.has_range(f)
    ]
    if outside:
        yield message("assumptions_outside_range", assumptions=outside)
    if wide := [s.strategy for s in summaries if s.standard_error > STANDARD_ERROR_MAX * abs(s.mean)]:
        yield message("standard_error_large", strategies=wide, fraction_of_mean=STANDARD_ERROR_MAX)
    if paid_singly:
        yield message("strategies_paid_draw_by_draw", strategies=paid_singly)
    if within_gap:
        yield message("replans_within_gap", assumptions=within_gap)
    if without_plan:
        yield message("draws_without_plan", draws=without_plan)
    if cut_by_clock:
        yield message("replans_cut_by_clock", plans=cut_by_clock)
