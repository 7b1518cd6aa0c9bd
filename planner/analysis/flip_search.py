"""Confirms the prices at which the choice changes, with no more new solves than it takes to be sure.

With its decisions fixed a plan's cost is linear in a price, and the cost of a strategy is the least over its plans: it
rises with a price, and is concave in it. So every plan bounds its strategy from above at any price, and two proven
bounds do from below between theirs. A strategy is solved again only where these leave the choice open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise
from typing import Literal, get_args

from planner.analysis.negotiation import spend_at_price
from planner.analysis.recommendation import COST_TOLERANCE, SIMPLEST_FIRST
from planner.analysis.risk import BaselinePlan
from planner.analysis.risk.uncertain_assumptions import SEARCH_FACTOR_MAX
from planner.optimization.solution import PlanningContext, SearchEffort
from planner.optimization.strategy import SolvedStrategy, proven_bound, rents_only
from planner.result import StrategyName
from planner.result.risk import NegotiationTarget
from pricing.frozen_values import dataclass

STEP = 0.0005
"""Of a price: how near to a flip it is tried on both sides."""
CHEAP = 0.01
"""Of today's price: as good as free."""
TRIALS_MAX = 40
"""Most prices tried for one target."""
SearchStep = Literal["rough", "close", "as_planned"]
"""One search of a strategy, each longer than the one before: a plan; a bound near to it; what plans do."""
STEPS: tuple[SearchStep, ...] = get_args(SearchStep)
SolveStrategy = Callable[[StrategyName, float, SearchEffort], SolvedStrategy]
"""Solves a strategy, given a bound on its cost."""
PrepareAtPrice = Callable[[NegotiationTarget, float], tuple[PlanningContext, SolveStrategy]]
"""The plan's question with the price of a target at a multiple of today's."""


@dataclass(frozen=True, slots=True)
class SolvedCost:
    """A strategy solved with a price at `multiple` of today's: cost of its plan, proven bound, and the amount that
    the plan pays at the price for each 1.0 of the multiple. `step`: the search; the last gives the cost of a plan as
    plans are made."""

    multiple: float
    cost: float
    bound: float
    spend: float
    step: SearchStep = "as_planned"

    def cost_at(self, multiple: float) -> float:
        """With the same decisions."""
        return self.cost + self.spend * (multiple - self.multiple)


KnownCosts = Mapping[StrategyName, Sequence[SolvedCost]]
CostRanges = Mapping[StrategyName, tuple[float, float]]
SolveOne = Callable[[StrategyName, float, SearchStep], Mapping[StrategyName, SolvedCost]]
"""Solves a strategy, given a bound, by one search; gives its cost and those known with it."""
SolveCosts = Callable[[float], SolveOne]
"""At a multiple of the price."""


@dataclass(frozen=True, slots=True)
class PriceQuestion:
    """Known costs of the strategies, the choice, and the direction in which its price is to change it.

    Not `is_linear`: budgets or least fees make costs rise with a price in another way than in proportion.
    """

    known: KnownCosts
    choice: str
    materiality: float
    falls: bool
    is_linear: bool

    @property
    def end(self) -> float:
        """The last multiple that is tried."""
        return CHEAP if self.falls else SEARCH_FACTOR_MAX


@dataclass(frozen=True, slots=True)
class Flip:
    """The choice is `becomes` at `multiple` of the price, and still today's at `unchanged`."""

    multiple: float
    unchanged: float
    becomes: StrategyName


def confirm_targets(
    targets: Sequence[NegotiationTarget], case: BaselinePlan, materiality: float, prepare: PrepareAtPrice
) -> tuple[NegotiationTarget, ...]:
    """The targets of a plan with flip prices at which new plans do flip. A price whose change never flips the choice
    has no flip price."""
    return tuple(_confirm_target(each, case, materiality, prepare) for each in targets)


