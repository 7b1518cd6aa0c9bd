"""What the asker has, could buy at an own quote, and where and how it would be owned: parts of a request."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from planner.request.field_types import Amount, Date, Positive, RequestModel, Text, YearMonth

UnitCount = Annotated[int, Field(ge=1, le=100_000)]


class OwnSystem(RequestModel):
    """A server or workstation that can be bought at the asker's own quote: `price` for one, without network."""

    name: Text
    accelerator: Text
    accelerators: Annotated[int, Field(ge=1, le=1000)] = 1
    price: Positive
    price_as_of: Date | None = Field(default=None, description="date of the quote; default: that of the plan")
    max_power_kw: Positive | None = Field(
        default=None, description="at the wall; default: estimated from its accelerators"
    )
    rack_units: Positive | None = None
    source: str = Field(default="given in the request", description="whose quote it is")


class ExistingNodes(RequestModel):
    """Nodes that are owned already: their price is sunk, their running costs are not."""

    system: Text = Field(description="a system of the catalogue or of `systems`")
    count: UnitCount
    bought: YearMonth | None = Field(
        default=None, description="month of purchase; default: as new at the start of the plan"
    )


class LiveCommitment(RequestModel):
    """A commitment that runs already; what is still owed is owed by every strategy."""

    provider: Text
    region: Text
    instance_type: Text
    purchase_option: Text = Field(description="as the catalogue spells it: reserved_1y_no_upfront ...")
    count: UnitCount
    ends: YearMonth = Field(description="the last month that it covers")
    fee_per_month: Amount = Field(default=0, description="still owed each month for all of them; 0 where it is paid")


class Existing(RequestModel):
    """What may be used at no further price: used first wherever that is cheapest."""

    nodes: Annotated[tuple[ExistingNodes, ...], Field(max_length=1000)] = ()
    commitments: Annotated[tuple[LiveCommitment, ...], Field(max_length=1000)] = ()


class Site(RequestModel):
    """Where owned nodes stand. Rates are assumptions (colocation_per_kw_month, own_room_per_kw ...)."""

    facility: Literal["colocation_per_kw", "colocation_per_rack", "own_room"] = Field(
        default="colocation_per_kw",
        description="per kW contracted; per rack (the larger of rack units and kW); a room of one's own, annuitised",
    )
    energy_included: bool = Field(default=False, description="the rent of the facility includes electricity")
    staff: Literal["shared", "whole"] = Field(
        default="shared", description="shared: parts of operators; whole: hired one by one, at least staff_minimum"
    )


class Finance(RequestModel):
    """How hardware is paid and taxed. Rates and terms are assumptions (loan_rate_annual, lease_months ...)."""

    hardware: Literal["cash", "loan", "lease"] = "cash"
    tax: Literal["none", "straight_line", "macrs"] = Field(
        default="none", description="show what depreciation saves of income tax; costs of a plan stay before tax"
    )
