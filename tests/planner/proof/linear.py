"""A linear program that grows by named columns."""

from __future__ import annotations

import math
from collections import defaultdict

import highspy

INFINITY = math.inf
SLACK = 1e-9


class Linear:
    """A linear program that grows column by column; names are the caller's."""

    def __init__(self) -> None:
        self.lp = highspy.Highs()
        exact = (("primal_feasibility_tolerance", 1e-10), ("dual_feasibility_tolerance", 1e-10))
        for option, value in (("output_flag", False), ("threads", 1), *exact):
            self.lp.setOptionValue(option, value)
        self.numbers: dict[tuple, int] = {}
        self.costs: list[float] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.whole: list[tuple] = []
        self.possible = True

    def column(self, name: tuple, cost: float, upper: float = INFINITY, *, whole: bool = False) -> tuple:
        number = self.numbers[name] = len(self.costs)
        self.costs.append(cost)
        self.lower.append(0.0)
        self.upper.append(upper)
        self.lp.addVar(0.0, upper)
        self.lp.changeColCost(number, cost)
        if whole:
            self.whole.append(name)
        return name

    def price(self, name: tuple, cost: float) -> None:
        """Adds to what a unit of a column costs."""
        number = self.numbers[name]
        self.costs[number] += cost
        self.lp.changeColCost(number, self.costs[number])

    def row(self, lower: float, upper: float, entries: list[tuple[tuple, float]]) -> None:
        if not entries:
            self.possible &= lower <= 0 <= upper
            return
        sums: dict[int, float] = defaultdict(float)
        for name, value in entries:
            sums[self.numbers[name]] += value
        biggest = max((abs(v) for v in sums.values()), default=0.0) or 1.0
        self.lp.addRow(lower / biggest, upper / biggest, len(sums), list(sums), [v / biggest for v in sums.values()])

    def bound(self, name: tuple, lower: float, upper: float) -> None:
        number = self.numbers[name]
        self.lower[number], self.upper[number] = lower, upper
        self.lp.changeColBounds(number, lower, upper)

    def range(self, name: tuple) -> tuple[float, float]:
        number = self.numbers[name]
        return self.lower[number], self.upper[number]

    def solve(self) -> tuple[float, list[float]] | None:
        if not self.possible or not self.costs:
            return (0.0, []) if self.possible else None
        self.lp.run()
        status = self.lp.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return self.lp.getObjectiveValue(), list(self.lp.getSolution().col_value)
        assert status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible), status
        return None