def _confirm_target(
    target: NegotiationTarget, case: BaselinePlan, materiality: float, prepare: PrepareAtPrice
) -> NegotiationTarget:
    if target.change_fraction is None and target.kind != "quote":
        return target
    feasible = [each for each in case.solved if each.strategy.status != "infeasible"]
    question = PriceQuestion(
        known={each.strategy.name: _list_known_costs(target, each, case.setting) for each in feasible},
        choice=str(case.advice.strategy),
        materiality=materiality,
        falls=target.change_fraction is None or target.change_fraction < 0,
        is_linear=_pays_in_proportion(case.setting),
    )

    def solve_at(multiple: float) -> SolveOne:
        prepared = cache(lambda: prepare(target, multiple))

        def solve_one(name: StrategyName, bound: float, step: SearchStep) -> Mapping[StrategyName, SolvedCost]:
            setting, solve = prepared()
            solution = solve(name, bound, case.setting.effort if step == "as_planned" else step)
            cost = replace(_measure_cost(target, solution, setting, multiple), step=step)
            return {name: cost, "cloud": cost} if name == "hybrid" and rents_only(solution) else {name: cost}

        return solve_one

    flip = find_flip(question, solve_at)
    if flip is None:
        return replace(target, flip_price=None, change_fraction=None, becomes="", basis="planned_again")
    price = None if target.price is None else target.price * flip.multiple
    return replace(
        target,
        flip_price=price,
        change_fraction=flip.multiple - 1,
        becomes=flip.becomes,
        basis="planned_again",
    )


def _list_known_costs(
    target: NegotiationTarget, solved: SolvedStrategy, setting: PlanningContext
) -> tuple[SolvedCost, ...]:
    """Today's plan: with no hardware of its own, cloud costs the same at every price of hardware."""
    today = _measure_cost(target, solved, setting, 1.0)
    owns = any(each.held is not None and each.node is not None for each in setting.market.resources)
    if target.kind == "quote" and solved.strategy.name == "cloud" and not owns:
        return (replace(today, multiple=0.0), today, replace(today, multiple=SEARCH_FACTOR_MAX))
    return (today,)


def _measure_cost(
    target: NegotiationTarget, solved: SolvedStrategy, setting: PlanningContext, multiple: float
) -> SolvedCost:
    if solved.strategy.status == "infeasible":  # a search that ended before it found a plan
        return SolvedCost(multiple, math.inf, -math.inf, 0.0)
    spend = spend_at_price(target, solved, setting) / multiple
    return SolvedCost(multiple, solved.strategy.present_cost, proven_bound(solved), spend)


def _pays_in_proportion(setting: PlanningContext) -> bool:
    """Whether a plan stays possible at any price, and costs in proportion to it."""
    return not setting.rules.budgets and not setting.assumptions["cloud_support_minimum_per_month"].value


def list_cost_ranges(known: KnownCosts, multiple: float, *, is_linear: bool) -> CostRanges:
    """Between which costs each strategy lies with the price at a multiple; what was solved there is exact."""
    alone = {name: _own_range(solved, multiple, is_linear) for name, solved in known.items()}
    if "hybrid" not in alone:
        return alone
    least = alone["hybrid"][0]
    most = min(high for _, high in alone.values())
    ranges: dict[StrategyName, tuple[float, float]] = {
        name: (min(max(low, least), high), high) for name, (low, high) in alone.items()
    }
    return ranges | {"hybrid": (min(least, most), most)}


def _own_range(solved: Sequence[SolvedCost], multiple: float, is_linear: bool) -> tuple[float, float]:
    for each in solved:
        if each.multiple == multiple and each.step == "as_planned":
            return each.cost, each.cost
    highs = [each.cost for each in solved if each.multiple >= multiple]
    lows = [each.bound for each in solved if each.multiple <= multiple]
    if is_linear:
        highs += [each.cost_at(multiple) for each in solved]
        in_order = sorted(solved, key=lambda each: each.multiple)
        lows += [
            before.bound
            + (after.bound - before.bound) * (multiple - before.multiple) / (after.multiple - before.multiple)
            for before, after in pairwise(in_order)
            if before.multiple < multiple < after.multiple
        ]
    high = min(highs, default=math.inf)
    return min(max(lows, default=-math.inf), high), high


def choose_strategy(ranges: CostRanges, materiality: float) -> StrategyName | None:
    """The strategy that is the choice at all costs in the ranges; None where that is open."""
    for name in sorted(ranges, key=SIMPLEST_FIRST.index):
        low, high = ranges[name]
        others = [between for other, between in ranges.items() if other != name]
        if all(high <= _most_allowed(least, materiality) for least, _ in others):
            return name
        if not any(low > _most_allowed(most, materiality) for _, most in others):
            return None
    return None


def _most_allowed(least: float, materiality: float) -> float:
    """The cost up to which a simpler strategy is the choice."""
    return least + abs(least) * materiality + COST_TOLERANCE if math.isfinite(least) else least


