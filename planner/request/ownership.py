"""What the asker has, could buy at an own quote, and where and how it would be owned: parts of a request."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from planner.request.field_types import Amount, Date, Money, Positive, PositiveMoney, RequestModel, Text, YearMonth

UnitCount = Annotated[int, Field(ge=1, le=100_000)]


class OwnSystem(RequestModel):
    """A server or workstation that can be bought at the asker's own quote: `price` for one, without network."""

    name: Text
    """Name of the system."""
    accelerator: Text
    """Name of its accelerator."""
    accelerators: Annotated[int, Field(ge=1, le=1000)] = 1
    """Accelerators of one system."""
    price: PositiveMoney
    """PositiveMoney of one system without network, in the currency of the plan."""
    price_as_of: Date | None = None
    """Date of the quote; default: that of the plan."""
    max_power_kw: Positive | None = None
    """Maximum power at the wall in kW; default: estimated from its accelerators."""
    rack_units: Positive | None = None
    """Height in rack units; default: the assumption for servers."""
    source: str = "given in the request"
    """Source of the quote."""


class ExistingNodes(RequestModel):
    """Nodes that are owned already: their price is sunk, their running costs are not."""

    system: Text
    """A system of the catalogue or of `systems`."""
    count: UnitCount
    """Number of nodes."""
    bought: YearMonth | None = None
    """Month of purchase, such as 2025-03; default: as new at the start of the plan."""


class LiveCommitment(RequestModel):
    """A commitment that runs already; what is still owed is owed by every strategy."""

    provider: Text
    """Provider."""
    region: Text
    """Region."""
    instance_type: Text
    """Instance type."""
    purchase_option: Text
    """Purchase option as the catalogue spells it: reserved_1y_no_upfront ..."""
    count: UnitCount
    """Number of nodes committed."""
    ends: YearMonth
    """Last month that it covers, such as 2027-06."""
    fee_per_month: Money = 0
    """Amount still owed each month for all nodes, in the currency of the plan; 0: paid."""


class Existing(RequestModel):
    """What may be used at no further price: used first wherever that is cheapest."""

    nodes: Annotated[tuple[ExistingNodes, ...], Field(max_length=1000)] = ()
    """Nodes that are owned already."""
    commitments: Annotated[tuple[LiveCommitment, ...], Field(max_length=1000)] = ()
    """Commitments that are running already."""


class Site(RequestModel):
    """Where owned nodes stand. Rates are assumptions (colocation_per_kw_month, own_room_per_kw ...)."""

    facility: Literal["colocation_per_kw", "colocation_per_rack", "own_room"] = "colocation_per_kw"
    """Kind of facility: colocation_per_kw: rent by contracted kW; colocation_per_rack: rent by rack, by height or
    kW, whichever needs more racks; own_room: a room of one's own, annuitised."""
    energy_included: bool = False
    """Whether the rent of the facility includes electricity."""
    grid_gco2e_per_kwh: Amount | None = None
    """Carbon intensity of the electricity of the site, in g CO2e per kWh; null: unknown."""
    staff: Literal["shared", "whole"] = "shared"
    """Staffing: shared: fractions of operators; whole: whole operators, at least staff_minimum."""


class Finance(RequestModel):
    """How hardware is paid and taxed. Rates and terms are assumptions (loan_rate_annual, lease_months ...)."""

    hardware: Literal["cash", "loan", "lease"] = "cash"
    """How hardware is paid for: cash, loan or lease."""
    tax: Literal["none", "straight_line", "macrs"] = "none"
    """Depreciation method for the tax view: none, straight_line or macrs; costs of a plan stay before tax."""
