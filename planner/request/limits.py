"""What no strategy of a plan may pass, and how much is asked about its risk: parts of a request."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from planner.request.field_types import Amount, Fraction, Positive, RequestModel
from pricing.price import PurchaseKind

YearlyAmounts = Amount | Annotated[list[Amount], Field(min_length=1, max_length=10)]
"""One amount for each year of the plan (months 1 to 12 are the first), or one amount a year in order."""


class PlanLimits(RequestModel):
    """Limits on every strategy. None: no limit. Amounts are in the plan's currency."""

    capex_per_year: YearlyAmounts | None = None
    """Largest amount for hardware in each year of the plan, in its currency."""
    opex_per_year: YearlyAmounts | None = None
    """Largest amount for everything else in each year, in the plan's currency; resale is not deducted."""
    spot_fraction_max: Fraction | None = None
    """Largest fraction on spot of the work of each workload and month."""
    owned_power_kw: Positive | None = None
    """Largest maximum power of all owned nodes together, in kW."""
    owned_racks: Positive | None = None
    """Largest number of racks for owned nodes."""
    purchase_options: tuple[PurchaseKind, ...] = ()
    """The only kinds of purchase option in the cloud (on_demand, spot, reserved ...); empty: any."""
    quotas: Literal["ask", "hold"] = "ask"
    """Use of quotas: ask: a plan that exceeds a quota lists the increase to request; hold: no plan exceeds a quota."""


class RiskRequest(RequestModel):
    """How the risk of a plan is looked into. Equal seed, equal figures."""

    draws: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    """Number of random draws."""
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    """Seed of the random numbers; equal seeds give equal figures."""
    reoptimise: Annotated[int, Field(ge=0, le=200)] = 0
    """Number of draws that are solved again; takes minutes for a portfolio."""
    waits: tuple[Annotated[int, Field(ge=0, le=60)], ...] = (0, 3, 6, 12)
    """Purchase delays to solve, in months."""