def find_flip(question: PriceQuestion, solve_at: SolveCosts) -> Flip | None:
    """The first change of the choice that a rising (or falling) price brings; None where none does up to ten times the
    price, or down to a hundredth."""
    known, unchanged, flipped, becomes = question.known, 1.0, None, None
    trial = _step_from(_next_crossing(question, known, unchanged, question.end), question, towards_end=True)
    for _ in range(TRIALS_MAX):
        choice, known = _decide_flip(question, known, trial, solve_at(trial))
        if choice == question.choice:
            unchanged = trial
        else:
            flipped, becomes = trial, choice
        if flipped is None or becomes is None:
            if unchanged == question.end:
                return None
            trial = _step_from(_next_crossing(question, known, unchanged, question.end), question, towards_end=True)
            continue
        if abs(flipped - unchanged) <= 3 * STEP * flipped:
            return Flip(flipped, unchanged, becomes)
        trial = _step_between(question, known, unchanged, flipped)
    raise AssertionError("the search of a flip price halves its interval at every step")


def _decide_flip(
    question: PriceQuestion,
    known: KnownCosts,
    multiple: float,
    solve: SolveOne,
) -> tuple[StrategyName, KnownCosts]:
    """The choice at a multiple, and what is known after solving what it takes, hybrid first: it bounds the others."""
    while True:
        ranges = list_cost_ranges(known, multiple, is_linear=question.is_linear)
        choice = choose_strategy(ranges, question.materiality)
        if choice is not None:
            return choice, known
        name, step = _choose_next_solve(known, ranges, multiple)
        bound = ranges["hybrid"][0] if "hybrid" in ranges and name != "hybrid" else -math.inf
        solution = solve(name, bound, step)
        known = {each: (*solved, *((solution[each],) if each in solution else ())) for each, solved in known.items()}


def _choose_next_solve(known: KnownCosts, ranges: CostRanges, multiple: float) -> tuple[StrategyName, SearchStep]:
    """Every strategy whose cost is open by the shortest search, then the next; at last the others as plans do. Hybrid
    before all."""
    taken = {name: [each.step for each in solved if each.multiple == multiple] for name, solved in known.items()}
    is_open = {name: high - low > STEP * abs(high) for name, (low, high) in ranges.items()}
    order = sorted(known, key=lambda name: (name != "hybrid", SIMPLEST_FIRST.index(name)))
    steps: list[tuple[StrategyName, SearchStep]] = [
        *((name, step) for step in STEPS for name in order if is_open[name] and step not in taken[name]),
        *((name, "as_planned") for name in order if "as_planned" not in taken[name]),
    ]
    return steps[0]


def _next_crossing(question: PriceQuestion, known: KnownCosts, unchanged: float, until: float) -> float:
    """The multiple nearest to `unchanged` at which the choice of the plans known so far changes; else `until`."""
    lines = [(name, each) for name, solved in known.items() for each in solved]
    crossings = sorted(
        (m for m in _list_crossings(lines, question.materiality) if min(unchanged, until) < m < max(unchanged, until)),
        key=lambda m: abs(m - unchanged),
    )
    return next(
        (m for m in crossings if _choice_of_plans(question, known, _step_beyond(m, question)) != question.choice), until
    )


def _list_crossings(lines: Iterable[tuple[StrategyName, SolvedCost]], materiality: float) -> Iterator[float]:
    """Where one plan costs as much as another allows."""
    for (_, one), (_, other) in combinations(lines, 2):
        for first, second in ((one, other), (other, one)):
            factor = 1 + materiality
            slope = first.spend - factor * second.spend
            if slope:
                yield (factor * second.cost_at(0.0) - first.cost_at(0.0)) / slope


def _choice_of_plans(question: PriceQuestion, known: KnownCosts, multiple: float) -> StrategyName | None:
    ranges = list_cost_ranges(known, multiple, is_linear=True)
    return choose_strategy({name: (high, high) for name, (_, high) in ranges.items()}, question.materiality)


def _step_beyond(multiple: float, question: PriceQuestion) -> float:
    return multiple * (1 - STEP if question.falls else 1 + STEP)


def _step_from(crossing: float, question: PriceQuestion, *, towards_end: bool) -> float:
    """Just beyond a crossing, or just before it; the end itself."""
    if crossing == question.end:
        return crossing
    step = STEP if towards_end != question.falls else -STEP
    trial = crossing * (1 + step)
    return max(trial, question.end) if question.falls else min(trial, question.end)


def _step_between(question: PriceQuestion, known: KnownCosts, unchanged: float, flipped: float) -> float:
    """Just beyond where the plans known so far flip, then just before it; the middle where that is not between the
    two."""
    guess = _next_crossing(question, known, unchanged, flipped)
    is_near = abs(flipped - guess) <= 1.5 * STEP * guess
    trial = _step_from(guess, question, towards_end=not is_near)
    return trial if min(unchanged, flipped) < trial < max(unchanged, flipped) else (unchanged + flipped) / 2
