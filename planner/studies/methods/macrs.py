"""Tax depreciation by year: deductions, the balance left to deduct, and the gain on a sale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate
from typing import Annotated

from pydantic import Field

from planner.finance import time_value
from planner.request.field_types import Amount
from planner.studies.comparison import Nested
from planner.studies.inputs import PositiveFraction, StudyInputs

LEAVES_OUT = "It leaves out what the tax saves, and every cost: tax changes cash only through these deductions."
NO_FULL_COST = "a tax schedule, no cost"
PERCENT = 100


class MacrsInputs(StudyInputs):
    """Percentages are those of 5-year property unless given; a sale is in the year of disposal, or at the end."""

    cost_usd: Amount
    percent: list[Amount] | None = None
    disposal_year: Annotated[int, Field(gt=0)] | None = None
    sale_usd: Amount | None = None
    tax_fraction: PositiveFraction | None = None
    discount_rate_annual: Amount = 0.0


INPUTS = MacrsInputs


def outputs(inputs: MacrsInputs) -> Mapping[str, Nested]:
    shares = time_value.MACRS_5_YEAR if inputs.percent is None else [each / PERCENT for each in inputs.percent]
    deductions = time_value.macrs_deductions(inputs.cost_usd, inputs.disposal_year, shares)
    basis = inputs.cost_usd - math.fsum(deductions)
    results: dict[str, Nested] = {
        "deduction_usd": list(deductions),
        "cumulative_usd": list(accumulate(deductions)),
        "total_deduction_usd": math.fsum(deductions),
        "adjusted_basis_usd": basis,
    }
    if inputs.sale_usd is not None:
        results["gain_usd"] = inputs.sale_usd - basis
    if inputs.tax_fraction is not None:
        saved, worth = time_value.tax_shield(deductions, inputs.tax_fraction, inputs.discount_rate_annual)
        results |= {"tax_saved_usd": list(saved), "tax_shield_usd": worth}
    return results
