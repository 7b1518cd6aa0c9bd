"""What the decisions of a strategy cost at other figures, by the formulas of the audit trail: scenarios, sensitivities
and switching values without listing payments again.

Payments with the same rate and growth are one group. A figure that only its rate names changes one factor; a growth or
the discount rate changes the sum of the months. Decisions stay as they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from planner.result import Assumption, PriceUsed
from planner.result.audit_trail import AuditLine, AuditTrail
from planner.result.formulas import FormulaNode, evaluate_formula, parse_formula, referenced_names

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

DISCOUNT, HOURS = "discount_rate_annual", "hours_per_month"
SUPPORT, TAX = "cloud_support_fraction", "cloud_tax_fraction"
RateFormula = Callable[[AuditLine], FormulaNode]
"""The formula of the rate of a line."""


def bill_factor(figures: Mapping[str, float]) -> float:
    """The factor on a billed amount for the support plan, and for tax on both."""
    return (1 + figures.get(SUPPORT, 0.0)) * (1 + figures.get(TAX, 0.0))


@dataclass(frozen=True)
class PaymentGroup:
    """Payments of one strategy that have the same rate and growth: `quantities` that fall due `times` months from now,
    at prices of `years` from now."""

    rate: FormulaNode
    growth: str
    is_billed: bool
    quantities: NDArray[float64]
    years: NDArray[float64]
    times: NDArray[float64]

    @cached_property
    def rate_names(self) -> frozenset[str]:
        """The figures that the rate depends on."""
        return referenced_names(self.rate) | (frozenset((SUPPORT, TAX)) if self.is_billed else frozenset())

    @cached_property
    def timing_names(self) -> frozenset[str]:
        """The figures that the weight of the months depends on."""
        return frozenset((DISCOUNT, self.growth) if self.growth else (DISCOUNT,))

    def evaluate_rate(self, figures: Mapping[str, float]) -> float:
        """The rate, with support plan and tax where it is billed."""
        rate: float = evaluate_formula(self.rate, figures)
        return rate * bill_factor(figures) if self.is_billed else rate

    def sum_quantities(self, figures: Mapping[str, float]) -> tuple[float, float]:
        """The quantities with their growth, added up as they are and as present values."""
        growth = figures[self.growth] if self.growth else 0.0
        grown = self.quantities * (1 + growth) ** self.years
        # the exponent counts months to the payment: month - 1 at its start, month at its end
        return float(grown.sum()), float((grown * (1 + figures[DISCOUNT]) ** (-self.times / 12)).sum())


@dataclass(frozen=True)
class LedgerCosts:
    """The costs of a strategy as functions of the figures that its formulas name; `figures` are those as planned."""

    name: str
    groups: tuple[PaymentGroup, ...]
    figures: Mapping[str, float]

    @cached_property
    def _planned(self) -> tuple[tuple[float, tuple[float, float]], ...]:
        """Of each group: its rate, and its quantities."""
        return tuple((group.evaluate_rate(self.figures), group.sum_quantities(self.figures)) for group in self.groups)

    @cached_property
    def _planned_amounts(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Total and present cost of each group as planned."""
        totals = tuple(rate * total for rate, (total, _) in self._planned)
        return totals, tuple(rate * present for rate, (_, present) in self._planned)

    @cached_property
    def _groups_of(self) -> Mapping[str, tuple[int, ...]]:
        """The groups that depend on each figure."""
        groups: dict[str, list[int]] = defaultdict(list)
        for number, group in enumerate(self.groups):
            for name in group.rate_names | group.timing_names:
                groups[name].append(number)
        return {name: tuple(numbers) for name, numbers in groups.items()}

    def cost(self, moves: Mapping[str, float]) -> float:
        """Present cost with `moves`."""
        return self.total_and_present(moves)[1]

    def total_and_present(self, moves: Mapping[str, float]) -> tuple[float, float]:
        """Total and present cost with some figures at other values. Raises KeyError for a figure without a value."""
        figures, moved = {**self.figures, **moves}, moves.keys()
        totals, presents = map(list, self._planned_amounts)
        for number in dict.fromkeys(number for name in moves for number in self._groups_of.get(name, ())):
            group, (rate, quantities) = self.groups[number], self._planned[number]
            at_rate = rate if moved.isdisjoint(group.rate_names) else group.evaluate_rate(figures)
            total, present = quantities if moved.isdisjoint(group.timing_names) else group.sum_quantities(figures)
            totals[number] = at_rate * total
            presents[number] = at_rate * present
        return math.fsum(totals), math.fsum(presents)


def build_ledger_costs(
    ledger: AuditTrail, strategy: str, figures: Mapping[str, float], formula: RateFormula | None = None
) -> LedgerCosts:
    """The costs of one strategy; `formula` may give rates over further figures. Raises FormulaSyntaxError for a rate
    that is not of the grammar."""
    import numpy as np

    formula = formula or RateReader()
    paid: dict[tuple[FormulaNode, str, bool], dict[tuple[float, int], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for line in ledger.lines:
        if ledger.choices[line.choice].strategy == strategy:
            group = paid[formula(line), line.growth, line.is_billed]
            for month, quantity in ledger.amounts(line, 1.0, 0.0).items():
                years = ((line.priced_in or month) - 1) / 12 if line.growth else 0.0
                group[years, month - (line.at == "start")].append(quantity)
    groups = []
    for (rate, growth, is_billed), rows in paid.items():
        quantities = np.array([math.fsum(each) for each in rows.values()])
        moments = np.array(list(rows), dtype=np.float64)
        groups.append(PaymentGroup(rate, growth, is_billed, quantities, moments[:, 0], moments[:, 1]))
    return LedgerCosts(strategy, tuple(groups), figures)


class RateReader:
    """Reads the rate of each line, every text once."""

    def __init__(self) -> None:
        self._nodes: dict[str, FormulaNode] = {}

    def __call__(self, line: AuditLine) -> FormulaNode:
        if line.rate not in self._nodes:
            self._nodes[line.rate] = parse_formula(line.rate)
        return self._nodes[line.rate]


def name_figures(
    assumptions: Iterable[Assumption],
    ledger: AuditTrail,
    prices: Iterable[PriceUsed],
    discount_rate_annual: float,
    hours_per_month: float,
) -> dict[str, float]:
    """Every figure that a formula of the ledger may name, as planned."""
    values = {each.name: each.value for each in assumptions}
    values |= {name: price.price_per_hour for name, price in zip(ledger.offers, prices, strict=True)}
    return {**values, DISCOUNT: discount_rate_annual, HOURS: hours_per_month}
