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

    capex_per_year: YearlyAmounts | None = Field(default=None, description="hardware paid for in each year of the plan")
    opex_per_year: YearlyAmounts | None = Field(
        default=None, description="everything else paid in each year, resale not counted"
    )
    spot_fraction_max: Fraction | None = Field(
        default=None, description="of the work of each workload and month, the most on spot"
    )
    owned_power_kw: Positive | None = Field(default=None, description="maximum power of all owned nodes together")
    owned_racks: Positive | None = Field(
        default=None, description="racks for owned nodes, by rack units and kW of a rack"
    )
    purchase_options: tuple[PurchaseKind, ...] = Field(
        default=(), description="the only ways of paying in the cloud (on_demand, spot, reserved ...); empty: any"
    )
    quotas: Literal["ask", "hold"] = Field(
        default="ask",
        description="ask: a plan that needs more says what to ask for; hold: no plan passes a quota given",
    )


class RiskRequest(RequestModel):
    """How the risk of a plan is looked into. Equal seed, equal figures."""

    draws: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    reoptimise: Annotated[int, Field(ge=0, le=200)] = Field(
        default=0, description="so many draws are planned anew as well: minutes for a portfolio"
    )
    waits: tuple[Annotated[int, Field(ge=0, le=60)], ...] = Field(
        default=(0, 3, 6, 12), description="months to wait before buying, each planned anew"
    )
