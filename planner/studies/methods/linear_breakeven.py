"""Capital over the saving of an hour of owning against renting, for each rent: hours and months until even."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import WITHIN_LIFE, FullCost, PlanningConventions
from planner.studies.formulas import cost_per_unit
from planner.studies.inputs import Amounts, StudyInputs, apply_to_each
from pricing.units import HOURS_PER_MONTH

LEAVES_OUT = "It leaves out network, staff, resale, discounting and idle hours: every hour is taken to be rented."


class LinearBreakevenInputs(StudyInputs):
    """Own hourly cost as one figure or as the parts that make it; capital is in neither."""

    capex_usd: Amount
    onprem_usd_per_hour: Amount | None = None
    onprem_hourly_parts: dict[str, Amount] = Field(default_factory=dict)
    hours_per_month: Positive = HOURS_PER_MONTH
    cloud_usd_per_hour: Amounts

    @model_validator(mode="after")
    def _has_a_running_cost(self) -> Self:
        if self.onprem_usd_per_hour is None and not self.onprem_hourly_parts:
            raise ValueError("neither onprem_usd_per_hour nor onprem_hourly_parts is given")
        return self

    @property
    def own_per_hour(self) -> float:
        stated = self.onprem_usd_per_hour
        return math.fsum(self.onprem_hourly_parts.values()) if stated is None else stated


INPUTS = LinearBreakevenInputs


def outputs(inputs: LinearBreakevenInputs) -> Mapping[str, Nested]:
    def hours(rent: float) -> float | None:
        own = inputs.own_per_hour
        return break_even(inputs.capex_usd, own, rent, level_per_period=own)[0]

    def months(rent: float) -> float | None:
        reached = hours(rent)
        return None if reached is None else cost_per_unit(reached, inputs.hours_per_month)

    return {
        "onprem_usd_per_hour": inputs.own_per_hour,
        "breakeven_hours": apply_to_each(hours, inputs.cloud_usd_per_hour),
        "breakeven_months": apply_to_each(months, inputs.cloud_usd_per_hour),
    }


def full_cost(inputs: LinearBreakevenInputs, house: PlanningConventions) -> FullCost:
    node, basis = house.system(house.title, inputs.capex_usd)
    if node is None:
        return FullCost({}, basis)
    return FullCost(
        house.break_evens_against(node, inputs.cloud_usd_per_hour), f"{basis}; {house.all_in}; {WITHIN_LIFE}"
    )
