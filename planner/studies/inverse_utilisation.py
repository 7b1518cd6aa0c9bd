"""A cost that is fixed, over the share of hours that is used: unit cost by utilisation, and where it meets a rent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from planner.fields import Amount, Positive
from planner.finance import break_even_utilisation, cost_per_unit
from planner.studies import _inputs
from planner.studies._compare import Nested
from planner.studies._inputs import Share, each

LEAVES_OUT = "It leaves out what grows with use, such as power, and does not tell what the fixed cost is made of."
NO_FULL_COST = "the study names no hardware, only what an hour of it costs"
Shares = Share | dict[str, Share] | list[Share]


class Point(_inputs.Inputs):
    """One known point of the curve."""

    utilisation: Share
    usd_per_unit_hour: Amount


class Inputs(_inputs.Inputs):
    """The fixed cost of an hour, or a point of the curve that it follows from."""

    point: Point | None = None
    fixed_usd_per_hour: Amount | None = None
    cloud_usd_per_unit_hour: Positive | None = None
    utilisations: Shares = Field(default_factory=list)

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


def outputs(inputs: Inputs) -> Mapping[str, Nested]:
    def unit_cost(used: float) -> float:
        return cost_per_unit(inputs.fixed, used)

    found: dict[str, Nested] = {
        "fixed_usd_per_hour": inputs.fixed,
        "usd_per_unit_hour": each(unit_cost, inputs.utilisations),
    }
    cloud = inputs.cloud_usd_per_unit_hour
    if cloud is not None:
        found["dedicated_minus_cloud_fraction"] = each(lambda used: unit_cost(used) / cloud - 1, inputs.utilisations)
        found["breakeven_utilisation"] = break_even_utilisation(inputs.fixed, cloud)
    return found
