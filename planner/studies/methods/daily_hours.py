"""Use of some hours a day: on demand against what is paid around the clock, committed or owned, and the hours a day
from which on that costs no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import model_validator

from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions
from planner.studies.inputs import Amounts, StudyInputs, apply_to_each
from pricing.units import HOURS_PER_DAY, HOURS_PER_MONTH

LEAVES_OUT = "It leaves out interest, resale, and days that differ from one another."


class DailyHoursInputs(StudyInputs):
    """What is committed is paid for every hour of a day; what is owned by its price over its days, and by the hour of
    use."""

    on_demand_usd_per_hour: Amounts
    hours_per_day: Amounts | None = None
    committed_usd_per_hour: Amount | None = None
    capex_usd: Amount | None = None
    years: Positive | None = None
    own_usd_per_hour: Amount = 0.0
    own_usd_per_day: Amount = 0.0
    days_per_month: Positive = HOURS_PER_MONTH / HOURS_PER_DAY
    days_per_year: Positive = 365.0

    @model_validator(mode="after")
    def _has_an_alternative(self) -> Self:
        if self.committed_usd_per_hour is None and (self.capex_usd is None or self.years is None):
            raise ValueError("neither committed_usd_per_hour nor capex_usd and years are given")
        return self

    @property
    def fixed_per_day(self) -> float:
        if self.committed_usd_per_hour is not None:
            return self.committed_usd_per_hour * HOURS_PER_DAY
        return (self.capex_usd or 0.0) / ((self.years or 1.0) * self.days_per_year) + self.own_usd_per_day

    @property
    def running_per_hour(self) -> float:
        return self.own_usd_per_hour if self.committed_usd_per_hour is None else 0.0


INPUTS = DailyHoursInputs


def outputs(inputs: DailyHoursInputs) -> Mapping[str, Nested]:
    rent, fixed = inputs.on_demand_usd_per_hour, inputs.fixed_per_day
    results: dict[str, Nested] = {
        "breakeven_hours_per_day": apply_to_each(
            lambda price: _break_even_hours(price - inputs.running_per_hour, fixed), rent
        ),
    }
    if inputs.committed_usd_per_hour is None:
        results["own_usd_per_day"] = fixed
    else:
        results["committed_usd_per_month"] = fixed * inputs.days_per_month
    if inputs.hours_per_day is not None and isinstance(rent, int | float):
        per_month = rent * inputs.days_per_month
        results["on_demand_usd_per_month"] = apply_to_each(lambda hours: hours * per_month, inputs.hours_per_day)
    return results


def _break_even_hours(saved_per_hour: float, fixed_per_day: float) -> float | None:
    """Hours of use whose saving pays for a day; None where a day has too few."""
    used = break_even(0.0, 0.0, max(0.0, saved_per_hour) * HOURS_PER_DAY, fixed_per_day)[1]
    return used * HOURS_PER_DAY if used <= 1 else None


def full_cost(inputs: DailyHoursInputs, house: PlanningConventions) -> FullCost:
    """Of a server that the title names, the hours a day at its full cost."""
    if inputs.capex_usd is None:
        return FullCost({}, "none: rented, no hardware is owned")
    own, basis = house.system(house.title, inputs.capex_usd)
    if own is None:
        return FullCost({}, f"none: {basis}")
    per_day = house.per_hour(own) * HOURS_PER_DAY
    figures: dict[str, Nested] = {
        "own_usd_per_day": per_day,
        "breakeven_hours_per_day": apply_to_each(
            lambda price: _break_even_hours(price, per_day), inputs.on_demand_usd_per_hour
        ),
    }
    return FullCost(figures, f"{basis}, {house.all_in}")
