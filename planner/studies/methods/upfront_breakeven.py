"""A reservation paid at its start, in whole or in part, against paying by the hour for all of its term."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from planner.finance.symbolic import annuity_factor
from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions
from planner.studies.inputs import StudyInputs
from pricing.units import HOURS_PER_YEAR

LEAVES_OUT = "It leaves out that money paid early costs interest, and hours in which nothing runs."
MONTHS = 12


class UpfrontBreakevenInputs(StudyInputs):
    """Prices by the hour or by the year; `reserved` is what is due besides the upfront payment, used or not."""

    upfront_usd: Amount
    on_demand_usd_per_year: Positive | None = None
    on_demand_usd_per_hour: Positive | None = None
    reserved_usd_per_year: Amount | None = None
    reserved_usd_per_hour: Amount | None = None
    hours_per_year: Positive = HOURS_PER_YEAR
    term_years: Annotated[int, Field(gt=0)] = 1

    @model_validator(mode="after")
    def _has_a_rent(self) -> Self:
        if self.on_demand_usd_per_year is None and self.on_demand_usd_per_hour is None:
            raise ValueError("neither on_demand_usd_per_year nor on_demand_usd_per_hour is given")
        return self

    @property
    def rent_per_year(self) -> float:
        return self._per_year(self.on_demand_usd_per_year, self.on_demand_usd_per_hour)

    @property
    def due_per_year(self) -> float:
        return self._per_year(self.reserved_usd_per_year, self.reserved_usd_per_hour)

    def _per_year(self, yearly: float | None, hourly: float | None) -> float:
        return yearly if yearly is not None else (hourly or 0.0) * self.hours_per_year


INPUTS = UpfrontBreakevenInputs


def outputs(inputs: UpfrontBreakevenInputs) -> Mapping[str, Nested]:
    rent, due = inputs.rent_per_year, inputs.due_per_year
    years, used = break_even(inputs.upfront_usd, due, rent, inputs.upfront_usd / inputs.term_years + due)
    return {
        "saving_fraction": 1 - used,
        "saving_usd": inputs.term_years * (rent - due) - inputs.upfront_usd,
        "breakeven_months": None if years is None else years * MONTHS,
        "breakeven_utilisation": used,
        "effective_usd_per_hour": used * rent / inputs.hours_per_year,
    }


def full_cost(inputs: UpfrontBreakevenInputs, house: PlanningConventions) -> FullCost:
    rate = house.terms.discount_rate_monthly
    worth = annuity_factor(rate, inputs.term_years * MONTHS) / MONTHS
    reserved, rent = inputs.upfront_usd + inputs.due_per_year * worth, inputs.rent_per_year * worth
    figures: dict[str, Nested] = {
        "present_cost_reserved_usd": reserved,
        "present_cost_on_demand_usd": rent,
        "saving_fraction": 1 - reserved / rent,
        "breakeven_months": _discounted_break_even_months(inputs, rate),
    }
    return FullCost(figures, f"paid monthly at its end and discounted at {house.terms.discount_rate_annual:.1%} a year")


def _discounted_break_even_months(inputs: UpfrontBreakevenInputs, rate_monthly: float) -> float | None:
    """Where the annuity of what a month saves reaches the upfront payment."""
    saved = (inputs.rent_per_year - inputs.due_per_year) / MONTHS
    left = 1 - inputs.upfront_usd * rate_monthly / saved if saved > 0 else 0.0
    if left <= 0:
        return None
    return -math.log(left) / math.log1p(rate_monthly) if rate_monthly else inputs.upfront_usd / saved
