"""The level payment that pays off an amount with interest, as `planner.finance.time_value` computes that of a loan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from planner.finance.symbolic import annuity_factor
from planner.finance.time_value import capital_recovery_factor
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.inputs import StudyInputs

LEAVES_OUT = "It leaves out fees, tax, and every cost but the amount itself and its interest."
NO_FULL_COST = "a rate of interest, no hardware"


class AnnuityInputs(StudyInputs):
    """Payments at the end of each period. The rate of a period is the annual one divided by the periods of a year (as
    of a loan), or with `compounded` what gives the annual one over a year; the residual is paid back at the end."""

    principal_usd: Amount
    rate_annual: Amount
    years: Positive
    payments_per_year: Annotated[int, Field(gt=0)] = 1
    residual_usd: Amount = 0.0
    compounded: bool = False

    @property
    def rate(self) -> float:
        if self.compounded:
            return float((1 + self.rate_annual) ** (1 / self.payments_per_year) - 1)
        return self.rate_annual / self.payments_per_year


INPUTS = AnnuityInputs


def outputs(inputs: AnnuityInputs) -> Mapping[str, Nested]:
    rate, periods = inputs.rate, round(inputs.years * inputs.payments_per_year)
    factor = capital_recovery_factor(rate, periods)
    paid_off = inputs.principal_usd - inputs.residual_usd * (1 + rate) ** -periods
    payment = paid_off * factor
    total = payment * periods
    return {
        "rate_per_period": rate,
        "payments": float(periods),
        "annuity_factor": annuity_factor(rate, periods),
        "capital_recovery_factor": factor,
        "payment_usd": payment,
        "payment_usd_per_year": payment * inputs.payments_per_year,
        "total_paid_usd": total,
        "interest_usd": total + inputs.residual_usd - inputs.principal_usd,
    }
