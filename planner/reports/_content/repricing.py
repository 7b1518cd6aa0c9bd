"""The cost of a plan's decisions at other assumptions, by the formulas of its audit trail: scenarios and sensitivities.

Decisions stay as they are: `moves` has no assumption that changes which plans are feasible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from planner.result import Assumption, Plan
from planner.result.audit_trail import AuditDecision, AuditLine, AuditTrail
from planner.result.formulas import FormulaNode, evaluate_formula, parse_formula, referenced_names

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

DISCOUNT, HOURS = "discount_rate_annual", "hours_per_month"
SUPPORT, TAX = "cloud_support_fraction", "cloud_tax_fraction"
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


def _bill_factor(figures: Mapping[str, float]) -> float:
    return (1 + figures.get(SUPPORT, 0.0)) * (1 + figures.get(TAX, 0.0))


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
        values = {each.name: each.value for each in plan.assumptions}
        values |= {name: price.price_per_hour for name, price in zip(self.ledger.offers, plan.prices, strict=True)}
        return {**values, DISCOUNT: plan.discount_rate_annual, HOURS: plan.hours_per_month}

    @cached_property
    def _rate_formulas(self) -> dict[str, FormulaNode]:
        return {line.rate: parse_formula(line.rate) for line in self.ledger.lines}

    @cached_property
    def read_assumptions(self) -> frozenset[str]:
        """The assumptions that payments or their present value depend on."""
        assumption_names = {DISCOUNT, *(line.growth for line in self.ledger.lines if line.growth)}
        if any(line.is_billed for line in self.ledger.lines):
            assumption_names |= {SUPPORT, TAX}
        return frozenset(assumption_names.union(*map(referenced_names, self._rate_formulas.values())))

    @cached_property
    def _payment_grid(self) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]:
        """Quantities by line and month, the exponent of their growth, and the time that each is discounted by."""
        import numpy as np

        lines, first = self.ledger.lines, first_month(self.plan)
        times = np.arange(first - 1, last_month(self.plan))
        quantity, years, time = (np.zeros((len(lines), len(times))) for _ in range(3))
        for row, line in enumerate(lines):
            for month, amount in self.ledger.amounts(line, 1.0, 0.0).items():
                quantity[row, month - first] = amount
                years[row, month - first] = ((line.priced_in or month) - 1) / 12
            time[row] = times + (line.at == "end")
        return quantity, years, time

    @cached_property
    def _strategy_lines(self) -> dict[str, NDArray[bool_]]:
        """By strategy, which lines are its own."""
        import numpy as np

        names = [self.ledger.choices[line.choice].strategy for line in self.ledger.lines]
        return {each.name: np.array([name == each.name for name in names], dtype=bool) for each in self.plan.strategies}

    @property
    def bill_factor(self) -> float:
        """The factor on a billed amount for the support plan, and for tax on both, as planned."""
        return _bill_factor(self.figures)

    def costs(self, name: str, moves: Mapping[str, float]) -> tuple[float, float]:
        """Total and present cost of a strategy with figures at other values."""
        import numpy as np

        at = {**self.figures, **moves}
        rates = {text: evaluate_formula(node, at) for text, node in self._rate_formulas.items()}
        billed = _bill_factor(at)
        each = np.array([rates[line.rate] * (billed if line.is_billed else 1.0) for line in self.ledger.lines])
        growth = np.array([at[line.growth] if line.growth else 0.0 for line in self.ledger.lines])
        quantity, years, time = self._payment_grid
        own = self._strategy_lines[name]
        amounts = (quantity * each[:, None] * (1 + growth)[:, None] ** years)[own]
        # the exponent counts months to the payment: month - 1 at its start, month at its end
        monthly = (1 + at[DISCOUNT]) ** (1 / 12)
        present = amounts * monthly ** -time[own]
        return round(float(amounts.sum()), AMOUNT_DECIMALS), round(float(present.sum()), AMOUNT_DECIMALS)

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
