"""A cost that is fixed, over the share of hours that is used: unit cost by utilisation, and where it meets a rent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.formulas import cost_per_unit
from planner.studies.inputs import PositiveFraction, StudyInputs, apply_to_each

LEAVES_OUT = "It leaves out what grows with use, such as power, and does not tell what the fixed cost is made of."
NO_FULL_COST = "the study names no hardware, only what an hour of it costs"
PositiveFractions = PositiveFraction | dict[str, PositiveFraction] | list[PositiveFraction]


class UtilisationPoint(StudyInputs):
    """One known point of the curve."""

    utilisation: PositiveFraction
    usd_per_unit_hour: Amount


class InverseUtilisationInputs(StudyInputs):
    """The fixed cost of an hour, or a point of the curve that it follows from."""

    point: UtilisationPoint | None = None
    fixed_usd_per_hour: Amount | None = None
    cloud_usd_per_unit_hour: Positive | None = None
    utilisations: PositiveFractions = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_a_fixed_cost(self) -> Self:
        if self.point is None and self.fixed_usd_per_hour is None:
            raise ValueError("neither point nor fixed_usd_per_hour is given")
        return self

    @property
    def fixed(self) -> float:
        if self.fixed_usd_per_hour is not None or self.point is None:
            return self.fixed_usd_per_hour or 0.0
        return self.point.usd_per_unit_hour * self.point.utilisation


INPUTS = InverseUtilisationInputs


def outputs(inputs: InverseUtilisationInputs) -> Mapping[str, Nested]:
    def unit_cost(used: float) -> float:
        return cost_per_unit(inputs.fixed, used)

    results: dict[str, Nested] = {
        "fixed_usd_per_hour": inputs.fixed,
        "usd_per_unit_hour": apply_to_each(unit_cost, inputs.utilisations),
    }
    cloud = inputs.cloud_usd_per_unit_hour
    if cloud is not None:
        results["dedicated_minus_cloud_fraction"] = apply_to_each(
            lambda used: unit_cost(used) / cloud - 1, inputs.utilisations
        )
        _, results["breakeven_utilisation"] = break_even(0.0, 0.0, cloud, level_per_period=inputs.fixed)
    return results
