"""Formulas of published studies that no plan uses. A study that needs one validates that formula, not the planner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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


def savings_plan_bill(usage: Sequence[SavingsPlanUse], commitment: float) -> SavingsPlanBill:
    """The commitment is set against use at the plan's rates, the largest discount in per cent first and of equal ones
    the lowest rate; it is paid whole, and what it does not reach is on demand (AWS, savings plans user guide).

    >>> bill = savings_plan_bill([SavingsPlanUse(2, 10.0, 5.0), SavingsPlanUse(1, 4.0, None)], 7.5)
    >>> bill.charge, bill.on_demand, bill.wasted, bill.remainders
    (16.5, 9.0, 0.0, (5.0, 4.0))
    """
    left = commitment
    remainders = [use.units * use.on_demand for use in usage]
    rates = {index: use.plan_rate for index, use in enumerate(usage) if use.plan_rate is not None and use.on_demand}
    for index, rate in sorted(rates.items(), key=lambda item: (item[1] / usage[item[0]].on_demand, item[1])):
        use = usage[index]
        covered = min(left, use.units * rate)
        left -= covered
        remainders[index] *= 1 - (covered / (use.units * rate) if use.units * rate else 1.0)
    rest = math.fsum(remainders)
    return SavingsPlanBill(commitment + rest, rest, left, tuple(remainders))
