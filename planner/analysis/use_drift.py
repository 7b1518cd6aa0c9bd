"""How use and cost left a plan, and why: a variance analysis whose parts add up to the whole difference.

The causes in their order, each with all earlier ones applied:

1. unplanned workloads: the cost of those that the plan does not have
2. volume: more or fewer hours than planned, at the planned mean rate of the workload
3. ways of paying: other shares of on demand, spot and commitments, at planned rates
4. place: other providers, regions or accelerators, at planned rates
5. price: other rates than planned in the same place, paid for in the same way
6. unused commitments: more or less paid for and not used

A rate that the plan does not have (a place without any plan) is that of any planned workload there, else the
actual one: the whole of such a difference is in the cause that led there, and no part of it in the price.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pricing.frozen_values import dataclass

CAUSES = ("unplanned workloads", "volume", "ways of paying", "place", "price", "unused commitments")
HOURS_MIN = 1e-6
"""Fewer hours are none: a rate of them has no meaning."""


@dataclass(frozen=True, slots=True)
class UseCell:
    """Accelerator-hours of a workload in one place, paid for in one way, and their cost.

    `option` and `place` are empty where they are not known: they are as planned then. `cost` None: not known, so at
    planned rates. A cell without a workload is the part of commitments that nothing used. `sunk` is what was paid
    upfront before the plan for these hours, not in `cost`.
    """

    workload: str
    option: str
    place: str
    accelerator: str
    hours: float
    cost: float | None
    sunk: float = 0.0


@dataclass(frozen=True, slots=True)
class DriftPart:
    """What one workload adds to a cause."""

    workload: str
    hours: float
    amount: float


@dataclass(frozen=True, slots=True)
class DriftStep:
    """One cause with its parts."""

    cause: str
    parts: tuple[DriftPart, ...]

    @property
    def amount(self) -> float:
        return math.fsum(part.amount for part in self.parts)


@dataclass(frozen=True, slots=True)
class UseDrift:
    """`planned` plus the amounts of all steps is `actual`. `sunk` was paid upfront before the plan, in addition to
    `actual`: a plan does not have it. `unpriced` are hours of workloads on accelerators without a rate in the plan, by
    workload: they are in no amount."""

    planned: float
    actual: float
    planned_hours: float
    actual_hours: float
    steps: tuple[DriftStep, ...]
    sunk: float = 0.0
    unpriced: tuple[tuple[str, float], ...] = ()

    @property
    def share(self) -> float | None:
        """The difference as a fraction of the planned cost; None without a planned cost."""
        return (self.actual - self.planned) / self.planned if self.planned else None


def explain_drift(planned: Sequence[UseCell], actual: Sequence[UseCell]) -> UseDrift:
    """The difference of two sums of cells by cause; every planned cell has a cost."""
    rates = PlannedRates(planned)
    own = _group_by_workload(cell for cell in planned if cell.workload)
    others = _group_by_workload(cell for cell in actual if cell.workload)
    parts: dict[str, list[DriftPart]] = {cause: [] for cause in CAUSES}
    unpriced = []
    for name in sorted(own.keys() | others.keys()):
        if name in own:
            for cause, part in _explain_workload(name, own[name], others.get(name, ()), rates):
                parts[cause].append(part)
            continue
        costs = [cell.cost if cell.cost is not None else rates.estimate(cell) for cell in others[name]]
        known = math.fsum(cost for cost in costs if cost is not None)
        missing = math.fsum(cell.hours for cell, cost in zip(others[name], costs, strict=True) if cost is None)
        if missing:
            unpriced.append((name, missing))
        parts[CAUSES[0]].append(DriftPart(name, _sum_hours(others[name]), known))
    spare = math.fsum(cell.cost or 0.0 for cell in actual if not cell.workload)
    expected = math.fsum(cell.cost or 0.0 for cell in planned if not cell.workload)
    parts[CAUSES[5]].append(DriftPart("", 0.0, spare - expected))
    steps = tuple(DriftStep(cause, tuple(parts[cause])) for cause in CAUSES)
    whole = math.fsum(cell.cost or 0.0 for cell in planned)
    return UseDrift(
        whole,
        math.fsum((whole, *(step.amount for step in steps))),
        _sum_hours(planned),
        _sum_hours(actual),
        steps,
        math.fsum(cell.sunk for cell in actual),
        tuple(unpriced),
    )


class PlannedRates:
    """Costs of a planned accelerator-hour, by ever fewer properties; None where there was none."""

    def __init__(self, planned: Iterable[UseCell]) -> None:
        self._sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for cell in planned:
            if not cell.workload:
                continue
            for key in (
                ("workload", cell.workload),
                ("option", cell.workload, cell.option),
                ("cell", cell.workload, cell.option, cell.place, cell.accelerator),
                ("shared", cell.option, cell.place, cell.accelerator),
                ("accelerator", cell.accelerator),
            ):
                self._sums[key][0] += cell.hours
                self._sums[key][1] += cell.cost or 0.0

    def _find_rate(self, *key: str) -> float | None:
        hours, cost = self._sums.get(key, (0.0, 0.0))
        return cost / hours if hours > HOURS_MIN else None

    def of_workload(self, name: str) -> float | None:
        return self._find_rate("workload", name)

    def of_option(self, cell: UseCell) -> float | None:
        return self._find_rate("option", cell.workload, cell.option)

    def of_cell(self, cell: UseCell) -> float | None:
        """The rate of the workload in the place of a cell, else of any workload there."""
        place = (cell.option, cell.place, cell.accelerator)
        matched = self._find_rate("cell", cell.workload, *place)
        return self._find_rate("shared", *place) if matched is None else matched

    def estimate(self, cell: UseCell) -> float | None:
        """The cost of hours without one, at the planned rate of their accelerator."""
        rate = self._find_rate("accelerator", cell.accelerator)
        return None if rate is None else rate * cell.hours


def _group_by_workload(cells: Iterable[UseCell]) -> dict[str, list[UseCell]]:
    groups: dict[str, list[UseCell]] = defaultdict(list)
    for cell in cells:
        groups[cell.workload].append(cell)
    return groups


def _sum_hours(cells: Iterable[UseCell]) -> float:
    return math.fsum(cell.hours for cell in cells)


def _explain_workload(
    name: str, planned: Sequence[UseCell], actual: Sequence[UseCell], rates: PlannedRates
) -> list[tuple[str, DriftPart]]:
    """Causes 2 to 5 of a workload that the plan has."""
    mean = rates.of_workload(name) or 0.0
    more = _sum_hours(actual) - _sum_hours(planned)
    planned_cost = math.fsum(cell.cost or 0.0 for cell in planned)
    at_mean = planned_cost + more * mean
    option_rates = _rates_by_option(actual, rates, mean)
    after_option = math.fsum(cell.hours * option_rates[cell.option] for cell in actual)
    after_place = price = 0.0
    for cell in actual:
        of_option = option_rates[cell.option]
        paid = cell.cost if cell.cost is not None else cell.hours * of_option
        rate = rates.of_cell(cell) if cell.place and cell.option else of_option
        at_place = paid if rate is None else cell.hours * rate
        after_place += at_place
        price += paid - at_place
    amounts = (more * mean, after_option - at_mean, after_place - after_option, price)
    hours = (more, 0.0, 0.0, 0.0)
    return [(cause, DriftPart(name, h, amount)) for cause, h, amount in zip(CAUSES[1:5], hours, amounts, strict=True)]


def _rates_by_option(actual: Sequence[UseCell], rates: PlannedRates, mean: float) -> Mapping[str, float]:
    """The planned rate of each way of paying that was used: of the workload, else the actual one."""
    by_option: dict[str, list[UseCell]] = defaultdict(list)
    for cell in actual:
        by_option[cell.option].append(cell)
    matched = {}
    for option, cells in by_option.items():
        rate = rates.of_option(cells[0]) if option else mean
        hours = _sum_hours(cells)
        if rate is None and hours and all(cell.cost is not None for cell in cells):
            rate = math.fsum(cell.cost or 0.0 for cell in cells) / hours
        matched[option] = mean if rate is None else rate
    return matched
