"""Formulas of published studies that no plan uses. A study that needs one validates that formula, not the planner."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pricing.frozen_values import dataclass


def cost_per_unit(per_hour: float, units_per_hour: float, units: float = 1.0) -> float:
    """What `units` of work cost.

    >>> round(cost_per_unit(98.32, 30_576 * 3600, 1e6), 2)
    0.89
    """
    return per_hour / units_per_hour * units


def value_after_years(price: float, value_loss_per_year: float, years: float) -> float:
    """price x (1 - loss)^years; a loss of 1 - 10^-0.14 is Epoch's 0.14 orders of magnitude a year."""
    return float(price * (1 - value_loss_per_year) ** years)


def rent_of_capital(value: float, value_loss_per_year: float) -> float:
    """How much a year a value is falling at now, if it falls as in `value_after_years`: -ln(1 - loss) x value.

    Cottier et al., The rising costs of training frontier AI models, arXiv 2405.21015: what using hardware costs.

    >>> round(rent_of_capital(100.0, 1 - 10**-0.14), 3)
    32.236
    """
    return -math.log(1 - value_loss_per_year) * value


@dataclass(frozen=True, slots=True)
class SavingsPlanUse:
    """One use in an hour: `units` at `on_demand` each, or at `plan_rate` each under a savings plan; None: it covers no
    such use."""

    units: float
    on_demand: float
    plan_rate: float | None


@dataclass(frozen=True, slots=True)
class SavingsPlanBill:
    """One hour under a savings plan: what is charged in all, the part on demand, what of the commitment was not used,
    and of each use the part that stays on demand, at on-demand prices."""

    charge: float
    on_demand: float
    wasted: float
    remainders: tuple[float, ...]


def order_savings_plan_uses(usage: Sequence[SavingsPlanUse]) -> list[int]:
    """The covered uses, by number, in the order in which a plan applies: the largest discount in per cent first, of
    equal ones the lowest rate (AWS, Savings Plans user guide, how Savings Plans apply).

    >>> order_savings_plan_uses([SavingsPlanUse(1, 4.0, 2.0), SavingsPlanUse(1, 1.5, 1.0), SavingsPlanUse(1, 2.0, 1.0)])
    [2, 0, 1]
    """
    rates = {index: use.plan_rate for index, use in enumerate(usage) if use.plan_rate is not None and use.on_demand}
    return [
        index for index, rate in sorted(rates.items(), key=lambda item: (item[1] / usage[item[0]].on_demand, item[1]))
    ]


def savings_plan_bill(usage: Sequence[SavingsPlanUse], commitment: float) -> SavingsPlanBill:
    """The commitment is set against use at the plan's rates in the order above; it is paid whole, and what it does not
    reach is on demand.

    >>> bill = savings_plan_bill([SavingsPlanUse(2, 10.0, 5.0), SavingsPlanUse(1, 4.0, None)], 7.5)
    >>> bill.charge, bill.on_demand, bill.wasted, bill.remainders
    (16.5, 9.0, 0.0, (5.0, 4.0))
    """
    left = commitment
    remainders = [use.units * use.on_demand for use in usage]
    for index in order_savings_plan_uses(usage):
        use = usage[index]
        at_plan_rate = use.units * (use.plan_rate or 0.0)
        covered = min(left, at_plan_rate)
        left -= covered
        remainders[index] *= 1 - (covered / at_plan_rate if at_plan_rate else 1.0)
    rest = math.fsum(remainders)
    return SavingsPlanBill(commitment + rest, rest, left, tuple(remainders))


@dataclass(frozen=True, slots=True)
class CommittedNodes:
    """Nodes paid around the clock at a committed rate, the rest of a load on demand: costs of all hours together.

    `utilisation` is the part of the committed hours that is used, `coverage` the part of the load that they do.
    """

    nodes: float
    committed_cost: float
    on_demand_cost: float
    utilisation: float
    coverage: float

    @property
    def total(self) -> float:
        return self.committed_cost + self.on_demand_cost


@dataclass(frozen=True, slots=True)
class Load:
    """Nodes at work in stretches of `hours` each; `due` stretches are paid for, more than there are where a term runs
    on. Rates are per node-hour."""

    nodes: Sequence[float]
    hours: float
    on_demand: float
    committed: float
    due: int

    def commit(self, nodes: float) -> CommittedNodes:
        covered = math.fsum(min(load, nodes) for load in self.nodes)
        used, paid_hours = math.fsum(self.nodes), nodes * self.due
        return CommittedNodes(
            nodes=nodes,
            committed_cost=paid_hours * self.hours * self.committed,
            on_demand_cost=(used - covered) * self.hours * self.on_demand,
            utilisation=covered / paid_hours if paid_hours else 1.0,
            coverage=covered / used if used else 1.0,
        )

    def commit_at_least_cost(self) -> CommittedNodes:
        """The fewest whole nodes of least cost: the cost is convex in them, with its corners at the loads.

        >>> Load([2, 3, 1], 1.0, 10.0, 6.0, 3).commit_at_least_cost().nodes
        2
        """
        levels = sorted({0, *map(math.floor, self.nodes), *map(math.ceil, self.nodes)})
        return min((self.commit(level) for level in levels), key=lambda fleet: (fleet.total, fleet.nodes))
