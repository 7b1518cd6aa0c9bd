"""What the scenarios say of the choice: what to decide now, its rival, its regret, and whether it will hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from planner.analysis.conventions import list_throughputs
from planner.analysis.recommendation import list_amounts, sum_purchases
from planner.analysis.risk import BaselinePlan
from planner.analysis.uncertainty import assess_uncertainty
from planner.analysis.uncertainty.decided_plans import SolveFunction
from planner.optimization.strategy import SolvedStrategy
from planner.request.models import Request
from planner.result import Recommendation, StrategyName
from planner.result.message import Message, message
from planner.result.uncertainty import StrategyUnderUncertainty, Uncertainty

EQUAL = 1e-6
"""Relative difference of amounts that is rounding."""


def follow_scenarios(
    request: Request,
    case: BaselinePlan,
    solve: SolveFunction,
    advise: Callable[[Sequence[SolvedStrategy], StrategyName], Recommendation],
) -> tuple[BaselinePlan, Uncertainty]:
    """The case with the plans that take the first decisions of the scenarios, and the advice for the strategy that is
    best over these, with its facts."""
    uncertainty, decided = assess_uncertainty(request, case, solve)
    chosen = uncertainty.strategy
    if chosen is None:
        return case, uncertainty
    solved = [decided[s.strategy.name].solved if s.strategy.name in decided else s for s in case.solved]
    advice = advise(solved, chosen)
    changed = {new.strategy.name for new, old in zip(solved, case.solved, strict=True) if new is not old}
    if advice.runner_up is not None and (chosen != case.advice.strategy or changed & {chosen, advice.runner_up}):
        advice = replace(advice, reasons=(message("flips_need_planned_figures"), *advice.reasons))
    return replace(
        case,
        advice=_add_choice_facts(advice, uncertainty, request.currency, is_changed=chosen in changed),
        solved=solved,
        throughput=list_throughputs(case.setting, solved),
        decided={name: each.setting for name, each in decided.items()},
        free=case.solved,
    ), uncertainty


def _add_choice_facts(
    advice: Recommendation, uncertainty: Uncertainty, currency: str, *, is_changed: bool
) -> Recommendation:
    """The advice with what to decide now in its sentence and the facts behind the strategy of the scenarios, which it
    recommends."""
    chosen = next(each for each in uncertainty.strategies if each.strategy == uncertainty.strategy)
    decisions = _describe_first_decisions(uncertainty, chosen, currency, is_changed=is_changed)
    sentence = replace(advice.sentence, parameters={**advice.sentence.parameters, "first_decisions": decisions})
    facts = _list_choice_facts(uncertainty, chosen, currency)
    return replace(advice, sentence=sentence, reasons=(*facts, *advice.reasons))


def _list_choice_facts(uncertainty: Uncertainty, chosen: StrategyUnderUncertainty, currency: str) -> Iterator[Message]:
    if (rival := _find_rival(uncertainty, chosen)) is not None:
        costs = (chosen.best_rule, rival.best_rule)
        means, tails = ([getattr(rule, name) for rule in costs] for name in ("mean_cost", "tail_cost"))
        yield message(
            "rival_over_scenarios",
            strategy=chosen.strategy,
            rival=rival.strategy,
            more_mean=means[1] - means[0],
            more_tail=tails[1] - tails[0],
            tail_level=uncertainty.tail_level,
            currency=currency,
        )
    regrets = [
        message("regret_of_strategy", strategy=each.strategy, mean=each.mean_regret, largest=each.largest_regret)
        for each in uncertainty.strategies
        if each.mean_regret is not None
    ]
    yield message("regret", regrets=tuple(regrets), currency=currency)
    yield from (
        message("impossible_in_scenarios", strategy=each.strategy)
        for each in uncertainty.strategies
        if each.objective is None
    )
    if uncertainty.advice_holds is not None:
        yield message("advice_holds_later", strategy=chosen.strategy, probability=uncertainty.advice_holds)


def _find_rival(uncertainty: Uncertainty, chosen: StrategyUnderUncertainty) -> StrategyUnderUncertainty | None:
    """The next best strategy whose objective differs by more than either proof leaves open: a hybrid that decides as
    the cloud does is none."""
    outside = []
    for each in uncertainty.strategies:
        if each.objective is not None and chosen.objective is not None:
            difference = abs(each.objective - chosen.objective)
            if difference > max(_open_difference(each), _open_difference(chosen)):
                outside.append((difference, each.strategy, each))
    return min(outside, default=("", "", None))[2]


def _open_difference(each: StrategyUnderUncertainty) -> float:
    """What the proof leaves open of the objective; all of it where nothing bounds it."""
    assert each.objective is not None
    gap = each.objective - each.bound if each.bound is not None else abs(each.objective)
    return max(gap, EQUAL * abs(each.objective))


def _describe_first_decisions(
    uncertainty: Uncertainty, chosen: StrategyUnderUncertainty, currency: str, *, is_changed: bool
) -> Message:
    own = next(rule for rule in chosen.rules if rule.rule == "as_planned")
    now = sum_purchases(step for step in uncertainty.ladder if step.is_now)
    best = chosen.best_rule
    assert best is not None
    return message(
        "first_decisions",
        decided=list_amounts(now, currency),
        scenarios=len(uncertainty.scenarios),
        mean_cost=best.mean_cost,
        tail_cost=best.tail_cost,
        tail_level=uncertainty.tail_level,
        is_planned=not is_changed and chosen.robustness_cost is not None,
        planned_mean_cost=own.mean_cost,
        planned_tail_cost=own.tail_cost,
        robustness_cost=chosen.robustness_cost,
        currency=currency,
    )
