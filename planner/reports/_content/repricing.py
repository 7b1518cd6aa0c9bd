"""The cost of a plan's decisions at other assumptions, by the formulas of its audit trail: scenarios and sensitivities.

Decisions stay as they are: `moves` has no assumption that changes which plans are feasible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Literal

from planner.result import Assumption, Plan
from planner.result.audit_trail import AuditDecision, AuditLine, AuditTrail
from planner.result.ledger_costs import (
    DISCOUNT,
    LedgerCosts,
    RateReader,
    bill_factor,
    build_ledger_costs,
    name_figures,
)
from pricing.frozen_values import dataclass

INCOME_TAX = "income_tax_fraction"
BASE, LOW_COST, HIGH_COST = "base", "low cost", "high cost"
SCENARIOS = (BASE, LOW_COST, HIGH_COST)
AMOUNT_DECIMALS = 6
"""Amounts are rounded to these decimals: the order of a sum shows in later ones."""


def ledger_of(plan: Plan) -> AuditTrail:
    """The plan's ledger; for a plan that has none, its cash: decided amounts at a rate of 1."""
    if plan.ledger.lines or not any(strategy.cash for strategy in plan.strategies):
        return plan.ledger
    choices: dict[tuple[str, str, str, Literal["start", "end"], int], list[float]] = {}
    last = last_month(plan)
    for strategy in plan.strategies:
        for row in strategy.cash:
            # what is paid before the plan is a choice of the first month for each payment
            key = strategy.name, row.what, row.category, row.at, min(row.month, 1)
            choices.setdefault(key, [0.0] * last)[max(row.month, 1) - 1] += row.amount
    lines = tuple(
        AuditLine(number, category, at, "1", 1.0, "", None, first, last if first > 0 else first, first > 0, False)
        for number, (_, _, category, at, first) in enumerate(choices)
    )
    made = tuple(
        AuditDecision(name, title, "", plan.currency, tuple(amounts))
        for (name, title, _, _, _), amounts in choices.items()
    )
    return AuditTrail(made, lines, tuple(f"offer_{number}" for number, _ in enumerate(plan.prices, start=1)))


def first_month(plan: Plan) -> int:
    """The first month in which anything is paid: 1, or before the plan (0 and less) where hardware is ordered then."""
    return min([1, *(row.month for strategy in plan.strategies for row in strategy.cash)])


def last_month(plan: Plan) -> int:
    """The last month in which anything is paid or planned."""
    return max([plan.months, *(row.month for strategy in plan.strategies for row in strategy.cash)])


@dataclass(frozen=True, slots=True)
class AssumptionRange:
    """A figure with a range that payments look at, and the strategy's present cost at both ends of it."""

    figure: Assumption
    at_low: float
    at_high: float

    @property
    def costlier_end(self) -> str:
        """The end at which it costs more."""
        return "high" if self.at_high >= self.at_low else "low"

    def value_in_scenario(self, scenario: str) -> float:
        """The value under a scenario: sheet Assumptions writes the same rule as a formula."""
        low, high = self.figure.low, self.figure.high
        assert low is not None
        assert high is not None
        if scenario == BASE:
            return self.figure.value
        return high if (scenario == HIGH_COST) == (self.costlier_end == "high") else low


@dataclass(frozen=True)
class LedgerRepricing:
    """A plan whose decisions can be priced again."""

    plan: Plan

    @cached_property
    def ledger(self) -> AuditTrail:
        return ledger_of(self.plan)

    @cached_property
    def figures(self) -> dict[str, float]:
        """Every figure that a formula may name, as planned."""
        plan = self.plan
        return name_figures(plan.assumptions, self.ledger, plan.prices, plan.discount_rate_annual, plan.hours_per_month)

    @cached_property
    def read_assumptions(self) -> frozenset[str]:
        """The assumptions that payments or their present value depend on."""
        groups = [group for costs in self._strategy_costs.values() for group in costs.groups]
        return frozenset((DISCOUNT,)).union(*(group.rate_names | group.timing_names for group in groups))

    @cached_property
    def _strategy_costs(self) -> dict[str, LedgerCosts]:
        """By strategy."""
        reader = RateReader()
        return {
            each.name: build_ledger_costs(self.ledger, each.name, self.figures, reader) for each in self.plan.strategies
        }

    @property
    def bill_factor(self) -> float:
        """The factor on a billed amount for the support plan, and for tax on both, as planned."""
        return bill_factor(self.figures)

    def costs(self, name: str, moves: Mapping[str, float]) -> tuple[float, float]:
        """Total and present cost of a strategy with figures at other values."""
        total, present = self._strategy_costs[name].total_and_present(moves)
        return round(total, AMOUNT_DECIMALS), round(present, AMOUNT_DECIMALS)

    def moves(self, scenario: str) -> dict[str, float]:
        """Every figure with a range that matters, at the end that makes the recommended strategy cheap, or dear."""
        if scenario == BASE:
            return {}
        return {each.figure.name: each.value_in_scenario(scenario) for each in self.recommended}

    @cached_property
    def recommended(self) -> tuple[AssumptionRange, ...]:
        """Every figure with a range that changes the present cost of the recommended strategy, the one that changes it
        most first; none where no plan is feasible."""
        chosen = self.plan.recommendation.strategy
        ranges = []
        for figure in self.plan.assumptions if chosen else ():
            low, high = figure.low, figure.high
            if chosen is None or low is None or high is None or figure.name not in self.read_assumptions:
                continue
            planned = self.figures[figure.name]
            # a planned value outside its published range widens the range, or the plan would not lie in it
            ends = min(low, planned), max(high, planned)
            at_low, at_high = (self.costs(chosen, {figure.name: end})[1] for end in ends)
            if at_low != at_high:
                widened = replace(figure, value=planned, low=ends[0], high=ends[1])
                ranges.append(AssumptionRange(widened, at_low, at_high))
        return tuple(sorted(ranges, key=lambda each: (-abs(each.at_high - each.at_low), each.figure.name)))
